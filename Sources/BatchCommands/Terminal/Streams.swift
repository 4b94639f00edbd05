import ArgumentParser
import BatchFoundation
import BatchPipeline
import BatchReport
import Glibc

/// The streams of a command: data on stdout, messages on stderr.
enum Streams {
  private static let failure = Guarded<Int32?>(nil)

  /// Whether a write of data to stdout failed and the failure was reported. A closed pipe is not a failure:
  /// its reader is done.
  static var hasFailed: Bool { failure.withLock { $0.map { $0 != EPIPE } ?? false } }

  private static func isTerminal(_ descriptor: Int32) -> Bool { isatty(descriptor) == 1 }

  /// Writes a line to stdout, unless an earlier write failed; escapes control characters on a terminal.
  static func data(_ line: String) {
    let line = isTerminal(STDOUT_FILENO) ? TerminalText.spelledOut(line) : line
    guard failure.withLock({ $0 == nil }), let code = write(line + "\n", to: STDOUT_FILENO) else { return }
    failure.withLock { $0 = code }
    if code != EPIPE { note("\(OutputError(path: "-", code: code))") }
  }

  private static let log = Guarded(Log())
  private static let colours = Guarded(false)

  /// Sets the coloring of errors and warnings from now on.
  static func begin(_ colour: Colour) {
    let isOn = colour.isOn(STDERR_FILENO) { name in unsafe getenv(name).map { unsafe String(cString: $0) } }
    colours.withLock { $0 = isOn }
  }

  static func begin(_ log: Log) { self.log.withLock { $0 = log } }

  static func begin(job: String) { log.withLock { $0.job = job } }

  /// Whether a progress line on a terminal may be overwritten, as in ``Log/isPlain``.
  static var isPlain: Bool { log.withLock(\.isPlain) }

  /// Writes lines to stderr. They may contain recorded text, so control characters except newlines are made printable.
  static func note(_ lines: String) {
    report(lines.split(separator: "\n", omittingEmptySubsequences: false).map { String($0).printable })
  }

  /// Writes the end of a run. A text log gets all lines; a JSON log gets the first line, with the other facts as
  /// members.
  static func summary(_ lines: [String], _ end: Log.End) {
    guard log.withLock({ $0.format == .json }) else { return lines.forEach(note) }
    report(lines.prefix(1).map(\.printable), end: end)
  }

  /// Writes the last line of a JSON log for a command without a summary. In a text log, the error is the last line.
  static func end(_ exit: Int32) {
    guard let job = log.withLock({ $0.format == .json ? $0.job ?? "" : nil }) else { return }
    let words = RunExit(rawValue: exit).map { ", \($0.ending)" } ?? ""
    report(["\(job.isEmpty ? "" : "\(job): ")ended with exit code \(exit)\(words)"], end: Log.End(exit: exit))
  }

  /// Writes the lines that were held back. A failure to write to stderr cannot be reported.
  static func release() {
    for line in log.withLock({ $0.release(at: .now) }) { show(line) }
  }

  private static func show(_ line: String) {
    let isColoured = colours.withLock { $0 } && log.withLock { $0.format == .text }
    _ = write((isColoured ? Colour.coloured(line) : line) + "\n", to: STDERR_FILENO)
  }

  private static func report(_ messages: [String], end: Log.End? = nil) {
    for line in log.withLock({ $0.lines(messages, end: end, at: .now) }) { show(line) }
  }

  /// Replaces the terminal's current line.
  static func replace(_ text: String) { _ = write("\r\u{1B}[K" + text, to: STDERR_FILENO) }

  /// - Returns: The system's error number; nil if everything was written.
  private static func write(_ text: String, to descriptor: Int32) -> Int32? {
    do {
      try FileDescriptor.write(Array(text.utf8), to: descriptor)
      return nil
    } catch {
      return error.code
    }
  }
}

/// The conversion of errors to messages on stderr and exit codes (reference command-line 4).
enum Failures {
  /// Reports the error, unless it was already reported or is left to the argument parser, and returns the error to end
  /// with.
  static func report(_ error: any Error) -> any Error {
    guard EngageBatch.exitCode(for: error) == .failure else { return error }
    Streams.note("\(error)")
    return ExitCode(RunExit(of: error))
  }
}

extension ExitCode {
  init(_ exit: RunExit) { self.init(exit.rawValue) }
}

/// The coloring of errors and warnings: on a terminal with colors, unless `NO_COLOR` or `--color` changes that.
enum Colour: String, CaseIterable {
  case auto, always, never

  private static let codes = [("error: ", "\u{1B}[1;31m"), ("warning: ", "\u{1B}[33m")]
  private static let end = "\u{1B}[0m"

  /// Removes `--color` and its value from the arguments before a lone `--`; the color is nil if the value is unknown.
  static func take(from arguments: [String]) -> (rest: [String], colour: Colour?) {
    var rest: [String] = []
    var word = Colour.auto.rawValue
    var next = arguments.startIndex
    while next < arguments.endIndex, arguments[next] != "--" {
      let argument = arguments[next]
      next += 1
      if argument.hasPrefix("--color=") {
        word = String(argument.dropFirst("--color=".count))
      } else if argument == "--color" {
        word = next < arguments.endIndex ? arguments[next] : ""
        next += 1
      } else {
        rest.append(argument)
      }
    }
    return (rest + arguments[min(next, arguments.endIndex)...], Colour(rawValue: word))
  }

  func isOn(_ descriptor: Int32, _ environment: (String) -> String?) -> Bool {
    switch self {
    case .always: true
    case .never: false
    case .auto:
      environment("NO_COLOR")?.isEmpty ?? true && environment("TERM") != "dumb" && isatty(descriptor) == 1
    }
  }

  static func coloured(_ line: String) -> String {
    for (word, code) in codes {
      guard let place = line.firstRange(of: word) else { continue }
      let rest = line.index(before: place.upperBound)
      return "\(line[..<place.lowerBound])\(code)\(line[place.lowerBound..<rest])\(end)\(line[rest...])"
    }
    return line
  }
}
