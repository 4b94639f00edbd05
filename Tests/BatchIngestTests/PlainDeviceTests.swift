import BatchFoundation
import EngageEvents
import Testing

@testable import BatchIngest

@Suite struct PlainDeviceTests {
  private func plain(_ line: Text, _ kind: InputKind = .events) -> Text? {
    SourceLine(text: line, kind: kind, position: RecordPosition(file: 0, line: 1)).plainDevice
  }

  @Test func `a device stands in its line once`() {
    #expect(plain(#"{"deviceId":"d-1","type":"launch"}"#) == "d-1")
    #expect(plain("{\"type\":\"launch\", \"deviceId\"\t: \"é 1\"}") == "é 1")
    #expect(plain(#"{"deviceId":"d-1","payload":{"deviceId":"d-2"}}"#, .notifications) == nil)
    #expect(plain(#"{"deviceId":"d-1","name":"deviceId"}"#) == nil)
    #expect(plain(#"{"deviceId":7,"type":"launch"}"#) == nil)
    #expect(plain(#"{"type":"launch"}"#) == nil)
    #expect(plain(#"{"deviceId""#) == nil)
    #expect(plain(#"{"deviceId":"#) == nil)
    #expect(plain(#"{"deviceId":"d"#) == nil)
    #expect(plain("") == nil)
  }

  @Test func `a line with a backslash is read, because it can spell a name otherwise`() {
    #expect(plain(#"{"deviceId":"d-1","params":{"a":"\""}}"#) == nil)
    #expect(plain(#"{"params":{"deviceId":"d-2"},"\u0064eviceId":"d-1"}"#) == nil)
  }

  @Test func `what a phone's own store has is read, because its device stands elsewhere`() {
    #expect(plain(#"{"eventTypeCode":14,"attributes":[],"deviceId":"d-1"}"#) == nil)
    #expect(plain(#"{"eventName":"a","eventParams":{},"deviceId":"d-1"}"#) == nil)
    #expect(plain(#"{"deviceId":"d-1","attributes":[]}"#, .notifications) == "d-1")
  }

  @Test func `a plain link is read`() {
    #expect(plain(#"2026-01-15T08:01:00Z x app://a?"deviceId":"d-1""#, .deepLinks) == nil)
    #expect(plain(#"{"deviceId":"d-1","url":"app://a"}"#, .deepLinks) == "d-1")
  }

  @Test(arguments: 0..<40) func `of a record it is what reading finds`(length: Int) {
    let name = String(repeating: "x", count: length + 1)
    var reader = LineReader(EngageVocabulary())
    var head = RecordHead()
    for (before, behind) in [("", "d"), (name, name), (name, "eviceI"), ("d\" ", name)] {
      let text =
        #"{"type":"launch","anonymousId":"\#(before.filter { $0 != "\"" })","timestamp":"2026-01-15T08:01:00Z","#
        + "\"deviceId\":\"\(name)\",\"recordId\":\"\(behind)\"}"
      let line = Text(permanent: text)
      let rejection = unsafe reader.read(
        line.bytes, kind: .events, position: RecordPosition(file: 0, line: 1), into: &head)
      #expect(rejection == nil)
      #expect(plain(line) == head.device)
      #expect(head.device == Text(permanent: name))
    }
  }
}
