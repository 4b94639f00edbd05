import BatchConfiguration
import BatchFoundation
import BatchPlatform
import BatchReport
import BatchStore
import DeltaDNAPlatform
import EngagePlatform
import Foundation
import Testing

@testable import BatchPipeline

/// Nights, a backfill and one run over all records agree, event for event and state for state, where records arrive in time
/// (reference decisions 33).
@Suite("Nights and one run") struct NightsPropertyTests {
  private struct Nights: Equatable {
    /// In the order of delivery.
    var events: [String] = []
    /// By device: events that it holds, when it is due, its state.
    var devices: [String] = []
    /// Sessions started, ended; campaigns set, expired; lengths of sessions.
    var figures: [Int] = []
  }

  private static let start: Int64 = 1_767_225_600_000
  /// Around the timeouts of sessions and locations, and long enough for nights without a record.
  private static let steps: [Int64] = [
    1, 1000, 14_999, 15_000, 15_001, 60_000, 299_999, 300_000, 300_001, 1_799_999, 1_800_000, 1_800_001, 9_000_000,
    50_000_000,
  ]

  @Test(
    "They make the same of any records, wherever the windows end", arguments: ["engage", "deltadna"],
    1...8 as ClosedRange<UInt64>)
  func agree(destination: String, seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let export = Export(destination, &random)
    let ends = (0..<Int.random(in: 1...7, using: &random)).map { _ in
      Int64.random(in: Self.start + 1..<export.end, using: &random)
    }
    let cuts = Set(ends).sorted()
    let whole = try decide(export, [], &random)
    #expect(whole.events.count > 60)
    #expect(try decide(export, cuts, &random) == whole, "cut at \(cuts)")
  }

  private func decide(_ export: Export, _ cuts: [Int64], _ random: inout SplitMix64) throws -> Nights {
    let folder = try JobFolder(export.files)
    var nights = Nights()
    for (from, to) in zip([Self.start] + cuts, cuts + [export.end]) {
      var changes = CommandLineChanges()
      (changes.from, changes.to) = (Instant(milliseconds: from), Instant(milliseconds: to))
      // The clock is behind the window: nobody knows what it covers.
      let clock = cuts.isEmpty ? to : to + Int64.random(in: 0...20_000_000, using: &random)
      changes.asOf = Instant(milliseconds: clock)
      var request = try folder.request(changes)
      request.eventsOut = "\(folder.path)/out"
      let report = try folder.run(request).report
      #expect(report.failure == nil)
      nights.events += try folder.text("out").split(separator: "\n").map(String.init)
      let summary = report.summary
      let figures =
        [summary.sessionsStarted, summary.sessionsEnded, summary.campaignsSet, summary.campaignsExpired]
        + report.activity.sessionLengths
      nights.figures = nights.figures.isEmpty ? figures : zip(nights.figures, figures).map { $0 + $1 }
    }
    let format = try folder.request().platform.storeFormat
    let store = try EventStore.openReading("\(folder.path)/j.sqlite", format: format)
    try store.forEachDevice { device in
      nights.devices.append(
        "\(String(decoding: device.device, as: UTF8.self)) \(device.held) \(Hexadecimal.text(of: device.state))")
    }
    try store.close()
    nights.events.sort()
    return nights
  }

  /// Records of some devices, each with a life of its own.
  private struct Export {
    let files: [String: String]
    /// Behind the last record, and behind all that is silent after it.
    let end: Int64

    init(_ destination: String, _ random: inout SplitMix64) {
      var lines: [String: [String]] = ["events": [], "notifications": [], "deepLinks": []]
      var last = NightsPropertyTests.start
      for device in 0..<5 {
        // Of these, one has no lifecycle records, one places, one consents, one is named late.
        var time = NightsPropertyTests.start + Int64(device)
        for number in 0..<30 {
          time += NightsPropertyTests.steps.randomElement(using: &random) ?? 1
          let (kind, record) =
            destination == "engage"
            ? Self.engage(device, number, &random) : Self.game(device, number, &random)
          lines[kind]?.append(#"{"deviceId":"d-\#(device)","timestamp":\#(time),\#(record)}"#)
        }
        last = max(last, time)
      }
      end = last + Int64.random(in: 1...4_000_000, using: &random)
      let settings =
        destination == "engage"
        ? #"{"Recipient": {"consentRecords": "apply"}}"# : #"{"DeltaDNA": {"sessionTimeoutSeconds": 300}}"#
      var files = [
        "job.json": """
        {"name": "j", "destination": "\(destination)", "settings": \(settings), "store": "j.sqlite",
         "inputs": {"events": ["events"], "notifications": ["notifications"], "deepLinks": ["deepLinks"]}}
        """
      ]
      for (kind, lines) in lines.sorted(by: { $0.key < $1.key }) {
        files[kind] = lines.shuffled(using: &random).joined(separator: "\n")
      }
      self.files = files
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
}
