import ArgumentParser
import BatchConfiguration
import BatchFoundation
import BatchPipeline
import BatchReport
import BatchStore

struct StoreRequeueCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "requeue",
    abstract: "Queue events whose delivery failed or has an unknown outcome; the next run sends them.",
    discussion:
      "The service may already have received events with the status UNKNOWN; sending those again could duplicate them.")

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
      options.answer.format.show(
        ["requeued": .number(count)],
        notes: count == 0
          ? "no event\(chunk == .all ? "" : " of this chunk") has the status \(status.rawValue); nothing was changed"
          : count.counted("event is queued; the next run sends it", "events are queued; the next run sends them"))
    }
  }
}

struct StorePurgeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "purge", abstract: "Delete posted events older than the given number of days; others are kept.",
    discussion: """
      Deletes posted events whose time is at or before 00:00 UTC of the day that is --days days before --as-of. For a game, \
      this also deletes settled decisions and cached Engage answers of the same age; failed requests can then no longer fall \
      back on these. Digests of processed lines and states of devices are kept unless \
      --digest-days or --device-days, or their settings in LocalEventStore, say otherwise.
      """)

  @OptionGroup var file: JobStoreOption
  @OptionGroup var source: ConfigSource<JobName>
  @OptionGroup var answer: AnswerOption

  @Flag(help: "With a job: use the store of runs with --sandbox.")
  var sandbox = false

  @Option(help: "Days to keep posted events. (default: LocalEventStore.expireLocalEventsAfterNumDays)")
  var days: Int?

  @Option(
    help:
      "Days to keep digests of processed lines, or 0 to keep all; older lines are skipped from then on. (default: LocalEventStore.expireDigestsAfterNumDays)"
  )
  var digestDays: Int?

  @Option(
    help: "Days to keep states of idle devices, or 0 to keep all. (default: LocalEventStore.expireDevicesAfterNumDays)")
  var deviceDays: Int?

  @Flag(help: "Return unused space to the file system; requires as much free space as the store occupies.")
  var shrink = false

  @Option(help: "The time from which days are counted back. (default: now)", transform: Instant.argument)
  var asOf: Instant?

  func validate() throws {
    try file.validate(source)
    if sandbox, source.job == nil || file.store != nil {
      throw ValidationError("--sandbox needs a job, and cannot be combined with --store.")
    }
    for (name, days) in [("days", days), ("digest-days", digestDays), ("device-days", deviceDays)] {
      if let days, days < 0 { throw ValidationError("--\(name) must be 0 or more.") }
    }
  }

  func run() throws {
    let (job, configuration) = try source.load(asksService: false)
    let settings = configuration.settings
    let (kept, now) = (settings.eventStore, asOf ?? .now)
    let (digests, devices) = (digestDays ?? kept.digestDays, deviceDays ?? kept.deviceDays)
    try Platforms.installed.change(file.path(of: job, inSandbox: sandbox)) { store, platform in
      let report = try store.retention.purge(asOf: now, days: days ?? kept.daysToKeep)
      let knowledge = try store.retention.purgeKnowledge(
        asOf: now, digestDays: digests > 0 ? digests : nil, deviceDays: devices > 0 ? devices : nil
      ) { try platform.lastSeen($0) }
      let freed = shrink ? try store.retention.shrink() : 0
      var facts: Facts = [
        "purged": .number(report.purged), "kept": .number(report.kept), "digests": .number(knowledge.digests),
        "devices": .number(knowledge.devices), "freedBytes": .number(freed),
      ]
      facts.note(
        report.purged.counted("posted event was deleted", "posted events were deleted") + "; "
          + report.kept.counted(
            "event of that age was not posted and is kept", "events of that age were not posted and are kept"))
      if let own = store.format.retention?.name {
        facts.add(own, .number(report.platformRows))
        facts.note("\(own) deleted: \(report.platformRows)")
      }
      if knowledge.digests + knowledge.devices > 0 {
        facts.note(
          "digests of \(knowledge.digests.counted("line")) and states of \(knowledge.devices.counted("idle device")) were deleted"
        )
      }
      if let since = try store.retention.knownSince() {
        facts.note(
          "lines before \(since.rfc3339) are skipped, because the store no longer knows which of them were imported")
      }
      if shrink { facts.note("the store is \(freed.grouped) bytes smaller") }
      answer.format.show(facts)
    }
  }
}

struct StoreRebindCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rebind",
    abstract: "Bind a store to the service address and the list or environment in the job's current configuration.",
    discussion: """
      For use when a service has moved or an account was copied. Events posted to the old address are not sent again; \
      pending events are sent to the new address. The command fails while identity plans of another list are unfinished.
      """)

  @OptionGroup var job: StoredJob
  @OptionGroup var answer: AnswerOption

  func run() throws {
    let loaded = try job.load()
    let request = try job.request(.post, loaded)
    try Platforms.installed.change(request.storePath) { try rebind($0, of: $1, to: request.storeDestination) }
  }

  private func rebind(_ store: EventStore, of platform: any Platform, to new: StoreDestination) throws {
    let old = try store.destination()
    try refuseUnlessPossible(old, new, store, platform)
    try store.rebind(to: new)
    let counts = try store.ledger.statusCounts()
    let posted = counts[.successfullyPosted] ?? 0
    let pending = [EventStatus.notPosted, .expired, .hold].reduce(0) { $0 + (counts[$1] ?? 0) }
    answer.format.show(
      [
        "from": .text(old?.description), "to": .text(new.description), "posted": .number(posted),
        "waiting": .number(pending),
      ],
      notes: "the store belonged to \(old?.description ?? "no destination") and now belongs to \(new)",
      "\(posted.counted("posted event")) will not be sent again; \(pending.counted("pending event is", "pending events are")) to be sent to the new destination"
    )
  }

  private func refuseUnlessPossible(
    _ old: StoreDestination?, _ new: StoreDestination, _ store: EventStore, _ platform: any Platform
  ) throws {
    func refuse(_ problem: String) -> CommandError {
      CommandError(.configuration, "\(store.path): error: \(problem); the store was not changed")
    }
    guard new.address != nil else {
      throw refuse(
        "the job's configuration has no address to which the store could be bound; see 'engage-batch doctor'")
    }
    guard let old else { return }
    guard old.kind.utf8.elementsEqual(new.kind.utf8) else {
      throw refuse(
        "the store belongs to \(old); \(new) is a different kind of destination, which requires a separate store")
    }
    guard old.share != nil, old.share != new.share else { return }
    if let obstacle = try platform.obstacle(toMoving: store) { throw refuse(obstacle) }
  }
}

struct StoreDropPartitionCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "drop-partition",
    abstract: "Drop the collected parts of an incomplete partition.",
    discussion: """
      Removes the events, quarantined lines, identity checks and questions of these parts. The store then no longer knows their \
      lines, so run 'partition' and 'decide' again. None of the events were sent, because 'post' requires all parts. A complete \
      partition is kept.
      """)

  @OptionGroup var options: StoreOptions<JobName>

  func run() throws {
    try options.writing { store, _ in
      let dropped = try store.parts.dropHalf()
      options.answer.format.show(
        [
          "partition": .text(dropped?.partition.identity),
          "parts": .number(dropped?.partition.here.count ?? 0), "lines": .number(dropped?.lines ?? 0),
          "quarantined": .number(dropped?.quarantined ?? 0), "events": .number(dropped?.events ?? 0),
        ],
        notes: dropped.map { dropped in
          let partition = dropped.partition
          return
            "in partition \(partition.identity.prefix(12)), \(partition.here.count.counted("part")) of \(partition.parts) "
            + "\(partition.here.count == 1 ? "was" : "were") dropped: \(dropped.lines.counted("line")), "
            + "\(dropped.quarantined.grouped) quarantined, \(dropped.events.counted("event"))"
        } ?? "no partition has missing parts; nothing was changed")
    }
  }
}
