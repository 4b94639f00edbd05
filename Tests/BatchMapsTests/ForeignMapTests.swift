import BatchFoundation
import BatchIngest
import TestSupport
import Testing

@testable import BatchMaps

@Suite struct ForeignMapTests {
  private func lines(_ fields: String, _ record: String, _ more: String = "") throws -> [String] {
    let (map, faults) = try read(#"{"fields": \#(fields)\#(more)}"#)
    #expect(faults.filter { !$0.contains("warning") } == [])
    return outcomes(of: map, [record])
  }

  @Test func membersStandByTheirBytesAtEveryDepth() throws {
    #expect(
      try lines(
        #"{"params": {"members": "p"}, "deviceId": "d"}"#,
        #" {"d": "x", "p": {"b": {"z": 1.50, "a": null}, "é": "\u0041/\t", "B": [1, {"y": 0, "x": true}]}} "#)
        == [#"{"deviceId":"x","params":{"B":[1,{"x":true,"y":0}],"b":{"z":1.50},"é":"A/\t"}}"#])
  }

  @Test func theFirstSourceWithAValueCounts() throws {
    let fields = #"{"deviceId": ["a.b", {"path": ["c", "list[-1].id", "list[kind=x].id"], "default": "none"}]}"#
    for (record, id) in [
      (#"{"a": {"b": "1"}, "c": "2"}"#, "1"), (#"{"a": {"b": ""}, "c": 2}"#, "2"), (#"{"a": {"b": null}}"#, "none"),
      (#"{"list": [{"id": "3"}, {"id": "4"}]}"#, "4"), (#"{"list": [{"kind": "x", "id": "5"}, {}]}"#, "5"),
    ] {
      let line = try lines(fields, record)
      // What no form was said for is a text in a field of texts only, whatever the record has.
      #expect(line == [id == "2" ? #"{"deviceId":"2"}"# : #"{"deviceId":"\#(id)"}"#], "\(record)")
    }
  }

  /// A path leads into what stands in a text, and into lists as readers of Parquet write them.
  @Test func textsWithJSONAreReadWhereAPathLeadsIntoThem() throws {
    let fields = #"{"deviceId": "c.d.id", "name": "c", "url": "l[k=x].v", "params": {"members": "p", "flatten": "."}}"#
    let record =
      #"{"c": "{\"d\": \"{\\\"id\\\": 5}\"}", "l": " [{\"k\": \"y\"}, {\"k\": \"x\", \"v\": 6}]", "p": "{\"a\": {\"b\": null, \"c\": [1]}}"}"#
    let line =
      #"{"deviceId":"5","name":"{\"d\": \"{\\\"id\\\": 5}\"}","params":{"a.c":[1]},"url":"6"}"#
    #expect(try lines(fields, record) == [line])
    #expect(try read(#"{"fields": \#(fields)}"#).map.unreadMembers(of: Array(record.utf8)) == ["l.k"])
    // No JSON, a name twice and a value that is neither object nor array stay texts.
    for text in ["{'d': 1}", #"{\"d\": 1, \"d\": 2}"#, "7", "{", ""] {
      #expect(try lines(#"{"deviceId": "c.d", "name": "n"}"#, #"{"c": "\#(text)", "n": 1}"#) == [#"{"name":"1"}"#])
    }
    let each = #", "each": "e""#
    for list in [#""[{\"d\": 1}]""#, #"{"list": [{"element": {"d": 1}}]}"#, #"[{"element": {"d": 1}}]"#] {
      #expect(try lines(#"{"deviceId": "d"}"#, #"{"e": \#(list)}"#, each) == [#"{"deviceId":"1"}"#])
      #expect(try lines(#"{"deviceId": "e[-1].d"}"#, #"{"e": \#(list)}"#) == [#"{"deviceId":"1"}"#])
    }
    #expect(
      try lines(#"{"deviceId": "e.list[0].d"}"#, #"{"e": {"list": [{"d": 1}], "n": 2}}"#) == [#"{"deviceId":"1"}"#])
    #expect(
      try lines(#"{"deviceId": "^.a.d", "name": "n"}"#, #"{"a": "{\"d\": 1}", "e": [{"n": 2}]}"#, each)
        == [#"{"deviceId":"1","name":"2"}"#])
  }

  /// Where clocks skip a time it is perhaps of another zone; without this it was another time, or one in UTC.
  @Test func timesThatAZoneDoesNotHaveAreNone() throws {
    func line(_ source: String, _ text: String) throws -> [String] {
      try lines(#"{"timestamp": {"path": "t", \#(source)"zone": "Europe/Berlin"}}"#, #"{"t": "\#(text)"}"#)
    }
    let pattern = #""time": "dd/MM/yyyy HH:mm", "#
    for (source, text, time) in [
      ("", "2026-03-29 01:59:59", "2026-03-29T00:59:59.000Z"), ("", "2026-03-29 03:00", "2026-03-29T01:00:00.000Z"),
      ("", "2026-03-29 02:30:00", "no time: 2026-03-29 02:30:00"), (pattern, "29/03/2026 02:30", "29/03/2026 02:30"),
      ("", "2026-03-29 02:30:00Z", "2026-03-29T02:30:00.000Z"), ("", "2026-10-25 02:30:00", "2026-10-25T00:30:00.000Z"),
      (pattern, "2026-01-15 08:00:00", "no time: 2026-01-15 08:00:00"),
      (pattern, "2026-01-15T08:00:00+01:00", "2026-01-15T08:00:00+01:00"),
    ] {
      #expect(try line(source, text) == [#"{"timestamp":"\#(time)"}"#], "\(text)")
    }
    // A day begins where its midnight is skipped, too.
    #expect(
      try lines(
        #"{"timestamp": {"path": "t", "time": "yyyy-MM-dd", "zone": "Africa/Cairo"}}"#, #"{"t": "2026-04-24"}"#)
        == [#"{"timestamp":"2026-04-23T22:00:00.000Z"}"#])
    let map = try read(#"{"fields": {"timestamp": {"path": "t", "zone": "Europe/Berlin"}}}"#).map
    let rejection = Rejection(reason: .invalidTimestamp, field: "timestamp")
    #expect(
      map.detail(of: rejection, rule: 0, record: Array(#"{"t": "2026-03-29 02:30:00"}"#.utf8))
        == "field 'timestamp': '2026-03-29 02:30:00' is not a time in the map's zone (skipped by a clock change; perhaps the times are in another zone): the map 'map.json' reads the field from 't'"
    )
  }

  @Test func timesBecomeTheOneForm() throws {
    for (source, value, expected) in [
      (#""t""#, #""2026-01-15T08:00:00+01:00""#, "2026-01-15T07:00:00.000Z"),
      (#""t""#, #""2026-01-15 08:00:00.123456""#, "2026-01-15T08:00:00.123Z"),
      (#""t""#, #""2026-01-15 08:00:00.5 UTC""#, "2026-01-15T08:00:00.500Z"),
      (#""t""#, "1768464000", "2026-01-15T08:00:00.000Z"), (#""t""#, #""1768464000123""#, "2026-01-15T08:00:00.123Z"),
      (#""t""#, "1768464000123456", "2026-01-15T08:00:00.123Z"),
      (#""t""#, "1768464000123456789", "2026-01-15T08:00:00.123Z"),
      (#""t""#, #""1768464000123456789""#, "2026-01-15T08:00:00.123Z"),
      (#""t""#, "99999999999", "5138-11-16T09:46:39.000Z"), (#""t""#, "100000000000", "1973-03-03T09:46:40.000Z"),
      (#""t""#, "100000000000000", "1973-03-03T09:46:40.000Z"),
      (#""t""#, "100000000000000000", "1973-03-03T09:46:40.000Z"),
      (#"{"path": "t", "time": "dd.MM.yyyy"}"#, #""15.01.2026""#, "2026-01-15T00:00:00.000Z"),
      (#"{"path": "t", "time": "seconds"}"#, "1768464000.25", "2026-01-15T08:00:00.250Z"),
      (#"{"path": "t", "time": "nanoseconds"}"#, "1768464000123456789", "2026-01-15T08:00:00.123Z"),
      (#"{"path": "t", "time": "dd/MM/yyyy hh:mm a"}"#, #""15/01/2026 08:05 PM""#, "2026-01-15T20:05:00.000Z"),
      (#"{"path": "t", "time": "MMM d yyyy HH:mm:ss Z"}"#, #""Jan 5 2026 08:05:00 -0200""#, "2026-01-05T10:05:00.000Z"),
    ] {
      #expect(try lines(#"{"timestamp": \#(source)}"#, #"{"t": \#(value)}"#) == [#"{"timestamp":"\#(expected)"}"#])
    }
    // What is no time stays, and the reader refuses it in the words of a timestamp.
    for text in [
      "30 February", "2026-01-15", "2026-01-15T", "2026-01-15Z", "2026-02-30T08:00:00.000Z", " 026-01-15T08:00:00.000Z",
    ] {
      #expect(try lines(#"{"timestamp": "t"}"#, #"{"t": "\#(text)"}"#) == [#"{"timestamp":"\#(text)"}"#])
    }
    #expect(
      try lines(#"{"timestamp": "t"}"#, #"{"t": " 2026-01-15T08:00:00.000Z "}"#)
        == [#"{"timestamp":"2026-01-15T08:00:00.000Z"}"#])
  }

  /// Whoever reads the line would take them for seconds.
  @Test func numbersThatAPatternDoesNotReadAreNoTimes() throws {
    for (pattern, value, expected) in [
      ("yyyyMMddHHmmss", "20260115080000.0", "2026-01-15T08:00:00.000Z"),
      ("yyyyMMddHHmmss", #""20260115080000.0""#, "2026-01-15T08:00:00.000Z"),
      ("yyyyMMddHHmmss", "20260115080000", "2026-01-15T08:00:00.000Z"),
      ("yyyyMMddHHmmss.S", "20260115080000.5", "2026-01-15T08:00:00.500Z"),
      ("yyyyMMdd", "20260115.0", "2026-01-15T00:00:00.000Z"), ("yyyyMMdd", "1768464000", "no time: 1768464000"),
      ("yyyy-MM-dd", "20260115.0", "no time: 20260115.0"), ("milliseconds", "-1", "no time: -1"),
      ("yyyyMMdd", #""2026115""#, "2026115"), ("ddMMyyyy", #""5012026""#, "5012026"),
      ("MM/dd/yyyy H:mm", #""1/5/2026 8:05""#, "2026-01-05T08:05:00.000Z"),
      ("ddMMMyyyy", #""5Jan2026""#, "2026-01-05T00:00:00.000Z"),
    ] {
      #expect(
        try lines(#"{"timestamp": {"path": "t", "time": "\#(pattern)"}}"#, #"{"t": \#(value)}"#)
          == [#"{"timestamp":"\#(expected)"}"#], "\(pattern) \(value)")
    }
  }

  @Test func valuesTakeTheFormThatIsAskedFor() throws {
    #expect(
      try lines(
        #"""
        {"params.n": {"path": "n", "as": "number"}, "params.b": {"path": "b", "as": "boolean"},
         "params.t": {"path": "t", "as": "text"}, "params.u": {"path": "u", "as": "uppercase", "prefix": "p-"},
         "params.x": {"path": "x", "as": "number"}, "latitude": "lat",
         "type": {"path": "k", "table": {"a": "launch"}, "default": "background"}}
        """#, #"{"n": " 1e3", "b": "No", "t": 5, "u": "ab", "x": "01", "lat": "51.5", "k": "b"}"#)
        == [
          #"{"latitude":51.5,"params":{"b":false,"n":1e3,"t":"5","u":"p-AB","x":"01"},"type":"background"}"#
        ])
  }

  @Test func severalPathsBecomeOneText() throws {
    let time = #"{"timestamp": {"paths": ["day", "time"], "time": "dd.MM.yyyy HH:mm", "zone": "UTC"}}"#
    #expect(
      try lines(time, #"{"day": "15.01.2026", "time": "08:30"}"#) == [#"{"timestamp":"2026-01-15T08:30:00.000Z"}"#])
    #expect(try lines(time, #"{"day": "15.01.2026", "time": ""}"#) == [#"{"timestamp":"15.01.2026"}"#])
    let name = #"{"name": {"paths": ["a", "b.c", "d"], "join": "/", "prefix": "p:", "default": "none"}}"#
    #expect(try lines(name, #"{"a": 1, "b": {"c": "x"}, "d": {}}"#) == [#"{"name":"p:1/x"}"#])
    #expect(try lines(name, #"{"d": null}"#) == [#"{"name":"none"}"#])
    #expect(
      try lines(
        #"{"type": {"paths": ["a", "b"], "join": "", "table": {"xy": "launch"}, "default": "background"}}"#,
        #"{"a": "x", "b": "y"}"#)
        == [#"{"type":"launch"}"#])
    #expect(
      try read(#"{"fields": {"name": {"path": "a", "join": "/"}}}"#).faults
        == ["map.json:1: error: 'fields.name.join' has no effect without 'paths'"])
  }

  @Test(
    arguments: [
      (",", "1,5", "1.5"), (",", "-1.234,50", "-1234.50"), (",", "1.234.567", "1234567"), (",", "12 345,6", "12345.6"),
      (",", "1\u{202F}234", "1234"), (",", "1.5", nil), (",", "1,2,3", nil), (",", "1234.567", nil), (",", "1,", nil),
      (".", "1,234.5", "1234.5"), (".", "1'234", "1234"), (".", "1.5e3", "1.5e3"), (".", "", nil), (".", "x", nil),
    ] as [(String, String, String?)])
  func numbersMayHaveADecimalComma(decimal: String, text: String, number: String?) throws {
    let map = try read(#"{"decimal": "\#(decimal)", "fields": {"params.n": {"path": "n", "as": "number"}}}"#).map
    let expected = number ?? JSONString.quoted(text)
    let params = text.isEmpty ? "{}" : #"{"params":{"n":\#(expected)}}"#
    #expect(outcomes(of: map, [#"{"n": \#(JSONString.quoted(text))}"#]) == [params])
    // What is a number already needs no comma.
    #expect(outcomes(of: map, [#"{"n": 1.5}"#]) == [#"{"params":{"n":1.5}}"#])
  }

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
        == ["map.json:1: error: 'jsonColumns' has no effect with 'form' 'text'"])
  }

  @Test func theBeginningOfATextIsTakenOff() throws {
    let map = try read(
      #"{"fields": {"deviceId": ["a", {"path": "b", "without": "$device:"}], "params.x": {"path": "b", "without": "$", "prefix": "-"}}}"#
    ).map
    #expect(
      outcomes(
        of: map, [#"{"a":"$device:1","b":"$device:2"}"#, #"{"b":"$device:2"}"#, #"{"b":"$device:"}"#, #"{"b":7}"#])
        == [
          #"{"deviceId":"$device:1","params":{"x":"-device:2"}}"#, #"{"deviceId":"2","params":{"x":"-device:2"}}"#,
          #"{"deviceId":"$device:","params":{"x":"-device:"}}"#, #"{"deviceId":"7","params":{"x":"-7"}}"#,
        ])
  }

  @Test func aTableIsAskedInTheCaseThatIsSaid() throws {
    let fields = #"{"type": {"path": "k", "as": "lowercase", "table": {"go": "launch"}, "default": "background"}}"#
    for (text, type) in [("GO", "launch"), ("Go", "launch"), ("go", "launch"), ("gone", "background")] {
      #expect(try lines(fields, #"{"k": "\#(text)"}"#) == [#"{"type":"\#(type)"}"#])
    }
  }

  @Test func pairsAndOthersBecomeMembers() throws {
    #expect(
      try lines(
        #"{"params": [{"pairs": "list", "key": "k", "value": "v.*"}, {"others": "$", "except": "skip", "flatten": "."}], "name": "n"}"#,
        #"{"n": "x", "skip": 1, "list": [{"k": "a", "v": {"s": null, "i": 2}}, {"k": "o.z"}], "o": {"z": 3, "y": [4]}}"#
      )
        == [#"{"name":"x","params":{"a":2,"o.y":[4],"o.z":3}}"#])
  }

  /// Of objects what is left, arrays whole, and what only a test asks for, too.
  @Test func othersAreAllThatNoFieldReads() throws {
    let record =
      #"{"kind": "k", "a": {"id": 1, "b": {"c": 2, "d": {"e": 3}}, "f": {"g": 4}, "n": null}, "l": [{"x": 1}, null], "m": {}, "o": "t"}"#
    let fields = #"{"deviceId": "a.id", "name": "l[0].x", "url": "a.f.g", "recordId": "o.p", "params": {"others": "$"#
    #expect(
      try lines(fields + #""}}"#, record) == [
        #"{"deviceId":"1","name":"1","params":{"a":{"b":{"c":2,"d":{"e":3}}},"kind":"k","l":[{"x":1},null],"o":"t"},"url":"4"}"#
      ])
    #expect(
      try lines(fields + #"", "flatten": "."}}"#, record) == [
        #"{"deviceId":"1","name":"1","params":{"a.b.c":2,"a.b.d.e":3,"kind":"k","l":[{"x":1},null],"o":"t"},"url":"4"}"#
      ])
    let (map, _) = try read(
      #"{"rules": [{"when": {"kind": "k"}, "fields": {"deviceId": "a.id", "params": {"others": "$"}}}]}"#)
    #expect(outcomes(of: map, [#"{"kind":"k","a":{"id":1}}"#]) == [#"{"deviceId":"1","params":{"kind":"k"}}"#])
  }

  @Test func othersLeaveWhatOtherMembersTake() throws {
    #expect(
      try lines(
        #"{"params": [{"members": "p", "only": ["x"]}, {"others": "p", "prefix": "p."}, {"others": "$"}], "name": "e_*.n"}"#,
        #"{"p": {"x": 1, "y": 2}, "e_0": null, "e_1": {"n": "N", "o": 3}, "e_2": {"n": 4}}"#
      ) == [#"{"name":"N","params":{"e_1":{"o":3},"e_2":{"n":4},"p.y":2,"x":1}}"#])
    let batch = #"{"id": "d", "more": 1, "batch": [{"n": "a", "id": 2}]}"#
    #expect(
      try lines(
        #"{"deviceId": "^.id", "name": "n", "params": [{"others": "$"}, {"others": "^", "prefix": "l."}]}"#, batch,
        #", "each": "batch""#) == [#"{"deviceId":"d","name":"a","params":{"id":2,"l.more":1}}"#])
  }

  @Test func aFieldIsPutIntoTheObjectThatAnotherWordCreated() throws {
    let record = #"{"m": {"aps": {"alert": {"body": "B"}, "badge": 1}, "t": "x"}, "b": "own"}"#
    #expect(
      try lines(#"{"payload": {"members": "m"}, "payload.aps.alert": "none"}"#, record)
        == [#"{"payload":{"aps":{"alert":{"body":"B"},"badge":1},"t":"x"}}"#])
    #expect(
      try lines(#"{"payload": {"members": "m"}, "payload.aps.alert.title": "b"}"#, record)
        == [#"{"payload":{"aps":{"alert":{"body":"B","title":"own"},"badge":1},"t":"x"}}"#])
    #expect(
      try lines(#"{"payload": ["none", "m"], "payload.t.u": "none", "payload.new.er": "b"}"#, record)
        == [#"{"payload":{"aps":{"alert":{"body":"B"},"badge":1},"new":{"er":"own"},"t":"x"}}"#])
    #expect(
      try lines(#"{"payload": "m", "payload.t.u": "b"}"#, #"{"m": {"t": "x"}, "b": 1}"#)
        == [#"{"payload":{"t":{"u":1}}}"#])
    #expect(
      try lines(#"{"payload": {"path": "none", "default": {"aps": {}}}, "payload.aps.alert": "b"}"#, record)
        == [#"{"payload":{"aps":{"alert":"own"}}}"#])
  }

  @Test func nullIsAbsentAtEveryDepth() throws {
    #expect(
      try lines(
        #"{"params": {"members": "p"}, "payload": "q", "url": {"path": "u", "table": {"a": null}, "default": "b"}}"#,
        #"{"p": {"a": null, "b": {"c": null, "d": 1}}, "q": [null, {"e": null}], "u": "a"}"#)
        == [#"{"params":{"b":{"d":1}},"payload":[null,{}],"url":"b"}"#])
  }

  @Test func numbersCountByTheirValue() throws {
    func id(_ number: String) throws -> String { try lines(#"{"deviceId": "n"}"#, #"{"n": \#(number)}"#)[0] }
    for (number, text) in [
      ("12.0", "12"), ("1.2e1", "12"), ("1200E-2", "12"), ("-3.0", "-3"), ("-0.0", "0"),
      ("1e20", "1" + String(repeating: "0", count: 20)),
      ("1e21", "1e21"), ("12.50", "12.50"), ("0.1e1", "1"), ("12345678901234567890.0", "12345678901234567890"),
    ] {
      #expect(try id(number) == #"{"deviceId":"\#(text)"}"#)
    }
    let (map, faults) = try read(
      #"""
      {"rules": [{"when": {"c": [95, "7.50"], "l[k=3].v": {"begins": "12"}}, "fields": {
        "type": {"path": "c", "table": {"95": "launch", "7.5": "background"}, "default": "terminate"}, "name": {"path": "c", "prefix": "n"}}}]}
      """#)
    #expect(faults == [])
    #expect(
      outcomes(
        of: map,
        [
          #"{"c":95.0,"l":[{"k":3.0,"v":1.2e1}]}"#, #"{"c":7.5,"l":[{"k":3,"v":12}]}"#,
          #"{"c":"95.0","l":[{"k":3,"v":12}]}"#,
          #"{"c":95,"l":[{"k":"3.0","v":12}]}"#,
        ]) == [
          #"{"name":"n95","type":"launch"}"#, #"{"name":"n7.5","type":"background"}"#, "refused: no-rule",
          "refused: no-rule",
        ])
  }

  /// Of what goes elsewhere a number stays as it is written.
  @Test func numbersOfFieldsThatBecomeTextsAreWrittenByTheirValue() throws {
    #expect(
      try lines(
        #"""
        {"eventTypeCode": "c", "contactListId": "i", "programId": "h", "ids.a": "b", "ids": {"members": "o"}, "params.i": "i",
         "payload.CurrentCampaign": "i", "payload.aps": "o", "payload.data": {"members": "o"}}
        """#, #"{"c":99.0,"i":12.0,"h":1.5,"b":9007199254740993.0,"o":{"k":3.0,"l":[4.0],"t":"5.0"}}"#)
        == [
          #"{"contactListId":12,"eventTypeCode":99,"ids":{"a":9007199254740993,"k":3,"l":[4.0],"t":"5.0"},"params":{"i":12.0},"#
            + #""payload":{"CurrentCampaign":12,"aps":{"k":3.0,"l":[4.0],"t":"5.0"},"data":{"k":3,"l":[4.0],"t":"5.0"}},"programId":1.5}"#
        ])
  }

  @Test func similarNamesAreTakenWhereTheMapSaysSo() throws {
    let fields = #"{"deviceId": "context.deviceId", "name": "e_*[0].eventName", "params": {"others": "$"}}"#
    let record = #"{"CONTEXT": {"DEVICE_ID": "d", "x": 1}, "E_1": [{"event_name": "n"}], "Device": 2}"#
    #expect(
      try lines(fields, record, #", "names": "similar""#)
        == [#"{"deviceId":"d","name":"n","params":{"CONTEXT":{"x":1},"Device":2,"E_1":[{"event_name":"n"}]}}"#])
    #expect(try lines(#"{"name": "n"}"#, #"{"N": "a", "n": "b"}"#, #", "names": "similar""#) == [#"{"name":"b"}"#])
    for name in ["_n", "n_", "__N_"] {
      #expect(try lines(#"{"name": "n"}"#, "{\"\(name)\": \"a\"}", #", "names": "similar""#) == [#"{"name":"a"}"#])
    }
    #expect(try lines(#"{"name": "n"}"#, #"{"N": "a", "n": "b"}"#) == [#"{"name":"b"}"#])
    #expect(try lines(#"{"name": "n", "url": "u"}"#, #"{"N": "a", "u": "b"}"#) == [#"{"url":"b"}"#])
  }

  @Test(arguments: ["anyCase", "similar"]) func aNameHasTheSpellingOfTheMap(names: String) throws {
    #expect(
      try lines(
        #"{"params": {"members": "$", "only": ["tr_id", "tr_total"], "rename": {"tr_total": "total"}}}"#,
        #"{"TR_ID": "1", "TR_TOTAL": "2", "TR_TAX": "3"}"#, #", "names": "\#(names)""#)
        == [#"{"params":{"total":"2","tr_id":"1"}}"#])
    // Another member whose name is like one that is read is another.
    #expect(
      try lines(
        #"{"deviceId": "d", "params": {"others": "$"}}"#, #"{"d": "1", "D": "other", "m": {"d": 2}}"#,
        #", "names": "\#(names)""#) == [#"{"deviceId":"1","params":{"D":"other","m":{"d":2}}}"#])
  }

  @Test func anIdThatNamesNobodyIsNone() throws {
    let fields = #"{"deviceId": ["a", "b"], "mobileUserId": "a", "name": "a"}"#
    #expect(
      try lines(fields, #"{"a": "0-0", "b": "d"}"#, #", "nobody": ["0-0"]"#) == [#"{"deviceId":"d","name":"0-0"}"#])
    #expect(try lines(fields, #"{"a": "0-0"}"#) == [#"{"deviceId":"0-0","mobileUserId":"0-0","name":"0-0"}"#])
    // Whatever is made of it.
    for (source, value) in [
      (#"{"path": "a", "without": "x:"}"#, #""x:none""#), (#"{"path": "a", "as": "lowercase"}"#, #""NONE""#),
      (#"{"path": "a", "table": {"-": "none"}}"#, #""-""#), (#"{"paths": ["a", "c"]}"#, #""none""#),
      (#""a""#, "0.0"),
    ] {
      #expect(
        try lines(
          #"{"deviceId": [\#(source), "b"]}"#, #"{"a": \#(value), "b": "d"}"#, #", "nobody": ["none", "0"]"#)
          == [#"{"deviceId":"d"}"#], "\(source)")
    }
  }

  @Test func whatIsAbsentHidesNothing() throws {
    // By the beginning of a name: the first in which there is something.
    let first = try read(#"{"fields": {"name": "c_*[0].n", "url": "v.*"}}"#).map
    #expect(
      outcomes(
        of: first,
        [
          #"{"c_1":[],"c_2":[{"n":"x"}]}"#, #"{"c_1":[{"n":null}],"c_2":[{"n":"x"}]}"#,
          #"{"v":{"s":"","o":{"a":null},"i":7}}"#,
        ]) == [#"{"name":"x"}"#, #"{"name":"x"}"#, #"{"url":"7"}"#])
    let rest = try read(#"{"fields": {"name": "u_*.n", "params": {"others": "$"}}}"#).map
    #expect(
      outcomes(of: rest, [#"{"u_1":{"n":null,"k":""},"u_2":{"n":"x","p":1}}"#])
        == [#"{"name":"x","params":{"u_1":{"k":""},"u_2":{"p":1}}}"#])
    let there = try read(
      #"{"rules": [{"when": {"a": {"exists": true}}, "leaveOut": "there"}, {"leaveOut": "not"}]}"#
    ).map
    #expect(
      outcomes(
        of: there,
        [
          #"{"a":{}}"#, #"{"a":{"b":0}}"#, #"{"a":false}"#, #"{"a":{"b":null}}"#, #"{"a":[]}"#, #"{"a":[null]}"#,
          #"{"a":null}"#,
          #"{"a":""}"#,
        ])
        == Array(repeating: "left out: there", count: 4) + Array(repeating: "left out: not", count: 4))
    // By a name that is similar.
    let names = try read(
      #"{"names": "similar", "fields": {"deviceId": "device.id", "mobileUserId": "userId", "name": "l[keyName=a].value"}}"#
    ).map
    #expect(
      outcomes(
        of: names,
        [
          #"{"userId":null,"user_id":"u","device":{"id":null,"ID":"d"}}"#,
          #"{"USERID":"u","userId":"","device":{"ID":"d","id":""}}"#,
          #"{"userId":"u","user_id":"x","device":{"ID":null,"id":"d"}}"#,
          #"{"USERID":"x","userId":"u","device":{"id":"d","ID":""}}"#,
        ]) == Array(repeating: #"{"deviceId":"d","mobileUserId":"u"}"#, count: 4))
    #expect(
      outcomes(
        of: names,
        [
          #"{"l":[{"KEY_NAME":"b","VALUE":1},{"KEY_NAME":"a","VALUE":2}]}"#,
          #"{"l":[{"keyName":"a","value":null,"Value":2}]}"#,
        ]) == Array(repeating: #"{"name":"2"}"#, count: 2))
    let pairs = try read(#"{"names": "anyCase", "fields": {"params": {"pairs": "l"}}}"#).map
    #expect(outcomes(of: pairs, [#"{"L":[{"KEY":"a","VALUE":2}]}"#]) == [#"{"params":{"a":2}}"#])
  }

  @Test func aRecordIdThatNamesNothingIsNone() throws {
    let map = try read(#"{"fields": {"recordId": ["a", "b"]}}"#).map
    for id in ["null", "NULL", "undefined", #"\\N"#, "(null)", "  ", "00000000-0000-0000-0000-000000000000"] {
      #expect(outcomes(of: map, [#"{"a":"\#(id)","b":5.0}"#]) == [#"{"recordId":"5"}"#])
    }
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

  @Test func rulesAreAskedInTheirOrder() throws {
    let (map, faults) = try read(
      #"""
      {"fields": {"deviceId": "d", "name": "e"}, "otherwise": "quarantine", "rules": [
        {"when": {"e": {"begins": "$"}}, "leaveOut": "of the service"},
        {"when": {"e": ["a", "b"], "n": {"atLeast": 2}}, "type": "goalCompleted", "continue": true},
        {"when": {"any": [{"e": "a"}, {"e": {"not": {"contains": "x"}}, "n": {"exists": true}}]}, "type": "namedEvent",
         "fields": {"name": null}}]}
      """#)
    #expect(faults == [])
    #expect(outcomes(of: map, [#"{"d":"1","e":"$x"}"#]) == ["left out: of the service"])
    #expect(
      outcomes(of: map, [#"{"d":"1","e":"a","n":"2"}"#])
        == [#"{"deviceId":"1","name":"a","type":"goalCompleted"}"#, #"{"deviceId":"1","type":"namedEvent"}"#])
    #expect(outcomes(of: map, [#"{"d":"1","e":"c","n":0}"#]) == [#"{"deviceId":"1","type":"namedEvent"}"#])
    #expect(
      outcomes(of: map, [#"{"d":"1","e":"c"}"#, "[1]", "{"]) == [
        "refused: no-rule", "refused: not-an-object", "refused: invalid-json",
      ])
  }

  @Test func rulesThatBeginAlikeDecideAsEachWouldAlone() throws {
    var random = SplitMix64(seed: 1)
    let conditions = [
      #""e": "a""#, #""e": ["a", "b"]"#, #""n": 1"#, #""n": {"exists": true}"#, #""any": [{"e": "b"}, {"n": 1}]"#,
    ]
    let types = ["launch", "foreground", "background", "namedEvent", "goalCompleted"]
    for _ in 0..<200 {
      let rules = types.map { type in
        // Of two, the first is one of a few, so that rules that follow each other often begin alike.
        let when = (0..<random.below(3)).map { conditions[random.below($0 == 0 ? 2 : 3) + ($0 == 0 ? 0 : 2)] }
        let mayContinue = random.below(3) == 0
        let end = mayContinue ? #", "continue": true"# : ""
        let text = #"{"when": {\#(when.joined(separator: ", "))}, "type": "\#(type)"\#(end)}"#
        return (text: text, mayContinue: mayContinue)
      }
      func map(_ rules: [String]) throws -> ForeignMap {
        try read(#"{"fields": {"deviceId": "d"}, "rules": [\#(rules.joined(separator: ", "))]}"#).map
      }
      let records = ["a", "b", "c"].flatMap { e in
        [#", "n": 1"#, #", "n": 2"#, ""].map { #"{"d": "1", "e": "\#(e)"\#($0)}"# }
      }
      let alone = try rules.map { outcomes(of: try map([$0.text]), records) }
      let together = try map(rules.map(\.text))
      for (place, record) in records.enumerated() {
        var expected: [String] = []
        for (rule, outcomes) in zip(rules, alone) where outcomes[place] != "refused: no-rule" {
          expected.append(outcomes[place])
          if !rule.mayContinue { break }
        }
        #expect(outcomes(of: together, [record]) == (expected.isEmpty ? ["refused: no-rule"] : expected))
      }
    }
  }
}
