import BatchFoundation
import Testing

@testable import BatchIngest
@testable import EngageRules

/// Decodes one line; the record's text lives as long as the closure runs.
func decoding(
  _ line: [UInt8], _ kind: InputKind, maxLineBytes: Int = 16 << 20, _ body: (Rejection?, Record) throws -> Void
) rethrows {
  var reader = LineReader(RecordVocabulary.engage, maxLineBytes: maxLineBytes)
  let records = RecordBuffer()
  let position = RecordPosition(file: 0, line: 1)
  var head = RecordHead()
  try line.withUnsafeBufferPointer { bytes in
    if let rejection = reader.read(bytes, kind: kind, position: position, into: &head) {
      return try body(rejection, .blank)
    }
    _ = records.keep(head, of: SourceLine(text: .empty, kind: kind, position: position), reader)
    try records.withRecords { device in try body(nil, Record(device.records[0])) }
  }
}

@Suite struct RecordDecoderTests {
  struct Case: CustomTestStringConvertible, Sendable {
    var line: String
    var kind: InputKind
    var expected: String

    init(_ line: String, _ expected: String, _ kind: InputKind = .events) {
      self.line = line
      self.expected = expected
      self.kind = kind
    }

    var testDescription: String { String(line.prefix(120)) }
  }

  private func outcome(_ line: [UInt8], _ kind: InputKind, maxLineBytes: Int = 16 << 20) -> String {
    var outcome = ""
    decoding(line, kind, maxLineBytes: maxLineBytes) { rejection, record in
      if let rejection {
        outcome = "\(rejection.reason.rawValue) \(rejection.field ?? "")"
      } else {
        outcome = "\(record.type) \(record.subject?.description ?? "")"
        if let use = record.use { outcome += "use=\(use) " }
        if let export = record.export { outcome += "export=\(export)" }
      }
      while outcome.hasSuffix(" ") { outcome.removeLast() }
    }
    return outcome
  }

  private static let head = #""deviceId":"d","timestamp":1"#

  @Test(arguments: [
    Case("\u{7B}\(head)", "invalid-json"), Case("nonsense", "invalid-json"), Case("[1]", "not-an-object"),
    Case(#"["\ud800"]"#, "invalid-utf8"), Case(#"{"a":"\ud800"}"#, "invalid-utf8"),
    Case(#"{"a":"\ud800","#, "invalid-utf8"), Case(#"{"a" 1,"b":"\ud800"}"#, "invalid-json"),
    Case(#"["\u0000"]"#, "not-an-object"),
    Case(#"{"a":1,"a":"\u0000"}"#, "duplicate-key"), Case(#"{"a":{"b":1,"\u0062":2}}"#, "duplicate-key"),
    Case(#"{"a":"\u0000","b":1e999}"#, "nul-character"), Case(#"{"a":1e999}"#, "number-out-of-range"),
    Case("{\"a\":" + String(repeating: "[", count: 64) + String(repeating: "]", count: 64) + "}", "too-deep"),
    Case(
      "{\"a\":" + String(repeating: "[", count: 63) + String(repeating: "]", count: 63) + "}", "missing-field deviceId"),
    Case("{}", "missing-field deviceId"),
    Case(#"{"deviceId":"","timestamp":1,"type":"launch"}"#, "missing-field deviceId"),
    Case(#"{"deviceId":null,"timestamp":1,"type":"launch"}"#, "missing-field deviceId"),
    Case(#"{"deviceId":5,"timestamp":1,"type":"launch"}"#, "wrong-type deviceId"),
    Case(#"{"deviceId":5,"type":"launch"}"#, "missing-field timestamp"),
    Case(#"{"deviceId":"d","type":"launch"}"#, "missing-field timestamp"),
    Case(#"{"deviceId":"d","timestamp":"x"}"#, "missing-field type"),
    Case(#"{"deviceId":"d","timestamp":"x","type":"namedEvent"}"#, "missing-field name"),
    Case(#"{"deviceId":"d","timestamp":"x","type":"namedEvent","name":1}"#, "wrong-type name"),
    Case(#"{"deviceId":"d","timestamp":"x","type":"zap","params":1}"#, "wrong-type params"),
    Case(#"{"deviceId":"d","timestamp":"x","type":"zap"}"#, "invalid-timestamp timestamp"),
    Case(#"{"deviceId":"d","timestamp":true,"type":"zap"}"#, "wrong-type timestamp"),
    Case("{\(head),\"type\":\"zap\"}", "unknown-type type"), Case("{\(head),\"type\":\"\"}", "unknown-type type"),
    Case("{\(head),\"type\":7}", "wrong-type type"), Case("{\(head),\"type\":null}", "missing-field type"),
    Case("{\(head),\"type\":\"launch\",\"params\":[]}", "wrong-type params"),
    Case("{\(head),\"type\":\"launch\",\"device\":\"x\"}", "wrong-type device"),
    Case("{\(head),\"type\":\"launch\",\"device\":{\"name\":1}}", "wrong-type /device/name"),
    Case("{\(head),\"type\":\"launch\",\"device\":{\"name\":null,\"zap\":1}}", "launch"),
    Case("{\(head),\"type\":\"launch\",\"mobileUserId\":1}", "wrong-type mobileUserId"),
    Case("{\(head),\"type\":\"launch\",\"anonymousId\":{}}", "wrong-type anonymousId"),
    Case("{\(head),\"type\":\"launch\",\"recipientId\":false}", "wrong-type recipientId"),
    Case("{\(head),\"type\":\"goalCompleted\",\"name\":\"\"}", "goalCompleted"),
    Case("{\(head),\"type\":\"goalAbandoned\",\"name\":\"n\"}", "goalAbandoned n"),
    Case("{\(head),\"type\":\"pushReceived\"}", "missing-field payload"),
    Case("{\(head),\"type\":\"pushReceived\",\"payload\":\"x\"}", "wrong-type payload"),
    Case("{\(head),\"type\":\"notificationOpened\",\"payload\":{}}", "notificationOpened"),
    Case("{\(head),\"type\":\"localNotification\",\"payload\":{}}", "missing-field notification"),
    Case("{\(head),\"type\":\"localNotification\",\"notification\":{}}", "localNotification"),
    Case("{\(head),\"type\":\"localNotificationOpened\",\"notification\":{}}", "unknown-type type"),
    Case("{\(head),\"type\":\"deepLink\",\"url\":\"\"}", "deepLink"),
    Case("{\(head),\"type\":\"deepLink\"}", "missing-field url"),
    Case("{\(head),\"type\":\"custom\"}", "missing-field eventTypeCode"),
    Case("{\(head),\"type\":\"custom\",\"eventTypeCode\":\"\"}", "missing-field eventTypeCode"),
    Case("{\(head),\"type\":\"custom\",\"eventTypeCode\":-12}", "custom -12"),
    Case("{\(head),\"type\":\"custom\",\"eventTypeCode\":\"x1\"}", "custom x1"),
    Case("{\(head),\"type\":\"custom\",\"eventTypeCode\":1.0}", "wrong-type eventTypeCode"),
    Case("{\(head),\"type\":\"custom\",\"eventTypeCode\":1e2}", "wrong-type eventTypeCode"),
    Case("{\(head),\"type\":\"custom\",\"eventTypeCode\":true}", "wrong-type eventTypeCode"),
    Case("{\(head),\"type\":\"location\",\"latitude\":\"1\"}", "missing-field longitude"),
    Case("{\(head),\"type\":\"location\",\"latitude\":\"1\",\"longitude\":1}", "wrong-type latitude"),
    Case("{\(head),\"type\":\"location\",\"latitude\":91e1,\"longitude\":-0}", "location"),
    Case("{\(head),\"type\":\"placemark\"}", "placemark"),
    Case("{\(head),\"type\":\"placemark\",\"city\":1}", "wrong-type city"),
    Case("{\(head),\"type\":\"identify\"}", "missing-field ids"),
    Case("{\(head),\"type\":\"contactList\"}", "missing-field contactListId"),
    Case("{\(head),\"type\":\"contactList\",\"contactListId\":\"\"}", "missing-field contactListId"),
    Case("{\(head),\"type\":\"contactList\",\"contactListId\":60001}", "contactList 60001"),
    Case("{\(head),\"type\":\"program\",\"programId\":1.5}", "wrong-type programId"),
    Case("{\(head),\"type\":\"program\",\"programId\":\"70001\"}", "program 70001"),
    Case("{\(head),\"type\":\"optOut\"}", "optOut"),
    Case("{\(head),\"type\":\"optIn\"}", "optIn"),
    Case("{\(head),\"type\":\"OptIn\"}", "unknown-type type"),
    Case("{\(head),\"type\":\"consent\"}", "missing-field use"),
    Case("{\(head),\"type\":\"consent\",\"use\":null,\"export\":\"yes\"}", "wrong-type export"),
    Case("{\(head),\"type\":\"consent\",\"use\":true}", "consent use=true"),
    Case("{\(head),\"type\":\"consent\",\"use\":false,\"export\":true}", "consent use=false export=true"),
    Case("{\(head),\"type\":\"identify\",\"ids\":[]}", "wrong-type ids"),
    Case("{\(head),\"type\":\"identify\",\"ids\":{\"a\":[]}}", "wrong-type ids"),
    Case("{\(head),\"type\":\"identify\",\"ids\":{\"a\":\"x\",\"b\":1,\"c\":true,\"d\":null}}", "identify"),
    Case("{\(head),\"type\":\"identify\",\"ids\":{}}", "identify"),
    Case("{\(head),\"type\":\"setMobileUserId\"}", "missing-field mobileUserId"),
    Case("{\(head),\"type\":\"setMobileUserId\",\"mobileUserId\":\"\"}", "setMobileUserId"),
    Case("  {\(head),\"type\":\"launch\",\"zap\":{\"a\":[1]}}\t", "launch"),
  ])
  func givesTheFirstReasonThatApplies(_ example: Case) {
    #expect(outcome(Array(example.line.utf8), example.kind) == example.expected)
  }

  @Test(arguments: [
    Case("{\(head),\"action\":\"received\",\"payload\":{}}", "pushReceived", .notifications),
    Case("{\(head),\"action\":\"opened\",\"channel\":\"push\",\"payload\":{}}", "notificationOpened", .notifications),
    Case("{\(head),\"action\":\"received\",\"channel\":\"local\",\"payload\":{}}", "localNotification", .notifications),
    Case(
      "{\(head),\"action\":\"opened\",\"channel\":\"local\",\"notification\":{}}", "localNotificationOpened",
      .notifications),
    Case("{\(head),\"action\":\"opened\",\"channel\":\"local\"}", "missing-field payload", .notifications),
    Case("{\(head),\"action\":\"opened\"}", "missing-field payload", .notifications),
    Case("{\(head),\"payload\":{}}", "missing-field action", .notifications),
    Case("{\(head),\"action\":\"seen\",\"payload\":{}}", "unknown-type action", .notifications),
    Case("{\(head),\"action\":\"seen\",\"payload\":3}", "wrong-type payload", .notifications),
    Case("{\(head),\"action\":1,\"payload\":{}}", "wrong-type action", .notifications),
    Case("{\(head),\"action\":\"opened\",\"channel\":1,\"payload\":{}}", "wrong-type channel", .notifications),
    Case("{\(head),\"url\":\"u\"}", "deepLink u", .deepLinks), Case("{\(head)}", "missing-field url", .deepLinks),
    Case("2026-01-01T00:00:00Z\td\tapp://x\ty", "deepLink app://x\ty", .deepLinks),
    Case("1767225600.5\td\tu", "deepLink u", .deepLinks), Case("2026-01-01 00:00:00\td\tu", "deepLink u", .deepLinks),
    Case("1\td", "missing-field url", .deepLinks), Case("1", "missing-field deviceId", .deepLinks),
    Case("1\t\tu", "missing-field deviceId", .deepLinks), Case("x\td\tu", "invalid-timestamp timestamp", .deepLinks),
    Case("1\td\u{0}\tu", "nul-character", .deepLinks), Case("{\"deviceId\":\"d\"", "invalid-json", .deepLinks),
  ])
  func readsNotificationsAndDeepLinks(_ example: Case) {
    #expect(outcome(Array(example.line.utf8), example.kind) == example.expected)
  }

  @Test(arguments: [
    Case("1\td\tu \t", "deepLink u", .deepLinks), Case(" \t1\td\tu\t\r", "deepLink u", .deepLinks),
    Case("1\td\tu\tv\t", "deepLink u\tv", .deepLinks), Case("1\td\t", "missing-field url", .deepLinks),
    Case("\t1\td\t \t", "missing-field url", .deepLinks), Case("\td\tu", "missing-field url", .deepLinks),
    Case("1 \td\tu", "invalid-timestamp timestamp", .deepLinks),
    Case("1767225600.\td\tu", "invalid-timestamp timestamp", .deepLinks),
    Case("01767225600\td\tu", "invalid-timestamp timestamp", .deepLinks),
    Case("1767225600e\td\tu", "invalid-timestamp timestamp", .deepLinks),
    Case("1767225600e+\td\tu", "invalid-timestamp timestamp", .deepLinks),
    Case("+1767225600\td\tu", "invalid-timestamp timestamp", .deepLinks),
    Case(".5\td\tu", "invalid-timestamp timestamp", .deepLinks),
    Case("-1\td\tu", "invalid-timestamp timestamp", .deepLinks),
    Case("1767225600.0\td\tu", "deepLink u", .deepLinks), Case("1.7672256e9\td\tu", "deepLink u", .deepLinks),
    Case("0\td\tu", "deepLink u", .deepLinks), Case("-0\td\tu", "deepLink u", .deepLinks),
  ])
  func decision24PlainLinesEndAtTheirTextAndNumbersAreThoseOfJSON(_ example: Case) {
    #expect(outcome(Array(example.line.utf8), example.kind) == example.expected)
  }

  @Test(arguments: [
    Case("{\(head),\"action\":\"opened\",\"channel\":\"sms\"}", "missing-field payload", .notifications),
    Case("{\(head),\"action\":\"seen\",\"channel\":\"\"}", "missing-field payload", .notifications),
    Case("{\(head),\"action\":\"opened\",\"channel\":1}", "missing-field payload", .notifications),
    Case("{\(head),\"action\":1,\"payload\":null}", "missing-field payload", .notifications),
    Case(
      "{\(head),\"action\":\"opened\",\"channel\":\"sms\",\"notification\":{}}", "missing-field payload",
      .notifications),
    Case("{\(head),\"action\":\"opened\",\"channel\":\"sms\",\"payload\":[]}", "wrong-type payload", .notifications),
    Case("{\(head),\"action\":\"opened\",\"channel\":\"\",\"payload\":{}}", "unknown-type channel", .notifications),
    Case("{\(head),\"action\":\"\",\"payload\":{}}", "unknown-type action", .notifications),
    Case(
      "{\"deviceId\":\"d\",\"timestamp\":\"x\",\"action\":\"opened\",\"channel\":\"\",\"payload\":{}}",
      "invalid-timestamp timestamp", .notifications),
    Case("{\(head),\"action\":\"opened\",\"channel\":null,\"payload\":{}}", "notificationOpened", .notifications),
  ])
  func decision29MissingPayloadComesBeforeWhatChannelAndActionSay(_ example: Case) {
    #expect(outcome(Array(example.line.utf8), example.kind) == example.expected)
  }

  private static let raw = #""attributes":[{"name":"Device Id","value":"x"},{"name":"Device Id","value":"d"}]"#

  @Test(arguments: [
    Case("{\"eventTypeCode\":17,\"eventTimestamp\":\"2026-01-01T00:00:00.000Z\",\(raw)}", "rawEvent 17"),
    Case(
      "{\"eventTypeCode\":\"17\",\"eventTimeStamp\":\"2026-01-01T00:00:00Z\",\"contactId\":\"c\",\(raw)}", "rawEvent 17"
    ),
    Case("{\"eventTypeCode\":\"17\",\(raw)}", "missing-field eventTimestamp"),
    Case("{\"eventTypeCode\":\"17\",\"timestamp\":1,\(raw)}", "missing-field eventTimestamp"),
    Case(#"{"eventTypeCode":"17","eventTimestamp":1,"attributes":[]}"#, "missing-field Device Id"),
    Case(#"{"eventTypeCode":"17","eventTimestamp":1,"attributes":[{"name":"Device Id"}]}"#, "missing-field Device Id"),
    Case(
      #"{"eventTypeCode":"17","eventTimestamp":1,"attributes":[{"name":"Device Id","value":""}]}"#,
      "missing-field Device Id"),
    Case(
      #"{"eventTypeCode":"17","eventTimestamp":1,"attributes":[{"name":"Device Id","value":1}]}"#,
      "wrong-type Device Id"),
    Case(#"{"eventTypeCode":"17","eventTimestamp":1,"attributes":{}}"#, "wrong-type attributes"),
    Case(
      "{\"eventTypeCode\":17,\"eventTimestamp\":\"2026-02-30T00:00:00Z\",\(raw)}", "invalid-timestamp eventTimestamp"),
    Case("{\"eventTypeCode\":17,\"eventTimestamp\":1}", "missing-field deviceId"),
  ])
  func readsEventsAsThePhonesStoredThem(_ example: Case) {
    #expect(outcome(Array(example.line.utf8), example.kind) == example.expected)
  }

  @Test func takesTheLastDeviceIdOfARawEvent() {
    decoding(Array("{\"eventTypeCode\":17,\"eventTimestamp\":2,\(Self.raw)}".utf8), .events) { _, record in
      #expect(record.device == "d")
      #expect(record.timestamp.milliseconds == 2000)
    }
  }

  @Test func refusesBytesThatAreNotUTF8AndLinesThatAreTooLong() {
    #expect(outcome([0x7B, 0xFF, 0x7D], .events) == "invalid-utf8")
    #expect(outcome([0x31, 0x09, 0xC0, 0xAF], .deepLinks) == "invalid-utf8")
    #expect(outcome(Array("{\"a\":12345}".utf8), .events, maxLineBytes: 10) == "line-too-long")
    #expect(outcome(Array("{\"a\":1234}".utf8), .events, maxLineBytes: 10) == "missing-field deviceId")
  }

  @Test func keepsFieldsAsTheyWereWritten() {
    let line =
      #"{"deviceId":"d\u00e9","timestamp":"2026-01-01T02:00:00+02:00","type":"namedEvent","name":"n","params":{"a":1.50,"b":[true]},"#
      + #""device":{"name":"iPhone","version":"","osName":"iOS","osVersion":"17","appName":"App","appVersion":"1"},"#
      + #""mobileUserId":"m","anonymousId":"","recipientId":"r"}"#
    decoding(Array(line.utf8), .events) { rejection, record in
      #expect(rejection == nil)
      #expect(record.device == "dé")
      #expect(record.timestamp.rfc3339 == "2026-01-01T00:00:00.000Z")
      #expect(record.params?["a"]?.number == "1.50")
      #expect(record.deviceValues[.deviceName] == "iPhone")
      #expect(record.deviceValues[.deviceVersion] == nil)
      #expect(record.deviceValues[.appVersion] == "1")
      #expect(record.mobileUserId == "m")
      #expect(record.anonymousId == nil)
      #expect(record.recipientId == "r")
    }
  }

  @Test func countsUnknownFieldsOfRecordsByName() {
    var reader = LineReader(RecordVocabulary.engage)
    let position = RecordPosition(file: 0, line: 1)
    var head = RecordHead()
    for line in [
      #"{"zap":1,"deviceId":"d","timestamp":1,"type":"launch","b":2}"#, #"{"zap":1}"#,
      #"{"deviceId":"d","timestamp":1,"type":"launch","zap":null}"#,
    ] {
      Array(line.utf8).withUnsafeBufferPointer {
        _ = reader.read($0, kind: .events, position: position, into: &head)
      }
    }
    let unknown = reader.decoder.unknownFields.sorted
    #expect(unknown == [UnknownField(name: "b", records: 1), UnknownField(name: "zap", records: 2)])
  }
}
