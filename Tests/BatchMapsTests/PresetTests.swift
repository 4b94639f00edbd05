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
    #expect(reader.unknownFields.isEmpty, "\(reader.unknownFields)")
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

  static let nobody = "00000000-0000-0000-0000-000000000000"

  /// What each vendor's records are in another form of theirs, and as a warehouse may write the names of their members.
  @Test(
    arguments: [
      (
        "segment", #"{"type":"track","event":"E","anonymousid":"a","userid":"u","messageid":"m","timestamp":"T"}"#,
        #"{"deviceId":"a","mobileUserId":"u","name":"E","recordId":"m","timestamp":"T","type":"namedEvent"}"#
      ),
      (
        "rudderstack",
        #"{"batch":[{"TYPE":"track","EVENT":"E","ANONYMOUS_ID":"a","USER_ID":"0","CONTEXT":{"device":{"id":"0"}},"TIMESTAMP":"T","PROPERTIES":{"a":{"b":null,"c":1}}}]}"#,
        #"{"deviceId":"a","name":"E","params":{"a.c":1},"timestamp":"T","type":"namedEvent"}"#
      ),
      (
        "mparticle",
        #"{"mpid":7,"mp_deviceid":"0","user_identities":[{"identity_type":"email","identity":"e"},{"identity_type":"customer_id","identity":"c"}],"events":[{"event_type":"custom_event","data":{"event_name":"E","event_id":-5,"timestamp_unixtime_ms":1768464000000}}]}"#,
        #"{"deviceId":"7","mobileUserId":"c","name":"E","recordId":"-5","timestamp":"T","type":"namedEvent"}"#
      ),
      (
        "snowplow",
        #"{"event_id":"i","event_name":"e","network_userid":"n","derived_tstamp":"T","contexts_com_snowplowanalytics_snowplow_client_session_1_0_2":[{"user_id":"s"}],"contexts_com_snowplowanalytics_snowplow_mobile_context_1_0_2":[{"os_type":"ios","device_model":"m"}]}"#,
        #"{"device":{"name":"m","osName":"ios","version":"m"},"deviceId":"s","name":"e","recordId":"i","timestamp":"T","type":"namedEvent"}"#
      ),
      (
        "snowplow",
        #"{"EVENT_ID":"i","EVENT":"transaction","EVENT_NAME":"transaction","DOMAIN_USERID":"d","DERIVED_TSTAMP":"T","TR_TOTAL":2.50}"#,
        #"{"deviceId":"d","name":"transaction","params":{"tr_total":2.50},"recordId":"i","timestamp":"T","type":"goalCompleted"}"#
      ),
      (
        "ga4",
        #"{"EVENT_TIMESTAMP":1768464000000000,"EVENT_NAME":"e","USER_PSEUDO_ID":"0","DEVICE":{"vendor_id":"v"},"EVENT_PARAMS":[{"key":"a","value":{"string_value":null,"int_value":1}},{"key":"b","value":{"string_value":null}}]}"#,
        #"{"deviceId":"v","name":"e","params":{"a":1},"recordId":{"time":"1768464000000000"},"timestamp":"T","type":"namedEvent"}"#
      ),
      (
        "ga4",
        #"{"event_timestamp":"1768464000000900","event_name":"notification_open","user_pseudo_id":"p","batch_page_id":7,"batch_event_index":"3","event_params":{"list":[{"element":{"key":"message_name","value":{"string_value":"spring"}}}]}}"#,
        #"{"deviceId":"p","params":{"message_name":"spring"},"payload":{"CurrentCampaign":"spring","aps":{}},"recordId":{"batch":"7/3","time":"1768464000000900"},"timestamp":"T","type":"notificationOpened"}"#
      ),
      (
        "ga4",
        #"{"event_timestamp":1768464000000000,"event_name":"e","device":"{\"vendor_id\": \"v\", \"operating_system\": \"iOS\"}","event_params":" [{\"key\": \"a\", \"value\": {\"int_value\": 1}}]"}"#,
        #"{"device":{"osName":"iOS"},"deviceId":"v","name":"e","params":{"a":1},"recordId":{"time":"1768464000000000"},"timestamp":"T","type":"namedEvent"}"#
      ),
      (
        "segment",
        #"{"batch":[{"type":"track","event":"e","messageId":"i","timestamp":"T","context":"{\"os\": {\"name\": \"iOS\"}}","properties":"{\"a\": {\"b\": null, \"c\": 1}}"}],"context":"{\"device\": {\"id\": \"d\"}}"}"#,
        #"{"device":{"osName":"iOS"},"deviceId":"d","name":"e","params":{"a.c":1},"recordId":"i","timestamp":"T","type":"namedEvent"}"#
      ),
      (
        "amplitude",
        #"{"device_id":"d","event_type":"[Amplitude] Deep Link Opened","time":"T","event_properties":"{\"[Amplitude] Link URL\": \"app://x\"}"}"#,
        #"{"deviceId":"d","timestamp":"T","type":"deepLink","url":"app://x"}"#
      ),
      (
        "apns", #"{"token":"t","time":"T","payload":"{\"aps\": {\"alert\": \"A\"}, \"k\": 1}"}"#,
        #"{"action":"received","deviceId":"t","payload":{"aps":{"alert":"A"},"k":1},"timestamp":"T"}"#
      ),
      (
        "apns", #"{"token":"t","time":"T","aps":"{\"alert\": {\"body\": \"B\"}, \"badge\": 1}","k":1}"#,
        #"{"action":"received","deviceId":"t","payload":{"aps":{"alert":{"body":"B"},"badge":1},"k":1},"timestamp":"T"}"#
      ),
      (
        "apns", #"{"token":"t","time":"T","payload":{"aps":"{\"content-available\": 1}"}}"#,
        #"{"action":"received","deviceId":"t","payload":{"aps":{"content-available":1}},"timestamp":"T"}"#
      ),
      (
        "fcm",
        #"{"token":"t","time":"T","message":{"data":{"k":"v"},"notification":{"click_action":"app://x?CurrentCampaign=s"}}}"#,
        #"{"action":"received","deviceId":"t","payload":{"click_action":"app://x?CurrentCampaign=s","k":"v"},"timestamp":"T"}"#
      ),
      (
        "amplitude",
        #"{"DEVICE_ID":"0","AMPLITUDE_ID":12.0,"EVENT_TYPE":"e","UUID":"i","CLIENT_EVENT_TIME":"T","EVENT_PROPERTIES":{"a":null}}"#,
        #"{"deviceId":"12","name":"e","recordId":"i","timestamp":"T","type":"namedEvent"}"#
      ),
      (
        "mixpanel",
        #"{"event":"e","properties":{"$device_id":"0","distinct_id":"d","$user_id":"0","time":1768464000.0,"a":{"b":null}}}"#,
        #"{"deviceId":"d","name":"e","timestamp":"T","type":"namedEvent"}"#
      ),
      (
        "segment",
        #"{"context":{"device":{"id":"d"},"os":{"name":"iOS"}},"batch":[{"type":"track","event":"e","messageId":"i","timestamp":"T"}]}"#,
        #"{"device":{"osName":"iOS"},"deviceId":"d","name":"e","recordId":"i","timestamp":"T","type":"namedEvent"}"#
      ),
      (
        "segment",
        #"{"type":"track","event":"Push Notification Tapped","anonymousId":"d","timestamp":"T","properties":{"campaign":"spring"}}"#,
        #"{"deviceId":"d","payload":{"CurrentCampaign":"spring","aps":{}},"timestamp":"T","type":"notificationOpened"}"#
      ),
      (
        "snowplow",
        #"{"event":"unstruct","event_id":"i","derived_tstamp":"T","event_name":"buy","contexts_com_snowplowanalytics_snowplow_client_session_1_0_1":[],"contexts_com_snowplowanalytics_snowplow_client_session_1_0_2":[{"user_id":"d"}],"unstruct_event_com_acme_add_1":{"n":null},"unstruct_event_com_acme_buy_1":{"price":5}}"#,
        #"{"deviceId":"d","name":"buy","params":{"price":5},"recordId":"i","timestamp":"T","type":"namedEvent"}"#
      ),
      (
        "mparticle",
        #"{"MPID":"1","USER_IDENTITIES":[{"IDENTITY_TYPE":"CustomerId","IDENTITY":"u"}],"EVENTS":[{"EVENT_TYPE":"custom_event","DATA":{"EVENT_NAME":"e","TIMESTAMP_UNIXTIME_MS":1768464000000}}]}"#,
        #"{"deviceId":"1","mobileUserId":"u","name":"e","timestamp":"T","type":"namedEvent"}"#
      ),
      (
        "fcm", #"{"to":"/topics/news","device":"t","time":"T","data":{"k":"v"}}"#,
        #"{"action":"received","deviceId":"t","payload":{"k":"v"},"timestamp":"T"}"#
      ),
      (
        "fcm", #"{"to":"/topics/news","time":"T","data":{"k":"v"}}"#,
        #"{"action":"received","payload":{"k":"v"},"timestamp":"T"}"#
      ),
      (
        "mixpanel", #"{"event":"e","properties":{"distinct_id":"$device:d","time":1768464000}}"#,
        #"{"deviceId":"d","name":"e","timestamp":"T","type":"namedEvent"}"#
      ),
      (
        "mparticle",
        #"{"mpid":"1","user_identities":{"customerid":"u","email":"x"},"events":[{"event_type":"custom_event","data":{"event_name":"e","timestamp_unixtime_ms":1768464000000}}]}"#,
        #"{"deviceId":"1","mobileUserId":"u","name":"e","timestamp":"T","type":"namedEvent"}"#
      ),
      (
        "acoustic",
        #"{"eventTypeCode":95.0,"eventTimestamp":"T","attributes":[{"name":"customEventName","value":"e"},{"name":"channelId","value":"c"},{"name":"mobileUserId","value":"0"},{"name":"n","value":null}]}"#,
        #"{"channelId":"c","deviceId":"c","name":"e","params":{"customEventName":"e"},"timestamp":"T","type":"namedEvent"}"#
      ),
      (
        "airship",
        #"{"id":"i","type":"CUSTOM","occurred":"T","device":{"channel":"0","ios_channel":"c","named_user_id":"0"},"body":{"name":"e","value":null,"properties":{"a":null,"b":1}}}"#,
        #"{"deviceId":"c","name":"e","params":{"b":1},"recordId":"i","timestamp":"T","type":"namedEvent"}"#
      ),
      (
        "onesignal",
        #"{"event":{"kind":"message.push.clicked","id":"i","datetime":"T","subscription_id":"0","onesignal_id":"p"},"subscription":{"id":"o"},"message":{"contents":"text"}}"#,
        #"{"action":"opened","deviceId":"o","payload":{"aps":{"alert":"text"}},"recordId":"i","timestamp":"T"}"#
      ),
      (
        "fcm",
        #"{"token":"t","time":"T","action":"opened","name":"spring push","message":{"data":{"k":"v"},"android":{"notification":{"title":"T1","body":"a"},"data":{"l":"w"}}}}"#,
        #"{"action":"opened","deviceId":"t","payload":{"aps":{"alert":"a"},"k":"v","l":"w"},"timestamp":"T"}"#
      ),
      (
        "fcm", #"{"token":"t","time":"T","apns":{"payload":{"aps":{"alert":"B","badge":1},"k":null}}}"#,
        #"{"action":"received","deviceId":"t","payload":{"aps":{"alert":"B","badge":1}},"timestamp":"T"}"#
      ),
      (
        "fcm",
        #"{"token":"t","time":"T","message":{"apns":{"payload":{"aps":{"alert":{"loc-key":"L"}}}},"notification":{"body":"N"}}}"#,
        #"{"action":"received","deviceId":"t","payload":{"aps":{"alert":"N"}},"timestamp":"T"}"#
      ),
      (
        "apns", #"{"token":"t","time":"T","aps":{"alert":null,"badge":null}}"#,
        #"{"action":"received","deviceId":"t","payload":{"aps":{}},"timestamp":"T"}"#
      ),
      (
        "mixpanel", #"{"event":"e","properties":{"$device_id":"0","distinct_id":"$device:0","time":1768464000}}"#,
        #"{"name":"e","timestamp":"T","type":"namedEvent"}"#
      ),
      (
        "apns",
        #"{"device_token":"0","token":"t","time":"T","action":"com.apple.UNNotificationDefaultActionIdentifier","aps":{"alert":"A","badge":null},"a":{"b":null,"c":[1,null]}}"#,
        #"{"action":"opened","deviceId":"t","payload":{"a":{"c":[1,null]},"aps":{"alert":"A"}},"timestamp":"T"}"#
      ),
    ])
  func otherFormsOfAVendorAreTheSameRecords(preset name: String, record: String, line: String) throws {
    let time = "2026-01-15T08:00:00.000Z"
    let given = record.replacing(#":0""#, with: ":\(Self.nobody)\"").replacing(#""0""#, with: "\"\(Self.nobody)\"")
      .replacing(#""T""#, with: "\"\(time)\"")
    #expect(outcomes(of: try preset(name), [given]) == [line.replacing(#""T""#, with: "\"\(time)\"")])
    let plain = given.replacing(Self.nobody, with: Self.nobody.filter { $0 != "-" })
    #expect(outcomes(of: try preset(name), [plain]) == [line.replacing(#""T""#, with: "\"\(time)\"")])
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
