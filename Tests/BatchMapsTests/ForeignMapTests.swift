import BatchFoundation
import BatchIngest
import EngageRules
import TestSupport
import Testing

@testable import BatchMaps

@Suite struct ForeignMapTests {
  func lines(_ fields: String, _ record: String, _ more: String = "") throws -> [String] {
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
    // An array, wherever a value is copied.
    #expect(
      try lines(
        #"{"params": {"members": "p", "flatten": "."}, "payload": {"others": "q"}, "name": "q.id"}"#,
        #"{"p": {"Tags": {"list": [{"element": "a"}, {"element": null}]}, "o": {"list": [1]}}, "q": {"l": {"list": [{"element": 1}]}, "id": 2}}"#
      ) == [#"{"name":"2","params":{"Tags":["a",null],"o.list":[1]},"payload":{"l":[1]}}"#])
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
      try lines(#"{"payload": "m", "payload.t.u": "b"}"#, #"{"m": "{\"t\": \"{\\\"v\\\": 2}\"}", "b": 1}"#)
        == [#"{"payload":{"t":{"u":1,"v":2}}}"#])
    #expect(
      try lines(#"{"payload": {"path": "none", "default": {"aps": {}}}, "payload.aps.alert": "b"}"#, record)
        == [#"{"payload":{"aps":{"alert":"own"}}}"#])
  }

  @Test func nullIsAbsentAtEveryDepth() throws {
    #expect(
      try lines(
        #"{"params": {"members": "p"}, "payload": "q", "url": {"path": "u", "table": {"a": null}, "default": "b"}}"#,
        #"{"p": {"a": null, "b": {"c": null, "d": 1}, "e": {"f": null, "g": {"h": null}}, "i": {}}, "q": [null, {"e": null}], "u": "a"}"#
      )
        == [#"{"params":{"b":{"d":1},"i":{}},"payload":[null,{}],"url":"b"}"#])
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
