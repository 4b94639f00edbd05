import ArgumentParser
import BatchFoundation
import BatchPipeline
import BatchReport
import BatchStore
import FoundationEssentials

struct WhyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "why",
    abstract:
      "Explain an event and its delivery, or the state of a device at a given time, from the store alone.",
    discussion: """
      Give an event by its id in 'store events', or by the first characters of that id; a game's event also by its eventUUID, \
      whether sent or quarantined. Give a device by its id, by its hash in reports and listings, or by an id of a person who \
      used only that device. To see the records that led to an event, while the export still exists, explain its device again \
      with a new store: 'run --dry-run --explain DEVICE --store NEW'.
      """)

  @Option(help: "A device, instead of an event.")
  var device: String?

  @Option(help: "With --device: explain the device's last event with this campaign; give the campaign's name or id.")
  var campaign: String?

  @Option(
    help: ArgumentHelp(
      "Explain all devices of this person, instead of an event or one device; any id of the person, or its hash.",
      valueName: "id"))
  var person: String?

  @Option(
    help: "With --device or --person: explain the state at this time. (default: the store's known time)",
    transform: Instant.argument)
  var at: Instant?

  @OptionGroup var choice: StoreChoice<EventOfJob>
  @OptionGroup var personal: PersonalDataOption
  @OptionGroup var answer: AnswerOption

  private var event: String? { choice.name.event }

  func validate() throws {
    if [event, device, person].compactMap({ $0 }).count != 1 {
      throw ValidationError("Give an event by its id, a device with --device, or a person with --person.")
    }
    if campaign != nil, device == nil { throw ValidationError("--campaign needs --device.") }
    if at != nil, event != nil { throw ValidationError("--at needs --device or --person.") }
  }

  func run() throws {
    try choice.reading { store, _ in
      let policy = try personal.policy(for: store)
      if let event {
        switch try NamedEvent.find(event, in: store) {
        case .stored(let event): answer.format.show(try EventStory(event, in: store, policy).answer())
        case .quarantined(let id, let event):
          answer.format.show(QuarantinedEventStory(id: id, event: event).answer(replay: try replay(in: store)))
        }
      } else if let device, let campaign {
        let device = try NamedDevice.find(device, in: store, personal)
        let event = try NamedEvent.last(ofCampaign: campaign, on: device, until: at, in: store)
        answer.format.show(try EventStory(event, in: store, policy).answer())
      } else if let device {
        let device = try NamedDevice.find(device, in: store, personal)
        answer.format.show(try DeviceStory(device, at: at, in: store, policy).answer())
      } else if let person {
        let devices = try NamedPerson.devices(person, in: store)
        answer.format.show(try devices.map { try DeviceStory($0, at: at, in: store, policy).answer() })
      }
    }
  }

  /// Returns the command that imports quarantined lines again; nil if the last report names no job.
  private func replay(in store: EventStore) throws -> ShellCommand? {
    if let job = choice.job { return ShellCommand("quarantine", "replay", "--store", try choice.path(), "--job", job) }
    for run in try store.runs.all().reversed() {
      guard let bytes = try store.runs.report(of: run.id) else { continue }
      // A report in another release's format names no job.
      return try? StoredReport.report(bytes).invocation.replay(in: choice.path())
    }
    return nil
  }
}

/// The id of an event, preceded by the job unless `--job` or `--store` is given.
struct EventOfJob: JobNaming {
  @Argument(help: ArgumentHelp("The job file, unless --job or --store is given.", valueName: "job"))
  var first: String?

  @Argument(help: ArgumentHelp("The id of an event, or the eventUUID of a game's event.", valueName: "event"))
  var second: String?

  @Option(name: .customLong("job"), help: ArgumentHelp("The job file, JSON or property list.", valueName: "job"))
  var option: String?

  /// Whether the first argument names the job; an argument given alone does if a file has that name.
  private var namesJob: Bool {
    second != nil || option == nil && first.map { FileManager.default.fileExists(atPath: $0) } ?? false
  }

  var job: String? { option ?? (namesJob ? first : nil) }
  var event: String? { second ?? (namesJob ? nil : first) }

  func validate() throws {
    if option != nil, second != nil {
      throw ValidationError("Give the job either as the argument or with --job, not both.")
    }
  }
}

/// An event named by an operator: by its id in listings, whole or shortened, or by the id that its service knows.
enum NamedEvent {
  case stored(StoredEvent)
  /// A quarantined event that is not in the ledger.
  case quarantined(EventID, StoredQuarantine)

  /// - Throws: ``UnknownName``, with events at the same instant if the string has the format of an id in listings;
  ///   ``CommandError`` if several ids begin with the string.
  static func find(_ text: String, in store: EventStore) throws -> NamedEvent {
    let id = EventID(text)
    if let id, let found = try find(id, in: store) { return found }
    let platform = try Platforms.installed.platform(named: store.format.destination)
    if let id = try platform.event(named: text, in: store), let found = try find(id, in: store) { return found }
    if let prefix = EventIDPrefix(text) { return .stored(try store.knownEvent(prefix)) }
    if try store.timelines.device(Array(text.utf8)) != nil {
      throw UnknownName(kind: "event", name: text, hint: "this is a device; use --device")
    }
    throw UnknownName(
      kind: "event", name: text,
      hint:
        "'engage-batch store events' lists the store's events; the first six characters of an id are usually enough")
  }

  /// Returns a device's last event with the given campaign (a name or id), at or before `instant` unless that is nil.
  ///
  /// - Throws: ``UnknownName`` with the device's campaigns.
  static func last(
    ofCampaign campaign: String, on device: [UInt8], until instant: Instant?, in store: EventStore
  ) throws -> StoredEvent {
    let platform = try Platforms.installed.platform(named: store.format.destination)
    let names = try InstalledPlatforms.of(platform).campaigns(in: store)
    let describer = EventDescriber(platform, showsContent: true)
    var filter = EventFilter()
    filter.devices = [device]
    var last: StoredEvent?
    var known: Set<String> = []
    try store.ledger.forEachEvent(filter) { event in
      let values = try describer.describe(event.json) { names($0.content) }
      known.formUnion(values.filter { !$0.isEmpty })
      guard values.contains(where: { $0.isIdentical(to: campaign) }), instant.map({ event.id.timestamp <= $0 }) ?? true
      else { return true }
      if last.map({ ($0.id.timestamp, $0.emission) < (event.id.timestamp, event.emission) }) ?? true { last = event }
      return true
    }
    if let last { return last }
    throw UnknownName(
      kind: "event of this device\(instant == nil ? "" : " up to that time") with the campaign", name: campaign,
      hint: known.isEmpty
        ? "none of the device's events has a campaign"
        : "campaigns of the device's events: \(known.sorted().joined(separator: ", "))")
  }

  private static func find(_ id: EventID, in store: EventStore) throws -> NamedEvent? {
    if let event = try store.ledger.event(id) { return .stored(event) }
    return try store.quarantine.line(id).map { .quarantined(id, $0) }
  }
}
