import BatchConfiguration
import BatchFoundation
import EngageEvents
import TestSupport
import Testing

@testable import BatchIngest
@testable import BatchMaps

@Suite struct PresetTests {
  struct Case: CustomTestStringConvertible, Sendable {
    var preset: String
    var kind = InputKind.events
    /// Of each line, the record's time of day and its type, action or refusal.
    var outcomes: [String]

    var testDescription: String { preset }
  }

  private static let snowplow = [
    "15:00:00.000 launch", "15:00:01.000 foreground", "15:00:02.500 namedEvent Screen Home",
    "15:01:00.000 pushReceived",
    "15:02:00.000 deepLink", "15:03:00.000 namedEvent basket_filled", "15:04:00.000 namedEvent add-to-basket",
    "left out: no act of a person in the app", "15:06:00.000 background",
  ]

  static let cases = [
    Case(
      preset: "segment",
      outcomes: [
        "08:00:00.000 launch", "08:00:30.000 notificationOpened", "08:01:00.000 namedEvent Screen Cart",
        "08:02:00.000 setMobileUserId", "08:03:00.000 goalCompleted Order Completed",
        "left out: no call of a mobile app", "08:05:00.000 background",
      ]),
    Case(
      preset: "rudderstack",
      outcomes: [
        "09:00:00.000 foreground", "09:00:10.000 namedEvent Product Viewed", "left out: no call of a mobile app",
      ]),
    Case(
      preset: "ga4",
      outcomes: [
        "08:00:00.000 launch", "08:01:00.123 notificationOpened", "08:02:00.000 namedEvent select_item",
        "left out: measured by the service itself",
      ]),
    Case(
      preset: "amplitude",
      outcomes: [
        "10:00:00.120 foreground", "10:01:00.000 namedEvent Add to cart",
        "left out: a change of properties at the service", "10:02:00.000 background",
      ]),
    Case(
      preset: "mixpanel",
      outcomes: [
        "10:00:00.000 namedEvent firstOpen", "10:01:00.000 notificationOpened", "10:02:00.000 namedEvent Signed up",
        "left out: no act of a person in the app",
      ]),
    Case(
      preset: "mparticle",
      outcomes: [
        "11:00:00.000 launch", "11:01:00.000 namedEvent Opened cart", "left out: no event that a record stands for",
      ]),
    Case(preset: "snowplow", outcomes: snowplow), Case(preset: "snowplow-tsv", outcomes: snowplow),
    Case(
      preset: "airship",
      outcomes: [
        "12:00:00.000 notificationOpened", "12:00:00.000 foreground", "12:01:00.000 namedEvent purchase",
        "12:02:00.000 background", "left out: no event that a record stands for",
      ]),
    Case(
      preset: "onesignal", kind: .notifications,
      outcomes: ["12:00:00.000 opened", "left out: no push that a device received or opened"]),
    Case(
      preset: "acoustic",
      outcomes: [
        "16:00:00.000 launch", "16:00:01.000 foreground", "16:01:00.000 notificationOpened",
        "16:02:00.000 namedEvent Basket filled", "16:03:00.000 pushReceived",
        "16:03:30.000 pushEnabled", "16:04:00.000 background",
      ]),
    Case(preset: "fcm", kind: .notifications, outcomes: ["13:00:00.000 opened", "13:10:00.000 received"]),
    Case(preset: "apns", kind: .notifications, outcomes: ["14:00:00.000 opened", "14:01:40.000 received"]),
  ]

  @Test func codesOfAcousticAreReadAsCodeToo() throws {
    let made = outcomes(
      of: try preset("acoustic"),
      [93, 94, 95, 104].map {
        #"{"code":\#($0),"timestamp":"2026-01-15T16:00:00Z","attributes":[{"name":"channelId","value":"c-1"},{"name":"appKey","value":"k-1"},{"name":"name","value":"n"}]}"#
      })
    let records = try made.map { try JSONNode.read(Array($0.utf8), source: "line") }
    #expect(records.map { $0["type"]?.string } == ["pushReceived", "notificationOpened", "namedEvent", "pushDisabled"])
    #expect(records.allSatisfy { $0["channelId"]?.string == "c-1" && $0["appKey"]?.string == "k-1" })
  }

  @Test(arguments: cases) func theSampleBecomesRecords(_ example: Case) throws {
    var reader = LineReader(EngageVocabulary())
    let map = try preset(example.preset)
    let found = outcomes(of: map, try records(of: map))
    let shown = try found.map { line in
      guard line.hasPrefix("{") else { return line }
      var head = RecordHead()
      let refusal = unsafe Array(line.utf8).withUnsafeBufferPointer {
        unsafe reader.read($0, kind: example.kind, position: RecordPosition(file: 0, line: 1), into: &head)
      }
      #expect(refusal == nil, "\(line)")
      let node = try JSONNode.read(Array(line.utf8), source: "line")
      let time = String(node["timestamp"].dropFirst(11).dropLast())
      return [time, node["type"] + node["action"], node["name"]].filter { !$0.isEmpty }.joined(separator: " ")
    }
    #expect(shown == example.outcomes)
    #expect(reader.unknownFields.isEmpty, "\(reader.unknownFields)")
  }

  @Test func segmentLinesAreCanonical() throws {
    let records = try Checkout.text("samples/maps/segment.ndjson").split(separator: "\n").map(String.init)
    let lines = outcomes(of: try preset("segment"), records)
    #expect(
      lines[1]
        == #"{"deviceId":"B5372DB0-C21E-11E4-8DFC-AA07A5B093DB","params":{"action":"Accept"},"payload":{"CurrentCampaign":"Winter sale","aps":{"alert":"Everything must go"}},"recordId":"m-2","timestamp":"2026-01-15T08:00:30.000Z","type":"notificationOpened"}"#
    )
    #expect(
      lines[4]
        == #"{"deviceId":"B5372DB0-C21E-11E4-8DFC-AA07A5B093DB","mobileUserId":"user-7","name":"Order Completed","params":{"order_id":"o-1","revenue":25.5},"recordId":"m-5","timestamp":"2026-01-15T08:03:00.000Z","type":"goalCompleted"}"#
    )
  }

  @Test func membersThatAreReadByTheirBeginningAreRead() throws {
    let map = try read(#"{"fields": {"deviceId": "a_*.d", "name": "b.*"}}"#).map
    #expect(
      map.unreadMembers(of: Array(#"{"a_1": {"d": 1, "e": 2}, "a": {"d": 1}, "b": {"c": 3}}"#.utf8)) == [
        "a_1.e", "a.d",
      ])
  }

  @Test func aMapThatTakesAllOthersReadsAll() throws {
    let map = try read(
      #"{"form": "json", "fields": {"deviceId": "d"}, "rules": [{"type": {"constant": "namedEvent"}, "fields": {"params": {"others": "$"}}}]}"#
    ).map
    #expect(map.unreadMembers(of: Array(#"{"d": 1, "e": {"f": 2}}"#.utf8)).isEmpty)
  }

  @Test func aListOfLinksIsReadByAMapThatSaysWhose() throws {
    let map = try read(Checkout.text("samples/maps/links.json")).map
    let links = try Checkout.text("samples/maps/links.txt").split(separator: "\n").map(String.init)
    #expect(
      outcomes(of: map, links)[0]
        == #"{"deviceId":"link-check","timestamp":"2026-01-15T08:00:00.000Z","url":"https://shop.example/sale?CurrentCampaign=Winter"}"#
    )
  }

  /// Rows are the same records as the objects that the analytics SDKs make of them.
  @Test func snowplowsRowsAreItsObjects() throws {
    let (rows, objects) = (try preset("snowplow-tsv"), try preset("snowplow"))
    let lines = outcomes(of: rows, try records(of: rows))
    #expect(lines[..<6] == outcomes(of: objects, try records(of: objects))[..<6])
    #expect(
      lines[5]
        == #"{"device":{"appName":"shop","appVersion":"5.0.0","name":"iPhone16,2","osName":"ios","osVersion":"18.1","version":"iPhone16,2"},"deviceId":"5d79770b-015b-4af8-8c91-b2ed6faf4b1e","mobileUserId":"user-7","name":"basket_filled","params":{"items":3,"total.amount":25.5,"total.currency":"GBP"},"recordId":"00000006-5d79-4b1e-8c91-b2ed6faf4b1e","timestamp":"2026-01-15T15:03:00.000Z","type":"namedEvent"}"#
    )
    #expect(lines[6].contains(#""params":{"category":"shop","label":"\"Large\" one","value":"2.5"}"#))
  }
}

extension JSONNode {
  /// The text of a member; empty where there is none.
  fileprivate subscript(key: String) -> String {
    guard case .object(let members) = value, let member = members.first(where: { $0.key == key }),
      case .string(let text) = member.value.value
    else { return "" }
    return text
  }
}
