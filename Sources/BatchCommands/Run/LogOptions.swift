import ArgumentParser
import BatchFoundation

extension Log.Format: ExpressibleByArgument {}

/// How a run talks on stderr, for whoever starts it without looking.
struct LogOptions: ParsableArguments {
  @Flag(help: "Print nothing on stderr when the run ends with 0, and everything when it does not.")
  var quiet = false

  @Option(help: "text, or json: an object a line, with time, level and message.")
  var logFormat: Log.Format = .text

  @Flag(help: "Begin each line on stderr with the time in UTC.")
  var logTimes = false

  var log: Log { Log(format: logFormat, hasTimes: logTimes, isHeld: quiet) }
}
