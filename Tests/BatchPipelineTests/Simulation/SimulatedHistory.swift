import BatchFoundation
import BatchStore
import StoreSupport

/// A service with one of the ways to speak to it.
enum SimulatedKind: String, CaseIterable {
  case engageSDK = "engage-sdk"
  case acousticMobile = "acoustic-mobile"
  case deltadna, unity

  var isGame: Bool { self == .deltadna || self == .unity }
  var destination: String { isGame ? rawValue : "engage" }
}

/// What devices recorded on two days, whom the service knows, and how a job is set.
struct SimulatedHistory {
  let kind: SimulatedKind
  let days: [String]
  let job: String
  let recipients: [String: [String: String]]
  /// Events whose answer was lost are not sent again.
  let holds: Bool

  /// Nobody's records name them: whoever writes to them, or to whom their id goes, was lied to.
  static let strangers = [
    "900000000700": ["customer_id": "somebody", "loyalty_id": "else", "Mobile User Id": "stranger-1"],
    "900000000701": ["customer_id": "anybody", "Mobile User Id": "stranger-2"],
  ]
  /// Whom the first device belongs to, as its first record says.
  static let firstRecipient = "900000000100"
  /// A word of all events and of all customers' ids that may stand nowhere but in records.
  static let word = "Kolibri"

  init(seed: UInt64, _ kind: SimulatedKind) {
    self.kind = kind
    var random = SplitMix64(seed: seed)
    let devices = Int.random(in: 1...5, using: &random)
    var recipients = Self.strangers
    for number in 0..<3 {
      recipients["\(900_000_000_500 + number)"] = [
        "customer_id": "\(Self.word) \(number)", "loyalty_id": "\(Self.word) y-\(number)",
      ]
    }
    var days: [String] = []
    var event = 0
    for day in 0..<2 {
      var lines = ""
      // A device that comes on the second day is new.
      for device in 0..<devices where day == 1 || device < 3 {
        // The first record of a known device says who it is.
        let isKnown = device % 2 == 0 && !kind.isGame
        if isKnown { recipients["\(900_000_000_100 + device)"] = ["Mobile User Id": "user-\(device)"] }
        for record in 0..<Int.random(in: 1...10, using: &random) {
          let time = 1_767_225_600_000 + Int64(day) * 86_400_000 + Int64(record * 60_000 + device)
          var line = #"{"deviceId":"d-\#(device)","timestamp":\#(time)"#
          if record == 0, isKnown {
            line += #","mobileUserId":"user-\#(device)","recipientId":"\#(900_000_000_100 + device)""#
          }
          event += 1
          if kind.isGame {
            line += #","type":"gameEvent","name":"levelUp","params":{"number":\#(event),"bird":"\#(Self.word)"}}"#
          } else if Int.random(in: 0..<4, using: &random) == 0 {
            let (column, value) = Bool.random(using: &random) ? ("customer_id", "") : ("loyalty_id", "y-")
            let number = Int.random(in: 0..<4, using: &random)
            line += #","type":"identify","ids":{"\#(column)":"\#(Self.word) \#(value)\#(number)"}}"#
          } else {
            line += #","type":"namedEvent","name":"\#(Self.word) \#(event)"}"#
          }
          lines += line + "\n"
        }
      }
      days.append(lines)
    }
    self.days = days
    self.recipients = recipients
    let rule = Bool.random(using: &random) ? "merge" : "reassign"
    let onUnknown = Bool.random(using: &random) ? "hold" : "resend"
    let threads = Simulation.hasSeveralThreads(seed) ? Int.random(in: 2...4, using: &random) : 1
    let perRequest = Int.random(in: 1...10, using: &random)
    job = """
      {"name": "j", "inputs": {"events": ["in/*"]}, "asOf": "2026-01-03T00:00:00Z", "destination": "\(kind.destination)",
       "identity": \(!kind.isGame), "store": "store/j.sqlite", "settings": {
        "General": {"databaseListId": "50001", "eventCodes": "\(kind.isGame ? "engage-sdk" : kind.rawValue)"},
        "Ingest": {"workers": \(threads)},
        "Recipient": {"knownToKnown": "\(rule)"},
        "AuditRecord": {"mergeHistoryInAuditRecordTable": true, "auditRecordListId": "50002"},
        "Networking": {"retryBudget": 100000, "breakerFailures": 40},
        "DeltaDNA": {"maxEventsPerRequest": \(perRequest), "concurrency": \(threads)},
        "Upload": {"onUnknown": "\(onUnknown)", "concurrency": \(threads), "maxEventsPerRequest": \(perRequest),
          "patience": "\(Int.random(in: 0...400, using: &random)) seconds"}}}
      """
    holds = onUnknown == "hold"
  }

  /// An event of a request.
  struct Sent: Hashable {
    /// Stays the same when a recipient is found out later.
    var number: Int
    var device: String
    var recipient: String
    var user: String
    /// Milliseconds since 1970; 0 for events of games.
    var at: Int64
  }

  static func events(_ body: String) -> [Int] { sent(body).map(\.number) }

  /// The events of a store, each with the number that it has where it is sent.
  static func events(in store: EventStore) throws -> [(event: StoredEvent, number: Int)] {
    var events: [(event: StoredEvent, number: Int)] = []
    try store.ledger.forEachEvent(status: nil) { event in
      let json = String(decoding: event.json, as: UTF8.self)
      events.append((event, Self.events(#"{"events":[\#(json)]}"#)[0]))
      return true
    }
    return events
  }

  static func sent(_ body: String) -> [Sent] {
    let document = try? JSONNode.parse(Array(body.utf8))
    return (document?["events"]?.array ?? document?["eventList"]?.array ?? []).map { event in
      var hash: UInt64 = 14_695_981_039_346_656_037
      let at = event["eventTimestamp"]?.string.flatMap { Instant.parse(rfc3339: $0) }
      var sent = Sent(number: 0, device: "", recipient: "", user: "", at: at?.milliseconds ?? 0)
      func add(_ text: String?) { for byte in (text ?? "").utf8 { hash = (hash ^ UInt64(byte)) &* 1_099_511_628_211 } }
      add(event["eventUUID"]?.string)
      add(event["eventTypeCode"]?.string)
      if event["eventUUID"] == nil { add(event["eventTimestamp"]?.string) }
      for attribute in event["attributes"]?.array ?? [] {
        let value = attribute["value"]?.string ?? ""
        switch attribute["name"]?.string {
        case "Device Id":
          add(value)
          sent.device = value
        case "Event Name": add(value)
        case "Recipient Id": sent.recipient = value
        case "Primary User Id": sent.user = value
        default: break
        }
      }
      sent.number = Int(truncatingIfNeeded: hash >> 1)
      return sent
    }
  }
}

extension SimulatedHistory {
  init(_ kind: SimulatedKind, days: [String], job: String, recipients: [String: [String: String]]) {
    (self.kind, self.days, self.job, self.recipients, holds) = (kind, days, job, recipients, false)
  }
}
