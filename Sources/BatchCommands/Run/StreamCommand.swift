import ArgumentParser
import BatchConfiguration
import BatchFoundation
import BatchIngest
import BatchPipeline
import BatchReport
import FoundationEssentials

struct StreamCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "stream",
    abstract: "Read records from stdin, grouped by device and in order, and write their events to stdout.",
    discussion: """
      Only the rules are applied: nothing is stored or sent, and every device begins without state. The events of a device are \
      written once the next device begins. The first 20 lines that are not records are reported on stderr. If the records of a \
      device are in several groups, the exit code is 65, because the events of the device are wrong.
      """)

  enum Kind: String, ExpressibleByArgument, CaseIterable {
    case events, notifications, deepLinks

    var input: InputKind {
      switch self {
      case .events: .events
      case .notifications: .notifications
      case .deepLinks: .deepLinks
      }
    }
  }

  @OptionGroup var source: ConfigSource<JobName>

  @Option(
    help:
      "The clock of the run, up to which inactivity counts. (default: the job's; without one, inactivity after the last record is ignored)",
    transform: Instant.argument)
  var asOf: Instant?

  @Option(help: "The kind of records: events, notifications or deepLinks.")
  var kind: Kind = .events

  func run() throws {
    let loaded = try source.loadJob()
    var request = try RunRequest(loaded: loaded, of: .installed, mode: .stream, now: .now)
    if let asOf { request.loaded.job.asOf = asOf }
    let stream = try RuleStream(request, kind: kind.input, output: "-")
    defer { for note in Self.notes(stream.counts) { Streams.note(note) } }
    try stream.run()
  }

  static func notes(_ counts: StreamCounts) -> [String] {
    let lines = counts.lines
    var notes = counts.refusals.map(\.text)
    if lines.quarantined > counts.refusals.count {
      notes.append("and \((lines.quarantined - counts.refusals.count).counted("more rejected line"))")
    }
    notes += [
      "\(lines.read.counted("record")) read: \(lines.accepted) accepted, \(lines.duplicates.counted("duplicate")), "
        + "\(lines.outOfWindow) out of window, \(lines.quarantined) rejected; "
        + "\(counts.events.counted("event")) of \(counts.devices.counted("device"))"
    ]
    for reason in QuarantineReason.allCases {
      if let count = lines.reasons[reason] { notes.append("rejected: \(reason.rawValue) \(count)") }
    }
    if counts.held > 0 {
      notes.append(
        counts.held.counted("event was", "events were")
          + " not written, because a user id or a location is still missing")
    }
    return notes
  }
}

extension ConfigSource {
  /// Returns the named job. Without a name, returns an unnamed job with the configuration and no inputs.
  func loadJob() throws -> LoadedJob {
    let loaded = try load(asksService: false)
    let place = "\(FileManager.default.currentDirectoryPath)/job"
    return LoadedJob(
      job: loaded.job ?? Job(file: place, destination: Platforms.installed.all[0].name),
      configuration: loaded.configuration)
  }
}
