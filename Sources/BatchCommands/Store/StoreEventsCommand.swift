import ArgumentParser
import BatchFoundation
import BatchPipeline
import BatchReport
import BatchStore

struct StoreEventsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "events", abstract: "List the events of a store, or one of them.",
    discussion: """
      Events that are pending until their device is identified are listed as HOLD. Events that are pending until a mobile user \
      id or a location is known are stored with their device's state; 'store sessions' counts them.
      """)

  @OptionGroup var options: StoreOptions<JobName>
  @OptionGroup var personal: PersonalDataOption

  @Option(help: "Only events with this status, such as FAILED_POST.")
  var status: EventStatus?

  @Option(help: "Only the event with this id; give at least its first six characters.")
  var id: EventIDPrefix?

  @Option(help: ArgumentHelp("Only events of this type: a code such as 17 or, for a game, the event's name."))
  var type: String?

  @Option(help: "Only events with this campaign or, for a game, this push; by id or name.")
  var campaign: String?

  @OptionGroup var part: ListingPart

  @Option(help: "Only events after the one with this id, such as the last one of a previous listing with --limit.")
  var after: EventIDPrefix?

  func run() throws {
    try options.reading { store, platform in
      var rows = EventRows(
        options.answer.format, platform, try personal.policy(for: store),
        campaign: try campaign.map { (try InstalledPlatforms.of(platform).campaigns(in: store), $0) })
      rows.type = type
      var filter = EventFilter(status: status)
      (filter.from, filter.to, filter.after) = (part.from, part.to, try after.map { try store.knownEvent($0).id })
      filter.devices = try part.devices(in: store, personal)
      filter.mentions = [type.map { .whole(Array($0.utf8)) }, campaign.map { .part(Array($0.utf8)) }].compactMap { $0 }
      if let id {
        let event = try store.knownEvent(id)
        if status == nil || event.status == status { try rows.add(event) }
      } else {
        let limit = part.limit ?? .max
        try store.ledger.forEachListedEvent(filter) { event in
          try rows.add(event)
          return rows.count < limit
        }
      }
      if status == .hold {
        Streams.note(
          "note: events that are pending until a mobile user id or a location is known are not listed; 'store sessions' counts them"
        )
      }
      rows.listing.end()
      if rows.count > 0, !personal.showPersonalData {
        Streams.note("note: the rest of each event may be personal data; --show-personal-data shows it")
      }
      let unsent = try platform.unsentEvents(in: store).filter {
        status?.name == $0.status || status == nil && id == nil
      }
      for unsent in unsent { Streams.note("\(unsent.events.counted("event")) \(unsent.words)") }
      if rows.count == 0, unsent.isEmpty || type != nil {
        let near = try type.flatMap { try Self.nearType($0, in: store, platform) }
        Streams.note("no such event" + (near.map { "; \($0)" } ?? ""))
      }
    }
  }
}

extension StoreEventsCommand {
  /// The maximum number of events to examine; even in a larger store, most of the types are among these.
  private static let lookedAt = 20_000

  /// Returns a question that suggests a similar event type in the store; nil if there is none, and for a code, because
  /// similar codes are unrelated.
  private static func nearType(_ type: String, in store: EventStore, _ platform: any Platform) throws -> String? {
    guard !type.allSatisfy(\.isNumber) else { return nil }
    let describer = EventDescriber(platform, showsContent: false)
    var types: Set<String> = []
    var left = lookedAt
    try store.ledger.forEachListedEvent(EventFilter()) { event in
      types.insert(try describer.describe(event) { $0.type.description })
      left -= 1
      return left > 0
    }
    return types.contains(type) ? nil : NearestName.question(about: type, among: types.sorted())
  }
}

struct ListingPart: ParsableArguments {
  @Option(help: "Only this device, given by its id or by its hash in reports and listings.")
  var device: String?

  @Option(help: ArgumentHelp("Only the devices of this person; any id of the person, or its hash.", valueName: "id"))
  var person: String?

  @Option(
    help: "Only rows at or after this time, such as 2026-01-31 or yesterday.", transform: Instant.argument)
  var from: Instant?

  @Option(help: "Only rows before this time.", transform: Instant.argument)
  var to: Instant?

  @Option(help: "List at most this many rows.")
  var limit: Int?

  func validate() throws {
    if device != nil, person != nil { throw ValidationError("Give --device or --person, not both.") }
    if let limit, limit < 1 { throw ValidationError("--limit must be at least 1.") }
    if let from, let to, to <= from { throw ValidationError("--to must be later than --from.") }
  }

  /// Returns the bytes of the ids of the selected devices; nil for all.
  ///
  /// - Throws: ``UnknownName``.
  func devices(in store: EventStore, _ personal: PersonalDataOption) throws -> [[UInt8]]? {
    if let person { return try NamedPerson.devices(person, in: store) }
    return try device.map { [try NamedDevice.find($0, in: store, personal)] }
  }

  /// Returns whether the instant is within the span. An unknown instant is within it only if both ends are open.
  func contains(_ instant: Instant?) -> Bool {
    guard let instant else { return from == nil && to == nil }
    return from.map { $0 <= instant } ?? true && to.map { instant < $0 } ?? true
  }
}

extension EventStore {
  /// - Throws: ``UnknownName`` with events at the same instant; ``CommandError`` if several ids have the prefix.
  func knownEvent(_ id: EventIDPrefix) throws -> StoredEvent {
    if let whole = id.whole, let event = try ledger.event(whole) { return event }
    var filter = EventFilter()
    filter.from = id.times.lowerBound
    filter.to = Instant(milliseconds: id.times.upperBound.milliseconds + 1)
    var near: [StoredEvent] = []
    try ledger.forEachEvent(filter) { event in
      if id.whole != nil || id.begins(event.id) { near.append(event) }
      return near.count < 5
    }
    if id.whole == nil {
      if near.count > 1 {
        throw CommandError(
          .usage,
          "error: more than one event id begins with '\(id)': \(near.map(\.id.description).joined(separator: ", ")); give more characters"
        )
      }
      if let event = near.first { return event }
    }
    let time = "\(id.times.lowerBound.rfc3339)\(id.whole == nil ? " or soon after" : "")"
    throw UnknownName(
      kind: "event", name: id.description, near: near.map(\.id.description),
      hint: near.isEmpty ? "an event with this id would have happened at \(time)" : "")
  }
}

/// The rows of events: columns common to all platforms, with the platform's own columns in between.
struct EventRows: ~Copyable {
  var listing: Listing
  /// The code or name of the events to show; nil for all.
  var type: String?
  /// The campaign of the events to show; nil for all.
  private let campaign: (names: (JSONNode) -> [String], value: String)?
  private(set) var count = 0
  private let describer: EventDescriber
  private let columns: [EventColumn]
  private var ids: ShownIDs
  /// The cells of the current row.
  private var cells: [Listing.Cell] = []

  init(
    _ format: OutputFormat, _ platform: any Platform, _ personal: PersonalData,
    campaign: (names: (JSONNode) -> [String], value: String)? = nil
  ) {
    describer = EventDescriber(platform, showsContent: campaign != nil || personal.policy == .clear)
    self.campaign = campaign
    ids = ShownIDs(personal)
    columns = platform.eventColumns
    let names = columns.map(\.name)
    listing = Listing(format, columns: ["id", "status"] + names.dropLast() + ["chunk", "reason"] + names.suffix(1))
  }

  mutating func add(_ event: ListedEvent) throws {
    try describer.describe(event) { description in
      try add(description, event.id, event.status, event.chunk, event.reason)
    }
  }

  mutating func add(_ event: StoredEvent) throws {
    try describer.describe(event.json, device: event.device) { description in
      try add(description, event.id, event.status, event.chunk, event.reason)
    }
  }

  private mutating func add(
    _ event: EventDescription, _ id: EventID, _ status: EventStatus, _ chunk: Int64, _ reason: String?
  ) throws {
    if let type, event.type.description != type { return }
    if let campaign, !campaign.names(event.content).contains(where: { $0.isIdentical(to: campaign.value) }) { return }
    ids.beginRow()
    cells.removeAll(keepingCapacity: true)
    cells.append(.event(id))
    cells.append(.node(.text(status.name)))
    for index in columns.indices {
      // An event's content is long and comes last.
      if index == columns.count - 1 {
        cells.append(.number(chunk))
        cells.append(reason.map { .node(.text($0)) } ?? .null)
      }
      cells.append(cell(columns[index].content, event.values[index]))
    }
    listing.add(row: cells)
    count += 1
  }

  private mutating func cell(_ content: EventColumn.Content, _ value: JSONView?) -> Listing.Cell {
    guard let value else { return .null }
    switch content {
    case .plain: return .view(value)
    case .id: return value.string.flatMap { ids.shown($0) }.map { .text($0) } ?? .null
    case .values: return ids.personal.policy == .clear ? .view(value) : .null
    }
  }
}

/// The ids of devices and people as the policy for personal data shows them. Recent ones are kept, because most occur
/// again.
struct ShownIDs {
  let personal: PersonalData
  private let mostIDs: Int
  private var shown: [Text: Text] = [:]
  private let memory = Arena()

  init(_ personal: PersonalData, atMost mostIDs: Int = 1 << 16) {
    self.personal = personal
    self.mostIDs = mostIDs
  }

  mutating func beginRow() {
    guard shown.count >= mostIDs else { return }
    shown.removeAll(keepingCapacity: true)
    memory.reset()
  }

  /// Returns the id as shown, which is valid until the next row; nil if it is omitted.
  mutating func shown(_ id: Text) -> Text? {
    if let known = shown[id] { return known }
    guard let text = personal.id(id.description).text else { return nil }
    let copy = memory.text(text)
    shown[unsafe memory.copy(id.bytes)] = copy
    return copy
  }
}

extension EventStatus: ExpressibleByArgument {
  init?(argument: String) { self.init(name: argument) }

  static var allValueStrings: [String] { allCases.map(\.name) }
}

extension EventIDPrefix: ExpressibleByArgument {
  init?(argument: String) { self.init(argument) }
}
