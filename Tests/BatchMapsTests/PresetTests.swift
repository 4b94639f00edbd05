import BatchConfiguration
import BatchFoundation
import EngageRules
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
    var reader = LineReader(RecordVocabulary.engage)
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
    #expect(reader.decoder.unknownFields.sorted == [])
  }

  /// What of a line tells one from another: its type or action, or why there is none.
  private func becomes(_ name: String, _ records: [String], as kind: InputKind = .events) throws -> [String] {
    var reader = LineReader(RecordVocabulary.engage)
    return try outcomes(of: preset(name), records).map { line in
      guard line.hasPrefix("{") else { return line }
      var head = RecordHead()
      let refusal = unsafe Array(line.utf8).withUnsafeBufferPointer {
        unsafe reader.read($0, kind: kind, position: RecordPosition(file: 0, line: 1), into: &head)
      }
      if let refusal { return "\(refusal.reason.rawValue) \(refusal.field ?? "")" }
      let node = try JSONNode.read(Array(line.utf8), source: "line")
      return node["type"] + node["action"]
    }
  }

  /// One that was sent was an open, and so was one of which nobody knew what it was.
  @Test func anActionAloneOpensAPushOfMparticle() throws {
    func event(_ members: String) -> String {
      #"{"mpid":"1","events":[{"event_type":"push_message","data":{\#(members),"timestamp_unixtime_ms":1768474800000}}]}"#
    }
    let found = try becomes(
      "mparticle",
      [
        event(#""push_message_type":"action","push_message_behavior":"Received""#),
        event(#""push_message_type":"received","push_message_behavior":"DirectOpen""#),
        event(#""push_message_type":"sent""#),
        event(#""push_message_type":"unknown""#), event(#""push_message_behavior":"DirectOpen""#),
        event(#""push_message_behavior":"InfluencedOpen""#),
      ])
    let others = "left out: no push that a device received or opened"
    #expect(found == ["notificationOpened", "pushReceived", others, others, "notificationOpened", others])
  }

  /// They were taken for one event, which no rule took.
  @Test func aBatchWithoutEventsIsLeftOut() throws {
    #expect(
      try becomes("mparticle", [#"{"mpid":"1","events":null}"#, #"{"mpid":"1"}"#, #"{"x":1}"#]) == [
        "left out: no elements in 'events'", "left out: no elements in 'events'", "refused: no-rule",
      ])
  }

  /// All but four spellings were a receipt.
  @Test(arguments: ["fcm", "apns"]) func anOpenIsOneHoweverItIsSpelled(_ name: String) throws {
    let opens = ["opened", "Opened", "OPENED", "notification_open", "MESSAGE_OPEN", "Tapped", "clicked"]
    let received = ["received", "MESSAGE_DELIVERED", "Delivered"]
    func records(_ values: [String], _ member: String = "action") -> [String] {
      values.map {
        #"{"deviceId":"d","timestamp":1768474800000,"\#(member)":"\#($0)","payload":{"aps":{},"data":{"a":1}}}"#
      }
    }
    #expect(try Set(becomes(name, records(opens), as: .notifications)) == ["opened"])
    #expect(try Set(becomes(name, records(opens, "event"), as: .notifications)) == ["opened"])
    #expect(try Set(becomes(name, records(received), as: .notifications)) == ["received"])
    #expect(try Set(becomes(name, records(["dismissed", "sale"]), as: .notifications)) == ["unknown-type action"])
    #expect(try becomes(name, records(["x"], "other"), as: .notifications) == ["received"])
    let constants = [
      "com.apple.UNNotificationDefaultActionIdentifier", "com.apple.UNNotificationDismissActionIdentifier",
    ]
    for member in ["action", "event", "actionIdentifier", "actionID"] {
      #expect(
        try becomes(name, records(constants + ["REPLY"], member), as: .notifications)
          == ["opened", "left out: a dismissal", "unknown-type action"])
    }
  }

  /// A person's mail was a device with sessions.
  @Test func whatNoAppDidIsLeftOut() throws {
    func airship(_ type: String) -> String {
      #"{"type":"OPEN","occurred":"2026-01-15T12:00:00Z","device":{"channel":"c","device_type":"\#(type)"},"body":{}}"#
    }
    let channel = "left out: of a channel that is no app's device"
    #expect(
      try becomes("airship", ["IOS", "ANDROID", "AMAZON", "EMAIL", "SMS", "WEB", "OPEN"].map(airship))
        == ["foreground", "foreground", "foreground", channel, channel, channel, channel])
    func oneSignal(_ type: String) -> String {
      #"{"event":{"kind":"message.push.clicked","datetime":"2026-01-15T12:00:00Z","subscription_id":"s","subscription_device_type":"\#(type)"}}"#
    }
    let browser = "left out: of a web browser, no app"
    #expect(
      try becomes(
        "onesignal", ["iOS", "Android", "Web", "ChromePush", "SafariPush", "FirefoxPush"].map(oneSignal),
        as: .notifications) == ["opened", "opened", browser, browser, browser, browser])
    func ga4(_ platform: String) -> String {
      #"{"event_name":"page_view","event_timestamp":1768464000000000,"user_pseudo_id":"a","platform":"\#(platform)"}"#
    }
    #expect(try becomes("ga4", ["IOS", "WEB"].map(ga4)) == ["namedEvent", "left out: of a web site, no app"])
  }

  @Test func whatACustomEventOfAirshipIsWorthIsItsParameter() throws {
    let record =
      #"{"type":"CUSTOM","occurred":"2026-01-15T12:00:00Z","device":{"channel":"c"},"body":{"name":"n","value":9.5,"transaction":"t","session_id":"s","properties":{"a":1}}}"#
    #expect(
      try outcomes(of: preset("airship"), [record])[0].contains(#""params":{"a":1,"transaction":"t","value":9.5}"#))
  }

  /// Also where only a test asks for it, or another source had the value.
  @Test func whatTheLineHasNotIsNotRead() throws {
    let map = try preset("segment")
    let opened =
      #"{"type":"track","event":"Application Opened","anonymousId":"1","properties":{"version":"5"},"context":{"device":{"id":"2","x":null}}}"#
    #expect(map.unreadMembers(of: Array(opened.utf8)) == ["type", "event", "anonymousId", "properties.version"])
    let left = #"{"type":"group","event":"x","groupId":"1","name":"n"}"#
    #expect(map.unreadMembers(of: Array(left.utf8)) == [])
  }
}

extension JSONNode {
  static func text(of key: String, in line: String) -> String? {
    (try? JSONNode.parse(Array(line.utf8))).map { $0[key] as String }.flatMap { $0.isEmpty ? nil : $0 }
  }

  /// The text of a member; empty where there is none.
  subscript(key: String) -> String {
    guard case .object(let members) = value, let member = members.first(where: { $0.key == key }),
      case .string(let text) = member.value.value
    else { return "" }
    return text
  }
}
