import BatchFoundation
import BatchIngest
import EngageRules
import TestSupport
import Testing

@testable import BatchMaps

/// Which records are in a line, and what they take from around them.
extension ForeignMapTests {
  @Test func aRecordMayLieInsideItsLine() throws {
    let (map, faults) = try read(
      #"{"record": "detail.event", "fields": {"deviceId": "d", "params.sent": "^.at", "params.all": "$.n"}}"#)
    #expect(faults == [])
    #expect(
      outcomes(
        of: map,
        [
          #"{"at": 1, "detail": {"event": {"d": "x", "n": 2}}}"#, #"{"at": 3, "detail": {"event": "{\"d\": \"y\"}"}}"#,
          #"{"at": 4, "detail": {}}"#, #"{"detail": {"event": 5}}"#, #"{"detail": {"event": "x"}}"#,
        ]) == [
          #"{"deviceId":"x","params":{"all":2,"sent":1}}"#, #"{"deviceId":"y","params":{"sent":3}}"#,
          "refused: missing-field", "refused: not-an-object", "refused: invalid-json",
        ])
    #expect(
      map.detail(of: .init(reason: .missingField, field: "detail.event"), rule: 0, record: Array("{}".utf8))
        == "the line has no 'detail.event', which must contain the record")
    #expect(
      map.detail(of: .init(reason: .notAnObject, field: "detail.event"), rule: 0, record: Array("{}".utf8))
        == "'detail.event', which must contain the line's record, is not an object")
    let around = Array(#"{"by": "u", "at": 1, "detail": {"event": {"d": "x", "y": 2}, "z": 3}}"#.utf8)
    #expect(map.unreadMembers(of: around) == ["y", "^.by", "^.detail.z"])
    let text = Array(#"{"by": "u", "detail": {"event": "{\"d\": \"x\", \"y\": 2}"}}"#.utf8)
    #expect(map.unreadMembers(of: text) == ["y", "^.by"])
    let folder = try TemporaryFolder(["a": #"{"detail": {"event": "{\"d\": x}"}}"# + "\n"])
    let pattern = InputPattern(.events, folder.path + "/a", map: InputMap(map, identity: ""))
    try InputFiles.find([pattern], in: "/").files[0].tryMap(RecordVocabulary.engage, limit: 1) { trial in
      #expect(
        trial.outcomes == [
          .refused("invalid-json: 'detail.event', which must contain the line's record, is invalid at its byte 7")
        ])
    }
    // A preset, whose elements know their batch.
    let segment = try #require(try preset("segment").reading(record: "_airbyte_data"))
    let lines = outcomes(
      of: segment,
      [
        #"{"_airbyte_data": {"anonymousId": "a", "batch": [{"type": "track", "event": "e", "timestamp": "2026-01-15T08:00:00Z"}]}}"#
      ])
    #expect(lines.count == 1 && lines[0].contains(#""deviceId":"a""#) && lines[0].contains(#""name":"e""#), "\(lines)")
    let own = try #require(ForeignMap.own.reading(record: "r"))
    #expect(
      outcomes(of: own, [#"{"r": {"type": "launch", "deviceId": "d"}}"#]) == [#"{"deviceId":"d","type":"launch"}"#])
    #expect(ForeignMap.own.reading(record: "a..b") == nil)
    #expect(segment.digest != (try preset("segment").digest))
  }

  @Test func messagesBetweenRecordsAreLeftOut() throws {
    func map(_ record: String) throws -> ForeignMap {
      try read(#"{"record": "\#(record)", "fields": {"deviceId": "d"}}"#).map
    }
    let messages = [
      #"{"type":"SCHEMA","stream":"s","schema":{}}"#, #"{"type":"RECORD","record":{"d":"a","data":{"d":"b"}}}"#,
      #"{"type":"STATE","value":{}}"#, #"{"type":"BATCH","manifest":["f"]}"#, #"{"type":"RECORD"}"#, #"{"x":1}"#,
    ]
    let others = ["SCHEMA", "STATE"].map { "left out: a message of type \($0), which contains no record" }
    let refused = "refused: missing-field"
    #expect(
      outcomes(of: try map("record"), messages)
        == [others[0], #"{"deviceId":"a"}"#, others[1], refused, refused, refused])
    #expect(outcomes(of: try map("record.data"), messages)[1] == #"{"deviceId":"b"}"#)
    // Nobody says so of other envelopes.
    #expect(outcomes(of: try map("event"), messages) == Array(repeating: refused, count: 6))
  }

  @Test func textsOfLinesAreJSONWhereTheMapSaysSo() throws {
    for form in ["lines", "json"] {
      let (map, faults) = try read(
        #"{"form": "\#(form)", "jsonColumns": ["p", "l"], "fields": {"deviceId": "p.d", "params": {"others": "$", "flatten": "."}}}"#
      )
      #expect(faults == [])
      #expect(
        outcomes(
          of: map,
          [
            #"{"p":"{\"d\":\"a\",\"n\":1.50,\"o\":{\"q\":null,\"r\":\"x\"}}","l":"[1,2]","t":"{\"d\":1}","k":1.50}"#,
            #"{"p":{"d":"b"},"l":"no JSON"}"#, #"{"p":"{\"d\":1,\"d\":2}","l":"{\"a\":"}"#, "{}", "[]", "{",
          ]) == [
            #"{"deviceId":"a","params":{"k":1.50,"l":[1,2],"p.n":1.50,"p.o.r":"x","t":"{\"d\":1}"}}"#,
            #"{"deviceId":"b","params":{"l":"no JSON"}}"#,
            #"{"params":{"l":"{\"a\":","p":"{\"d\":1,\"d\":2}"}}"#, "{}",
            "refused: not-an-object", "refused: invalid-json",
          ])
      let record = Array(#"{"p":"{\"d\":\"2026:01\"}"}"#.utf8)
      #expect(map.emptyFields(of: [record]).map(\.field) == [])
      #expect(map.unreadMembers(of: record) == [])
    }
    #expect(
      try read(#"{"form": "text", "jsonColumns": ["p"], "fields": {}}"#).faults
        == ["map.json:1: error: 'jsonColumns' has no effect if 'form' is 'text'"])
  }

  @Test func aPropertyListIsTheJSONOfItsValues() throws {
    func cut(_ xml: String) throws -> [String] {
      try TableTests.cut("<plist><array>\(xml)</array></plist>".utf8, #""form": "json", "fields": {"deviceId": "d"}"#)
    }
    let twice = #"{"d":"a","d":"b"}"#
    let key = "<key>d</key>"
    #expect(try cut("<dict>\(key)<string>a</string>\(key)<string>b</string></dict>") == ["1 " + twice])
    #expect(try outcomes(of: read(#"{"fields": {"deviceId": "d"}}"#).map, [twice]) == ["refused: duplicate-key"])
    #expect(
      try cut("<dict>\(key)<data>YQ==</data></dict>")
        == ["1 other-form: an unreadable property list: 'd' is data, which is not supported"])
  }

  @Test(arguments: [
    (#"{"path": "^.b", "as": "uppercase"}"#, "B/2"), (#"{"path": "^.b", "table": {"b": "z"}, "default": "q"}"#, "z/2"),
    (#"{"paths": ["^.b", "n"], "join": "-"}"#, "b-m/2"), (#"{"paths": ["n"], "join": "-"}"#, "m"),
    (#"{"path": "^.b", "prefix": "x"}"#, "xb/2"), (#"["n", "^.b"]"#, "m"), (#"{"constant": "c"}"#, "c"),
  ]) func anIdThatIsReadOutsideIsNumberedHoweverItIsTurned(source: String, id: String) throws {
    let map = try read(#"{"each": "l", "fields": {"recordId": \#(source)}}"#).map
    #expect(outcomes(of: map, [#"{"b":"b","l":[{},{"n":"m"}]}"#]).last == #"{"recordId":"\#(id)"}"#)
  }

  @Test func anIdOfTheLineIsJoinedWithTheNumberOfTheElement() throws {
    let more = #", "each": "events""#
    #expect(
      try lines(#"{"recordId": ["id", "^.id"]}"#, #"{"id": 8.0, "events": [{}, {"id": "own"}, {}]}"#, more)
        == [#"{"recordId":"8/1"}"#, #"{"recordId":"own"}"#, #"{"recordId":"8/3"}"#])
    #expect(try lines(#"{"recordId": "^.id"}"#, #"{"id": 8}"#, more) == [#"{"recordId":"8"}"#])
  }

  @Test func elementsOfAnArrayAreRecordsOfTheirLine() throws {
    let more = #", "each": "events""#
    let fields = #"{"deviceId": "^.id", "name": "n"}"#
    #expect(
      try lines(fields, #"{"id": "d", "events": [{"n": "a"}, 5, {"n": "b"}]}"#, more)
        == [#"{"deviceId":"d","name":"a"}"#, "refused: not-an-object", #"{"deviceId":"d","name":"b"}"#])
    #expect(try lines(fields, #"{"id": "d", "events": []}"#, more) == ["left out: no elements in 'events'"])
    #expect(try lines(fields, #"{"id": "d", "n": "whole"}"#, more) == [#"{"deviceId":"d","name":"whole"}"#])
  }

  /// A map may put a value deeper than it was; such a line is read like all others, and refused.
  @Test func linesThatAreTooDeepAreRead() throws {
    func nested(_ levels: Int) -> String {
      String(repeating: "[", count: levels) + String(repeating: "]", count: levels)
    }
    let deep = #"{"payload.aps.alert": "p", "name": "n"}"#
    #expect(try lines(deep, #"{"p": \#(nested(61)), "n": 1}"#)[0].contains(nested(61)))
    #expect(try lines(deep, #"{"p": \#(nested(62)), "n": 1}"#)[0].contains(nested(62)))
  }
}
