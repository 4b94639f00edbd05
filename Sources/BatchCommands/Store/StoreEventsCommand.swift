import ArgumentParser
import BatchJSON
import BatchPipeline
import BatchReport
import BatchStore

/// `engage-batch store events`: events with their status, by time.
struct StoreEventsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "events", abstract: "List the events of a store, or one of them.",
    discussion: """
      Events that wait for the identity of their device are listed as HOLD. Those that wait for a mobile user id are part of their \
      devices' states; 'store sessions' counts them.
      """)

  @OptionGroup var options: StoreOptions
  @OptionGroup var personal: PersonalDataOption

  @Option(help: "Only events of this status, such as FAILED_POST.")
  var status: EventStatus?

  @Option(help: "Only the event with this id.")
  var id: EventID?

  @Option(help: "At most this many events.")
  var limit: Int?

  func validate() throws {
    if let limit, limit < 1 { throw ValidationError("--limit takes a number from 1.") }
  }

  func run() throws {
    try options.reading { store in
      var rows = EventRows(
        Listing(options.format, columns: EventRows.columns), try personal.policy(for: store))
      if let id {
        let event = try store.event(id)
        if let event, status == nil || event.status == status { try rows.add(event) }
      } else {
        try store.forEachEvent(status: status) { event in
          try rows.add(event)
          return limit.map { rows.count < $0 } ?? true
        }
      }
      if status == .hold {
        Streams.note(
          "note: events that wait for a mobile user id or a location are not listed; 'store sessions' counts them")
      }
      rows.listing.end()
      for unsent in try store.unsentEvents() where status.map({ $0.name == unsent.status }) ?? (id == nil) {
        Streams.note("\(unsent.events) events \(unsent.words)")
      }
      if rows.count == 0 { Streams.note("no such event") }
    }
  }
}

/// Events as rows.
struct EventRows {
  static let columns = [
    "id", "status", "eventTypeCode", "eventTimestamp", "device", "chunk", "reason", "attributes",
  ]

  var listing: Listing
  private(set) var count = 0
  private let personal: PersonalData

  init(_ listing: Listing, _ personal: PersonalData) {
    self.listing = listing
    self.personal = personal
  }

  /// Attributes are shown with personal data only; the device is always there, hashed or not.
  mutating func add(_ stored: StoredEvent) throws {
    let event = try JSONNode.parse(stored.json)
    let attributes = event["attributes"]?.array ?? []
    // An event of a game has its player and its parameters where others have a device and attributes.
    let device = attributes.first { $0["name"]?.string == "Device Id" }?["value"]?.string ?? event["userID"]?.string
    let content = event["eventParams"] ?? .array(attributes)
    listing.add([
      .text("\(stored.id)"), .text(stored.status.name), event["eventTypeCode"] ?? event["eventName"] ?? .text(nil),
      event["eventTimestamp"] ?? .text(nil), .text(device.flatMap { personal.id($0).text }), .number(stored.chunk),
      .text(stored.reason), personal.policy == .clear ? content : .text(nil),
    ])
    count += 1
  }
}

extension EventStatus: ExpressibleByArgument {
  package init?(argument: String) { self.init(name: argument) }

  package static var allValueStrings: [String] { allCases.map(\.name) }
}

extension EventID: ExpressibleByArgument {
  package init?(argument: String) { self.init(argument) }
}
