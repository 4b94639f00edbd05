import BatchConfiguration
import BatchFoundation
import EngageEvents
import TestSupport
import Testing

@testable import BatchIngest
@testable import BatchMaps

@Suite struct PresetTests {
  struct Case: CustomTestStringConvertible, Sendable {
    var preset: Preset
    var kind = InputKind.events
    /// Of each line, the record's time of day and its type, action or refusal.
    var outcomes: [String]

    var testDescription: String { preset.rawValue }
  }

  static let cases = [
    Case(
      preset: .segment,
      outcomes: [
        "08:00:00.000 launch", "08:00:30.000 notificationOpened", "08:01:00.000 namedEvent Screen Cart",
        "08:02:00.000 setMobileUserId", "08:03:00.000 goalCompleted Order Completed",
        "left out: no call of a mobile app", "08:05:00.000 background",
      ]),
    Case(
      preset: .rudderstack,
      outcomes: [
        "09:00:00.000 foreground", "09:00:10.000 namedEvent Product Viewed", "left out: no call of a mobile app",
      ]),
    Case(
      preset: .ga4,
      outcomes: [
        "08:00:00.000 launch", "08:01:00.123 notificationOpened", "08:02:00.000 namedEvent select_item",
        "left out: measured by the service itself",
      ]),
    Case(
      preset: .amplitude,
      outcomes: [
        "10:00:00.120 foreground", "10:01:00.000 namedEvent Add to cart",
        "left out: a change of properties at the service", "10:02:00.000 background",
      ]),
    Case(
      preset: .mixpanel,
      outcomes: [
        "10:00:00.000 launch", "10:01:00.000 notificationOpened", "10:02:00.000 namedEvent Signed up",
        "left out: no act of a person in the app",
      ]),
    Case(
      preset: .mparticle,
      outcomes: [
        "11:00:00.000 launch", "11:01:00.000 namedEvent Opened cart", "left out: no event that a record stands for",
      ]),
    Case(
      preset: .airship,
      outcomes: [
        "12:00:00.000 notificationOpened", "12:00:00.000 foreground", "12:01:00.000 namedEvent purchase",
        "12:02:00.000 background", "left out: no event that a record stands for",
      ]),
    Case(
      preset: .onesignal, kind: .notifications,
      outcomes: ["12:00:00.000 opened", "left out: no push that a device received or opened"]),
    Case(preset: .fcm, kind: .notifications, outcomes: ["13:00:00.000 opened", "13:10:00.000 received"]),
    Case(preset: .apns, kind: .notifications, outcomes: ["14:00:00.000 opened", "14:01:40.000 received"]),
  ]

  @Test(arguments: cases) func theSampleBecomesRecords(_ example: Case) throws {
    let records = try Checkout.text("samples/maps/\(example.preset.rawValue).ndjson").split(separator: "\n").map(
      String.init)
    var reader = LineReader(EngageVocabulary())
    let found = outcomes(of: try preset(example.preset), records)
    let shown = try found.map { line in
      guard line.hasPrefix("{") else { return line }
      var head = RecordHead()
      let refusal = unsafe Array(line.utf8).withUnsafeBufferPointer {
        unsafe reader.read($0, kind: example.kind, position: RecordPosition(file: 0, line: 1), into: &head)
      }
      #expect(refusal == nil, "\(line)")
      let node = try DocumentNode.read(Array(line.utf8), source: "line")
      let time = String(node["timestamp"].dropFirst(11).dropLast())
      return [time, node["type"] + node["action"], node["name"]].filter { !$0.isEmpty }.joined(separator: " ")
    }
    #expect(shown == example.outcomes)
    #expect(reader.unknownFields.isEmpty, "\(reader.unknownFields)")
  }

  @Test func segmentLinesAreCanonical() throws {
    let records = try Checkout.text("samples/maps/segment.ndjson").split(separator: "\n").map(String.init)
    let lines = outcomes(of: try preset(.segment), records)
    #expect(
      lines[1]
        == #"{"deviceId":"B5372DB0-C21E-11E4-8DFC-AA07A5B093DB","params":{"action":"Accept"},"payload":{"CurrentCampaign":"Winter sale","aps":{"alert":"Everything must go"}},"recordId":"m-2","timestamp":"2026-01-15T08:00:30.000Z","type":"notificationOpened"}"#
    )
    #expect(
      lines[4]
        == #"{"deviceId":"B5372DB0-C21E-11E4-8DFC-AA07A5B093DB","mobileUserId":"user-7","name":"Order Completed","params":{"order_id":"o-1","revenue":25.5},"recordId":"m-5","timestamp":"2026-01-15T08:03:00.000Z","type":"goalCompleted"}"#
    )
  }

  /// Every record comes out as something, whatever happens to its bytes.
  @Test func mutatedSamplesLoseNothing() throws {
    var random = SplitMix64(seed: 46)
    for preset in Preset.allCases {
      let map = try BatchMapsTests.preset(preset)
      let sample = Array(try Checkout.text("samples/maps/\(preset.rawValue).ndjson").utf8)
      let lines = sample.split(separator: UInt8(ascii: "\n"))
      for _ in 0..<200 {
        var bytes = Array(lines[Int(random.next() % UInt64(lines.count))])
        for _ in 0...(random.next() % 4) {
          let place = Int(random.next() % UInt64(bytes.count))
          switch random.next() % 3 {
          case 0: bytes[place] = UInt8(truncatingIfNeeded: random.next())
          case 1: bytes.remove(at: place)
          default: bytes.insert(UInt8(truncatingIfNeeded: random.next() % 95 + 32), at: place)
          }
        }
        let mapper = map.makeMapper()
        var outcomes = MappedOutcomes()
        unsafe bytes.withUnsafeBufferPointer { unsafe mapper.map($0, into: &outcomes) }
        #expect(outcomes.count > 0)
      }
    }
  }
}

extension DocumentNode {
  /// The text of a member; empty where there is none.
  fileprivate subscript(key: String) -> String {
    guard case .dictionary(let members) = value, let member = members.first(where: { $0.key == key }),
      case .string(let text) = member.node.value
    else { return "" }
    return text
  }
}
