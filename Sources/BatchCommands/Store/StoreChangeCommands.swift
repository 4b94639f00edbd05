import ArgumentParser
import BatchConfiguration
import BatchFoundation
import BatchPipeline
import BatchStore

struct StoreRequeueCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "requeue", abstract: "Put events back that failed or whose answer was lost; the next run sends them.",
    discussion: "Events of UNKNOWN may be at the service already; it then has them twice.")

  enum Status: String, ExpressibleByArgument, CaseIterable {
    case failedPost = "FAILED_POST"
    case unknown = "UNKNOWN"
  }

  enum Chunk: ExpressibleByArgument, Equatable {
    case all
    case number(Int64)

    init?(argument: String) {
      if argument == "all" {
        self = .all
      } else if let number = Int64(argument), number > 0 {
        self = .number(number)
      } else {
        return nil
      }
    }
  }

  @OptionGroup var options: StoreOptions<JobName>

  @Option(help: "FAILED_POST or UNKNOWN.")
  var status: Status

  @Option(help: ArgumentHelp("Only the events of one chunk, by its number in 'store events'.", valueName: "number|all"))
  var chunk: Chunk = .all

  func run() throws {
    try options.writing { store, _ in
      let statuses: Set<EventStatus> = [status == .unknown ? .unknown : .failedPost]
      let count =
        switch chunk {
        case .all: try store.ledger.requeue(statuses)
        case .number(let number): try store.ledger.requeue(statuses, chunk: number)
        }
      options.answer.format.tell(["requeued": .number(count)]) {
        Streams.note(
          count == 0
            ? "No event here is \(status.rawValue); nothing was changed"
            : count.counted("event waits again; the next run sends it", "events wait again; the next run sends them"))
      }
    }
  }
}

struct StorePurgeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "purge", abstract: "Delete posted events older than a number of days; others stay.",
    discussion: """
      An event goes that was posted and happened on UTC midnight of --as-of less --days days or before. The days are those of \
      LocalEventStore.expireLocalEventsAfterNumDays unless they are given. Of a game, settled decisions of that time go too, and \
      answers of Engage that were got so long ago, which then stand in for no failed one. Digests of processed lines and states of \
      devices stay unless LocalEventStore.expireDigestsAfterNumDays or expireDevicesAfterNumDays say otherwise.
      """)

  @OptionGroup var file: JobStoreOption
  @OptionGroup var source: ConfigSource<JobName>
  @OptionGroup var answer: AnswerOption

  @Flag(help: "With a job: the store that its runs with --sandbox keep.")
  var sandbox = false

  @Option(help: "Days that posted events are kept. (default: those of the configuration)")
  var days: Int?

  @Option(
    help: "Days that digests of lines are kept; older lines are refused then. (default: those of the configuration)")
  var digestDays: Int?

  @Option(help: "Days that states of idle devices are kept. (default: those of the configuration)")
  var deviceDays: Int?

  @Flag(help: "Give what is free back to the file system; needs as much free space as the store has.")
  var shrink = false

  @Option(help: "From when the days count back. (default: now)", transform: Instant.argument)
  var asOf: Instant?

  func validate() throws {
    try file.validate(source)
    if sandbox, source.job == nil || file.store != nil {
      throw ValidationError("--sandbox goes with a job, without --store.")
    }
    for (name, days) in [("days", days), ("digest-days", digestDays), ("device-days", deviceDays)] {
      if let days, days < 0 { throw ValidationError("--\(name) takes a number from 0.") }
    }
  }

  func run() throws {
    let (job, configuration) = try source.load(asksService: false)
    let settings = configuration.settings
    let (kept, now) = (settings.eventStore, asOf ?? .now)
    let (digests, devices) = (digestDays ?? kept.digestDays, deviceDays ?? kept.deviceDays)
    try file.writing(of: job, inSandbox: sandbox) { store, platform in
      let report = try store.retention.purge(asOf: now, days: days ?? kept.daysToKeep)
      let knowledge = try store.retention.purgeKnowledge(
        asOf: now, digestDays: digests > 0 ? digests : nil, deviceDays: devices > 0 ? devices : nil
      ) { try platform.lastSeen($0) }
      let freed = shrink ? try store.retention.shrink() : 0
      let own = store.format.retention.map { JSONMember(key: $0.name, value: .number(report.platformRows)) }
      let document: JSONNode = [
        "purged": .number(report.purged), "kept": .number(report.kept), "digests": .number(knowledge.digests),
        "devices": .number(knowledge.devices), "freedBytes": .number(freed),
      ]
      try answer.format.tell(document.adding([own].compactMap { $0 })) {
        Streams.note(
          report.purged.counted("posted event was deleted", "posted events were deleted") + "; "
            + report.kept.counted(
              "event that is as old was not posted and stays", "events that are as old were not posted and stay"))
        if let own { Streams.note("\(own.key) that were deleted: \(report.platformRows)") }
        if knowledge.digests + knowledge.devices > 0 {
          Streams.note(
            "digests of \(knowledge.digests.counted("line")) and states of \(knowledge.devices.counted("idle device")) were deleted"
          )
        }
        if let since = try store.retention.knownSince() {
          Streams.note(
            "lines before \(since.rfc3339) are refused, because the store no longer knows which of them it took")
        }
        if shrink { Streams.note("the store has \(freed.grouped) bytes less") }
      }
    }
  }
}
