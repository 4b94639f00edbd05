import BatchFoundation
import FoundationEssentials

/// Records of some devices, each with a life of its own.
struct RandomExport {
  struct Line {
    /// As jobs call its inputs.
    var kind: String
    var device: Int
    var timestamp: Int64
    var text: String
    /// The first places of a device: what it is like until they are read is not that of one run (reference decisions 35).
    var isFirstSample: Bool
  }

  static let start: Int64 = 1_767_225_600_000
  /// Around the timeouts of sessions and locations, and long enough for nights without a record.
  private static let steps: [Int64] = [
    1, 1000, 14_999, 15_000, 15_001, 60_000, 299_999, 300_000, 300_001, 1_799_999, 1_800_000, 1_800_001, 9_000_000,
    50_000_000,
  ]
  /// Exports of each platform; of one whose rules are another's, few.
  static func cases(short: [UInt64]) -> [(destination: String, seed: UInt64)] {
    let seeds = seeds(short: short)
    return ["engage", "deltadna"].flatMap { destination in seeds.map { (destination, $0) } }
      + seeds.prefix(2).map { ("unity", $0) }
  }

  static let kinds = ["events", "notifications", "deepLinks"]

  /// The seeds that a property is tried with: with `ENGAGE_TORTURE=full` five hundred others each time, or the one that is to be seen again.
  static func seeds(short: [UInt64]) -> [UInt64] {
    let variables = ProcessInfo.processInfo.environment
    guard variables["ENGAGE_TORTURE"] == "full" else { return short }
    if let one = variables["ENGAGE_TORTURE_SEED"].flatMap({ UInt64($0) }) { return [one] }
    let first = UInt64.random(in: 1...1_000_000_000)
    return (0..<500).map { first + $0 }
  }

  /// In any order.
  let lines: [Line]
  let settings: String
  let destination: String
  /// Behind the last record, and behind all that is silent after it.
  let end: Int64

  /// - Parameter ties: some records of a device have the time of the one before; nil for none.
  init(_ destination: String, _ random: inout SplitMix64, ties: SplitMix64? = nil) {
    var ties = ties
    var lines: [Line] = []
    var last = Self.start
    for device in 0..<5 {
      // Of these, one has no lifecycle records, one places, one consents, one is named late.
      var time = Self.start + Int64(device)
      for number in 0..<30 {
        let step = Self.steps.randomElement(using: &random) ?? 1
        if (ties?.next() ?? 1) % 6 > 0 { time += step }
        let (kind, record) =
          destination == "engage"
          ? Self.engage(device, number, &random) : Self.game(device, number, &random)
        lines.append(
          Line(
            kind: kind, device: device, timestamp: time,
            text: #"{"deviceId":"d-\#(device)","timestamp":\#(time),\#(record)}"#,
            isFirstSample: device == 1 && number < 2))
      }
      last = max(last, time)
    }
    end = last + Int64.random(in: 1...4_000_000, using: &random)
    settings =
      destination == "engage"
      ? #"{"Recipient": {"consentRecords": "apply"}}"# : #"{"DeltaDNA": {"sessionTimeoutSeconds": 300}}"#
    self.destination = destination
    self.lines = lines.shuffled(using: &random)
  }

  /// The job, and its inputs in one file of each kind.
  var files: [String: String] {
    var files = [
      "job.json": """
      {"name": "j", "destination": "\(destination)", "settings": \(settings), "store": "j.sqlite",
       "inputs": {"events": ["events"], "notifications": ["notifications"], "deepLinks": ["deepLinks"]}}
      """
    ]
    for kind in Self.kinds { files[kind] = text(of: lines, kind) }
    return files
  }

  func text(of lines: [Line], _ kind: String) -> String {
    lines.filter { $0.kind == kind }.map(\.text).joined(separator: "\n")
  }

  private static func engage(_ device: Int, _ number: Int, _ random: inout SplitMix64) -> (String, String) {
    // A device that records places does so from the start: before the first, nobody waits for one.
    if device == 1, number == 0 { return ("events", #""type":"location","latitude":1,"longitude":2"#) }
    if device == 1, number == 1 { return ("events", #""type":"placemark","name":"home","city":"c""#) }
    let user = device == 3 ? (number == 20 ? #","mobileUserId":"late""# : "") : #","mobileUserId":"u""#
    let campaign = #""CurrentCampaign":"c\#(number)","CampaignValidFor":"\#(number % 7 + 1) hours""#
    var choices = [
      ("events", #""type":"namedEvent","name":"e\#(number)""#),
      ("notifications", #""action":"received","payload":{\#(campaign)}"#),
      ("notifications", #""action":"opened","channel":"local","payload":{},"notification":{\#(campaign)}"#),
      ("notifications", #""action":"received","channel":"local","payload":{"alertBody":"b"}"#),
      ("deepLinks", #""url":"app://h?CurrentCampaign=l\#(number)""#), ("deepLinks", #""url":"app://h?a=1""#),
      ("events", #""type":"identify","ids":{"customer_id":"\#(number)"}"#),
    ]
    if device != 0 {
      choices += ["launch", "foreground", "background", "background", "terminate"].map {
        ("events", #""type":"\#($0)""#)
      }
    }
    if device == 1 {
      choices += [
        ("events", #""type":"location","latitude":\#(number),"longitude":2"#),
        ("events", #""type":"placemark","name":"p\#(number)","city":"c""#),
      ]
    }
    if device == 2 { choices.append(("events", #""type":"consent","use":\#(number % 2 == 0)"#)) }
    let (kind, record) = choices.randomElement(using: &random) ?? choices[0]
    return (kind, record + user)
  }

  private static func game(_ device: Int, _ number: Int, _ random: inout SplitMix64) -> (String, String) {
    var choices = [
      ("events", #""type":"gameEvent","name":"e\#(number)""#), ("events", #""type":"gameEvent","name":"again""#),
      ("events", #""type":"newSession""#), ("events", #""type":"pushToken","token":"t\#(number % 3)""#),
      ("events", #""type":"crossGameUserId","crossGameUserId":"x\#(number % 3)""#),
      ("events", #""type":"engagement","decisionPoint":"p""#),
      ("notifications", #""action":"opened","payload":{"_ddCampaign":"\#(number)"}"#),
    ]
    if device != 0 {
      choices += ["launch", "foreground", "background", "background", "terminate"].map {
        ("events", #""type":"\#($0)""#)
      }
    }
    if device == 1 { choices.append(("events", #""type":"setUserId","userId":"u\#(number % 3)""#)) }
    if device == 2 { choices.append(("events", #""type":"consent","use":\#(number % 2 == 0)"#)) }
    if device == 3 {
      choices += [
        ("events", #""type":"stopTracking""#), ("events", #""type":"forgetMe""#),
        ("events", #""type":"clearPersistentData""#),
      ]
    }
    return choices.randomElement(using: &random) ?? choices[0]
  }
}
