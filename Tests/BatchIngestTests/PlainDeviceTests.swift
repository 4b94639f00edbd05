import BatchFoundation
import EngageRules
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
    #expect(plain("", .deepLinks) == nil)
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
    var reader = LineReader(RecordVocabulary.engage)
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

  /// Lines of all lengths, made of what is looked for and of its beginnings.
  @Test func `one look through a line finds what looking for each name does`() {
    let pieces = [
      "\"deviceId\":\"d\"", "\"deviceId\"", "\"attributes\"", "\"eventParams\"", "\\", "\"", "\"d", "\"attribut", ",",
      "{", " ", "é",
      "xxxxxxxxx",
    ]
    var random = SplitMix64(seed: 52)
    var found = 0
    for _ in 0..<20_000 {
      let rare = Bool.random(using: &random)
      let text = (0..<Int.random(in: 0...12, using: &random)).map { _ in
        let piece = pieces.randomElement(using: &random) ?? ""
        return rare && piece.count > 9 && Int.random(in: 0..<4, using: &random) > 0 ? "," : piece
      }.joined()
      let isPlain =
        !text.contains("\\") && text.ranges(of: "\"deviceId\"").count == 1 && text.contains("\"deviceId\":\"d\"")
        && !text.contains("\"attributes\"") && !text.contains("\"eventParams\"")
      #expect(plain(Text(permanent: text)) == (isPlain ? "d" : nil), "\(text)")
      found += isPlain ? 1 : 0
    }
    #expect(found > 500)
  }
}
