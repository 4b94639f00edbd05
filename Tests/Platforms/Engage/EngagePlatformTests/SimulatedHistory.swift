import BatchFoundation
import StoreSupport

/// What devices recorded on two days, whom the service knows, and how a job is set.
struct SimulatedHistory {
  let days: [String]
  let job: String
  let recipients: [String: [String: String]]

  init(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    let devices = Int.random(in: 1...5, using: &random)
    var recipients: [String: [String: String]] = [:]
    for number in 0..<3 {
      recipients["\(900_000_000_500 + number)"] = ["customer_id": "c-\(number)", "loyalty_id": "y-\(number)"]
    }
    var days: [String] = []
    var event = 0
    for day in 0..<2 {
      var lines = ""
      // A device that comes on the second day is new.
      for device in 0..<devices where day == 1 || device < 3 {
        // The first record of a known device says who it is.
        let isKnown = device % 2 == 0
        if isKnown { recipients["\(900_000_000_100 + device)"] = ["Mobile User Id": "user-\(device)"] }
        for record in 0..<Int.random(in: 1...10, using: &random) {
          let time = 1_767_225_600_000 + Int64(day) * 86_400_000 + Int64(record * 60_000 + device)
          var line = #"{"deviceId":"d-\#(device)","timestamp":\#(time)"#
          if record == 0, isKnown {
            line += #","mobileUserId":"user-\#(device)","recipientId":"\#(900_000_000_100 + device)""#
          }
          if Int.random(in: 0..<4, using: &random) == 0 {
            let (column, value) = Bool.random(using: &random) ? ("customer_id", "c-") : ("loyalty_id", "y-")
            line += #","type":"identify","ids":{"\#(column)":"\#(value)\#(Int.random(in: 0..<4, using: &random))"}}"#
          } else {
            event += 1
            line += #","type":"namedEvent","name":"event \#(event)"}"#
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
    job = """
      {"name": "j", "inputs": {"events": ["in/*"]}, "asOf": "2026-01-03T00:00:00Z", "destination": "engage", "identity": true,
       "store": "store/j.sqlite", "settings": {
        "General": {"databaseListId": "50001"},
        "Ingest": {"workers": \(threads)},
        "Recipient": {"knownToKnown": "\(rule)"},
        "AuditRecord": {"mergeHistoryInAuditRecordTable": true, "auditRecordListId": "50002"},
        "Networking": {"retryBudget": 100000},
        "Upload": {"onUnknown": "\(onUnknown)", "concurrency": \(threads), "maxEventsPerRequest": \(Int.random(in: 1...10, using: &random)),
          "patience": "\(Int.random(in: 0...400, using: &random)) seconds"}}}
      """
    holds = onUnknown == "hold"
  }

  /// Events whose answer was lost are not sent again.
  let holds: Bool

  /// A number for each event of a request, which stays the same when a recipient is found out later.
  static func events(_ body: String) -> [Int] {
    let events = (try? JSONNode.parse(Array(body.utf8)))?["events"]?.array ?? []
    return events.map { event in
      var hash: UInt64 = 14_695_981_039_346_656_037
      func add(_ text: String) { for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 1_099_511_628_211 } }
      add(event["eventTypeCode"]?.string ?? "")
      add(event["eventTimestamp"]?.string ?? "")
      for attribute in event["attributes"]?.array ?? [] {
        guard let name = attribute["name"]?.string, name == "Device Id" || name == "Event Name" else { continue }
        add(attribute["value"]?.string ?? "")
      }
      return Int(truncatingIfNeeded: hash >> 1)
    }
  }
}
