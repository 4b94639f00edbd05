import BatchFoundation
import BatchIngest
import TestSupport
import Testing

@testable import BatchMaps

/// The words for faults of a map and for records that it cannot use.
extension ForeignMapTests {
  @Test func aFindingShowsTheTimeOrTypeAndTheLettersOfANameThatDiffer() throws {
    let map = try read(
      #"""
      {"fields": {"deviceId": "id", "timestamp": ["at", "when"], "action": {"path": "what"}},
       "rules": [{"when": {"event_type": "tap", "kind": "x"}, "type": "launch"}]}
      """#
    ).map
    func detail(_ reason: QuarantineReason, _ field: String?, _ record: String, _ map: ForeignMap) -> String {
      map.detail(of: .init(reason: reason, field: field), rule: 0, record: Array(record.utf8))
    }
    #expect(
      detail(.invalidTimestamp, "timestamp", #"{"at": "2026:01:15 05:59:45,5", "id": "ada@example.test"}"#, map)
        == "field 'timestamp': '2026:01:15 05:59:45,5' is not a time: the map 'map.json' reads the field from 'at', 'when'"
    )
    #expect(
      detail(.invalidTimestamp, "timestamp", #"{"when": 12}"#, map).hasPrefix("field 'timestamp': '12' is not a time"))
    #expect(
      detail(.unknownType, "action", #"{"what": "dismissed"}"#, map)
        == "field 'action': 'dismissed' is unknown: the map 'map.json' reads the field from 'what'")
    for time in [
      "Thu Jan 15 08:00:00 2026", "01/15/2026 8:00 AM", "2026-01-15 08:00:00 +0000 UTC", "Jan 15, 2026, 8:00:00 AM",
      "/Date(1768464000000)/", "2026-W03-4", "yesterday", "15-January-2026",
    ] {
      #expect(
        detail(.invalidTimestamp, "timestamp", #"{"at": "\#(time)"}"#, map).hasPrefix(
          "field 'timestamp': '\(time)' is not"))
    }
    for (value, shown) in [
      (#""com.acme.REPLY""#, "com.acme.REPLY"), (#""opened ""#, "opened "), ("7", "7"), ("true", "true"),
    ] {
      #expect(
        detail(.unknownType, "action", #"{"what": \#(value)}"#, map).hasPrefix(
          "field 'action': '\(shown)' is unknown"))
    }
    // Nothing of a person, whatever stands in the place of a time or a type.
    for record in [
      #"{"at": "ada@example.test", "what": "ada@example.test"}"#, #"{"at": {"x": 1}, "what": "Ada Lovelace"}"#,
      #"{"at": "May Day 1999", "what": "+4917012345"}"#, #"{"at": "Augusta 7", "what": "12345"}"#,
    ] {
      #expect(detail(.invalidTimestamp, "timestamp", record, map).hasPrefix("field 'timestamp' is not a time"))
      #expect(detail(.unknownType, "action", record, map).hasPrefix("field 'action' has an unknown value"))
    }
    #expect(
      detail(.noRule, nil, #"{"EVENT_TYPE": "tap", "kind": "x"}"#, map)
        == "no rule of the map 'map.json' matches the record; the record has 'EVENT_TYPE', but the map expects 'event_type'"
    )
    #expect(detail(.noRule, nil, #"{"event_type": "tap"}"#, map) == "no rule of the map 'map.json' matches the record")
    #expect(
      detail(.noRule, nil, #"{"payload": {"x": 1}}"#, try preset("apns"))
        == "no rule of the map 'apns' matches the record; the record has no 'payload.aps', no 'aps'")
    let nested = try read(#"{"rules": [{"when": {"a.what": "tap"}, "type": "launch"}]}"#).map
    #expect(
      detail(.noRule, nil, #"{"a": {"What": "tap"}}"#, nested)
        == "no rule of the map 'map.json' matches the record; the record has 'What', but the map expects 'a.what'")
    #expect(
      detail(.noRule, nil, #"{"a": {"what": "x", "What": 1}}"#, nested)
        == "no rule of the map 'map.json' matches the record")
  }

  @Test func faultsNameTheLineAndWhatWasMeant() throws {
    #expect(
      try read(
        """
        {"feilds": {},
         "form": "cvs",
         "rules": [{"when": {"a..b": 1}, "type": "launch",
           "fields": {"name": {"pth": "x"}, "timestamp": {"path": "t", "time": "second"},
             "params.a": {"path": "a", "table": "typs"}}}],
         "tables": {"types": {}}}
        """
      ).faults == [
        "map.json:1: error: unknown key 'feilds'; did you mean 'fields'?",
        "map.json:2: error: 'form' is 'cvs', but must be one of 'lines', 'text', 'json', 'csv', 'tsv', 'store'; did you mean 'csv'?",
        "map.json:3: error: 'rules[0].when.a..b' names a path that has an empty name",
        "map.json:4: error: 'rules[0].fields.name' has neither 'path', 'paths' nor 'constant'",
        "map.json:4: error: unknown key 'rules[0].fields.name.pth'; did you mean 'rules[0].fields.name.path'?",
        "map.json:4: error: 'rules[0].fields.timestamp.time' is 'second', in which 'e' is not a pattern field; did you mean 'seconds'?",
        "map.json:5: error: 'rules[0].fields.params.a.table' is 'typs', but the map has no such table; did you mean 'types'?",
        "map.json:5: warning: 'rules[0].fields.params.a' has a table without 'default': the field is left unset for values that the table does not list",
      ])
  }

  @Test func refusalsNameTheMembersOfTheRecord() throws {
    let map = try preset("segment")
    let record = Array(#"{"type":"track","event":"x","anonymusId":"1"}"#.utf8)
    let rule = try #require(map.rules.firstIndex { $0.name == "track" })
    #expect(
      map.detail(of: .init(reason: .missingField, field: "deviceId"), rule: rule, record: record)
        == "field 'deviceId' is missing: the map 'segment' reads the field from 'context.device.id', 'anonymousId', "
        + "'^.context.device.id', '^.anonymousId'; the record has 'anonymusId'")
    // Of what is below a field, or above, it was told that the rule has no path for it.
    let products = try read(
      #"{"fields": {"deviceId": "d", "spent.realCurrency.type": "cur", "spent.realCurrency.amount": "amt", "received": "got"}}"#
    ).map
    for (field, paths) in [
      ("/spent/realCurrency/amount", "'amt'"), ("spent", "'amt', 'cur'"), ("/received/items/0/amount", "'got'"),
    ] {
      let detail = products.detail(of: .init(reason: .missingField, field: field), rule: 0, record: [])
      #expect(detail.hasSuffix(" reads the field from \(paths)"), "\(detail)")
    }
    #expect(
      map.detail(of: .init(reason: .noRule), rule: 0, record: record)
        == "no rule of the map 'segment' matches the record")
  }

  /// It was said that the rule has no path for it.
  @Test func aValueThatTheMapItselfGivesIsNamed() throws {
    let map = try read(
      #"""
      {"fields": {"deviceId": ["a", "b", "c", "d", "e", "f"]},
       "rules": [{"when": {"k": 1}, "type": "namedEvnt"},
         {"name": "t", "type": {"path": "k", "table": {"x": "lanch"}, "default": "launch"}}]}
      """#
    ).map
    func detail(_ reason: QuarantineReason, _ field: String, _ rule: Int) -> String {
      map.detail(of: .init(reason: reason, field: field), rule: rule, record: Array("{}".utf8))
    }
    #expect(
      detail(.unknownType, "type", 0)
        == "field 'type' has an unknown value: rule '1' of the map 'map.json' sets it to 'namedEvnt'")
    #expect(
      detail(.unknownType, "type", 1)
        == "field 'type' has an unknown value: rule 't' of the map 'map.json' sets it to 'lanch' or 'launch'")
    // Paths beyond the fifth were passed over in silence.
    #expect(detail(.missingField, "deviceId", 0).hasSuffix(" reads the field from 'a', 'b', 'c', 'd', 'e', …"))
    #expect(
      try preset("fcm").detail(of: .init(reason: .unknownType, field: "action"), rule: 1, record: Array("{}".utf8))
        == "field 'action' has an unknown value: the map 'fcm' reads the field from 'action', 'event', 'actionIdentifier', 'actionID'"
    )
  }

  @Test func recordsOfAnotherInputAreToldSo() throws {
    let record = Array("{}".utf8)
    for (name, rule) in [("fcm", 1), ("apns", 1), ("onesignal", 1)] {
      #expect(
        try preset(name).detail(of: .init(reason: .missingField, field: "type"), rule: rule, record: record)
          == "field 'type' is missing: the map '\(name)' creates notifications; list the file under 'notifications'")
    }
    #expect(
      try preset("segment").detail(of: .init(reason: .missingField, field: "action"), rule: 0, record: record)
        == "field 'action' is missing: the map 'segment' creates events; list the file under 'events'")
  }

  @Test func aTextThatIsNotUTF8IsToldHowAMapSaysSo() throws {
    func detail(_ words: String, record: String = #"{"d"é"}"#) throws -> String {
      try read(#"{\#(words)"fields": {"deviceId": "d"}}"#).map.detail(
        of: .init(reason: .invalidUTF8, offset: 4), rule: 0, record: Array(record.utf8))
    }
    let advice = #"; if the file is in another encoding, name it in the map: "encoding": "windows-1252""#
    #expect(try detail(#""form": "csv", "#) == "at byte 5 of the line" + advice)
    #expect(try detail(#""form": "csv", "encoding": "iso-8859-1", "#) == "at byte 5 of the line")
    #expect(try detail("") == "at byte 5 of the line")
    #expect(try detail(#""form": "json", "#, record: #"{"d"\uD800"}"#) == "at byte 5 of the line")
  }

  @Test func everyWordIsInTheReferenceAndInTheSchema() throws {
    let page = try Checkout.text("docs/reference/formats.md")
    let schema = try Checkout.text("configs/schemas/map.json")
    let reference = page[(page.firstRange(of: "## 6 Maps")?.lowerBound ?? page.endIndex)...]
    // What is wrong with a key that nothing is near names the keys that are known.
    let odd = "\"01234567890123456789\": 1"
    let faults = try read(
      #"""
      {\#(odd), "fields": {"name": {"path": "a", \#(odd)}, "params": {"members": "b", \#(odd)}},
       "rules": [{"when": {"c": {\#(odd)}}, "type": "launch", \#(odd)}]}
      """#
    ).faults
    let words = faults.flatMap { fault in
      fault.firstRange(of: "known keys: ").map { fault[$0.upperBound...].split(separator: ", ") } ?? []
    }
    #expect(faults.count == 5 && words.count == 54)
    for word in words {
      #expect(reference.contains("`\(word)`"), "\(word)")
      #expect(schema.contains("\"\(word)\""), "\(word)")
    }
    for form in MapValueForm.allCases.map(\.rawValue) + TextEncoding.allCases.map(\.rawValue) {
      #expect(reference.contains("`\(form)`") && schema.contains("\"\(form)\""), "\(form)")
    }
    let presets = try Checkout.text("docs/maps.md")
    for name in Preset.all.map(\.name) {
      #expect(reference.contains("`\(name)`") && presets.contains("`\(name)`"), "\(name)")
    }
  }

  @Test func fieldsThatNoRecordHasAreFaults() throws {
    #expect(
      try read(#"{"fields": {"deviceID": "d", "params.own": "x", "campaign": "c", "payload.aps.alert": "a"}}"#).faults
        == [
          "map.json:1: error: 'fields.deviceID' is not a record field; did you mean 'deviceId'?",
          "map.json:1: error: 'fields.campaign' is not a record field; put your own members in 'params'",
        ])
  }

  /// Also if the rules are those of an included map, with its spellings of names.
  @Test func aFieldThatAnIncludedMapReadsIsNotEmpty() throws {
    let record = #"{"type":"track","event":"e","anonymous_id":"a","USER_ID":"u","message_id":"m","timestamp":"T"}"#
    let empty = try preset("rudderstack").emptyFields(of: [Array(record.utf8)]).map(\.field)
    #expect(empty.allSatisfy { $0.hasPrefix("device.") || $0 == "params" }, "\(empty)")
  }

  @Test func wordsThatSayNothingOfRecordsAreNamed() throws {
    var map = try read(
      #"""
      {"each": "e", "fields": {"deviceId": ["d", "^.d"], "timestamp": "t", "mobileUserId": ["u", "user.id"], "type": {"constant": "launch"}},
       "rules": [{"name": "a", "when": {"k": "a"}, "fields": {"params": {"members": "p"}}}, {"name": "b", "when": {"k": "b"}}]}
      """#
    ).map
    map.ownRules = 2
    #expect(
      map.ineffectiveParts(for: [#"{"d":"1","e":[{"k":"a","t":1},{"k":"c"}]}"#, "no"].map { Array($0.utf8) }) == [
        "rule 'a': no record has 'u', 'user.id', from which 'mobileUserId' is read",
        "rule 'a': no record has 'p', from which 'params' is read", "rule 'b' matches no record",
      ])
  }
}
