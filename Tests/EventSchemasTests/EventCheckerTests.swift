import BatchFoundation
import EventSchemas
import Testing

@Suite struct EventCheckerTests {
  /// The example of the reference (reference deltadna 6).
  static let levels = """
    {"events": [{"name": "levelUp", "published": true, "parameters": [
      {"name": "level", "type": "INTEGER", "required": true}, {"name": "mode", "type": "STRING", "enumeration": ["easy", "hard"]},
      {"name": "code", "type": "STRING", "format": "[A-Z]{3}"}, {"name": "tags", "type": "ARRAY", "items": {"type": "STRING"}},
      {"name": "reward", "type": "OBJECT", "parameters": [{"name": "rewardName", "type": "STRING"}]}]}]}
    """

  // MARK: One event after another

  /// What was fine once is not taken for fine again: each value is still looked at, and each other name of a parameter.
  @Test func eventsLikeOthersAreChecked() throws {
    let fixture = try EventFixture(Self.levels)
    let fine = #"{"code":"ABC","level":3,"mode":"easy","reward":{"rewardName":"r"},"tags":["t"]}"#
    let rounds: [(String, [String])] = [
      (fine, []), (fine, []), (#"{"level":1}"#, []), (fine, []), (#"{"level":2}"#, []),
      (#"{"level":"2"}"#, ["/eventParams/level wrongType"]), (#"{"level":2.5}"#, ["/eventParams/level wrongType"]),
      ("{}", ["/eventParams/level missingRequired"]), (#"{"level":null}"#, ["/eventParams/level nullValue"]),
      (#"{"level":1,"more":1}"#, ["/eventParams/more unknownParameter"]),
      (fine.replacing("ABC", with: "abc"), ["/eventParams/code formatMismatch"]),
      (fine.replacing("easy", with: "mild"), ["/eventParams/mode notInEnumeration"]),
      (fine.replacing(#"["t"]"#, with: #"["t",""]"#), ["/eventParams/tags/1 emptyValue"]),
      (fine.replacing("rewardName", with: "other"), ["/eventParams/reward/other unknownParameter"]), (fine, []),
    ]
    for (parameters, findings) in rounds {
      #expect(try fixture.findings("levelUp", parameters) == findings, "\(parameters)")
    }
    #expect(try fixture.findings("levelUp", fine, byteCount: 1 << 21) == [" tooLarge"])
    #expect(try fixture.findings("levelDown", fine) == ["/eventName unknownEvent"])
  }

  // MARK: Without a schema

  @Test(
    arguments: [
      ("levelUp", "{}", []),
      ("Level_Up2", #"{"a":1,"aB_9":[true,{"c":"d"}]}"#, []),
      ("PLAYER LOADED", "{}", ["/eventName badName"]),
      ("", "{}", ["/eventName badName"]),
      ("2fast", "{}", ["/eventName badName"]),
      ("é", "{}", ["/eventName badName"]),
      (
        "e", #"{"Upper":1,"a b":2,"_x":3,"":4}"#,
        [
          "/eventParams/ badName", "/eventParams/Upper badName", "/eventParams/_x badName", "/eventParams/a b badName",
        ]
      ),
      ("e", #"{"a":{"b":[{"C":1}]}}"#, ["/eventParams/a/b/0/C badName"]),
      ("e", #"{"a/b":1,"c~d":2}"#, ["/eventParams/a~1b badName", "/eventParams/c~0d badName"]),
      (
        "e", #"{"a":null,"b":"","c":[null,""],"d":{"e":""}}"#,
        [
          "/eventParams/a nullValue", "/eventParams/b emptyValue", "/eventParams/c/0 nullValue",
          "/eventParams/c/1 emptyValue", "/eventParams/d/e emptyValue",
        ]
      ),
      (
        "e", #"{"eventName":"","userID":{"X":null},"sessionID":1,"eventUUID":1,"eventTimestamp":1,"eventParams":1}"#,
        [
          "/eventParams/eventName reservedName", "/eventParams/eventParams reservedName",
          "/eventParams/eventTimestamp reservedName", "/eventParams/eventUUID reservedName",
          "/eventParams/sessionID reservedName", "/eventParams/userID reservedName",
        ]
      ),
      ("e", #"{"userId":1,"friend":{"userID":"u"}}"#, []),
      (
        "e", #"{"p":{"realCurrency":{"realCurrencyType":"EURO","realCurrencyAmount":1}}}"#,
        [
          "/eventParams/p/realCurrency/realCurrencyType notInEnumeration"
        ]
      ),
      (
        "e", #"{"p":{"realCurrency":{"realCurrencyType":"SLE"}},"q":{"realCurrency":{"realCurrencyType":""}}}"#,
        [
          "/eventParams/q/realCurrency/realCurrencyType emptyValue"
        ]
      ),
    ] as [(String, String, [String])])
  func findsWithoutASchema(event: String, parameters: String, findings: [String]) throws {
    #expect(try EventFixture().findings(event, parameters) == findings)
  }

  @Test func anEventAloneOverTheRequestIsTooLarge() throws {
    let fixture = try EventFixture(largestRequest: 1000)
    #expect(try fixture.findings("e", "{}", byteCount: 984) == [])
    #expect(try fixture.findings("e", #"{"a":""}"#, byteCount: 985) == [" tooLarge", "/eventParams/a emptyValue"])
  }

  // MARK: With a schema

  @Test(
    arguments: [
      ("levelUp", #"{"level":4,"mode":"easy","code":"ABC","tags":["x"],"reward":{"rewardName":"r"}}"#, []),
      ("levelUp", #"{"level":4,"platform":"IOS","sdkVersion":"x","userLevel":1,"userScore":2,"userXP":3}"#, []),
      ("levelup", #"{"a":null,"b":1}"#, ["/eventName unknownEvent", "/eventParams/a nullValue"]),
      ("levelUp", "{}", ["/eventParams/level missingRequired"]),
      ("levelUp", #"{"level":null}"#, ["/eventParams/level nullValue"]),
      (
        "levelUp", #"{"level":5.0,"userXP":"1","userScore":1.5,"platform":7}"#,
        [
          "/eventParams/level wrongType", "/eventParams/platform wrongType", "/eventParams/userScore wrongType",
          "/eventParams/userXP wrongType",
        ]
      ),
      ("levelUp", #"{"level":9223372036854775807}"#, []),
      ("levelUp", #"{"level":-9223372036854775808}"#, []),
      ("levelUp", #"{"level":9223372036854775808}"#, ["/eventParams/level wrongType"]),
      ("levelUp", #"{"level":1e2}"#, ["/eventParams/level wrongType"]),
      ("levelUp", #"{"level":""}"#, ["/eventParams/level emptyValue", "/eventParams/level wrongType"]),
      (
        "levelUp", #"{"level":1,"mode":"Easy","code":"ABCD"}"#,
        [
          "/eventParams/code formatMismatch", "/eventParams/mode notInEnumeration",
        ]
      ),
      (
        "levelUp", #"{"level":1,"mode":"","code":""}"#,
        ["/eventParams/code emptyValue", "/eventParams/mode emptyValue"]
      ),
      (
        "levelUp", #"{"level":1,"tags":["a",1,null,["b"]]}"#,
        [
          "/eventParams/tags/1 wrongType", "/eventParams/tags/2 nullValue", "/eventParams/tags/3 wrongType",
        ]
      ),
      (
        "levelUp", #"{"level":1,"tags":{"a":""},"reward":[{"B":1}]}"#,
        [
          "/eventParams/reward wrongType", "/eventParams/reward/0/B badName", "/eventParams/tags wrongType",
          "/eventParams/tags/a emptyValue",
        ]
      ),
      (
        "levelUp", #"{"level":1,"reward":{"rewardName":true,"other":{"more":1}}}"#,
        [
          "/eventParams/reward/other unknownParameter", "/eventParams/reward/rewardName wrongType",
        ]
      ),
      (
        "levelUp", #"{"level":1,"Odd":null,"Odder":1}"#,
        [
          "/eventParams/Odd badName", "/eventParams/Odd nullValue", "/eventParams/Odder badName",
          "/eventParams/Odder unknownParameter",
        ]
      ),
      ("levelUp", #"{"level":1,"userID":"u"}"#, ["/eventParams/userID reservedName"]),
      ("ddnaForgetMe", #"{"a":1}"#, []),
    ] as [(String, String, [String])])
  func findsWithASchema(event: String, parameters: String, findings: [String]) throws {
    #expect(try EventFixture(Self.levels).findings(event, parameters) == findings)
  }

  @Test func unpublishedEventsAreAFindingInLiveOnly() throws {
    let schema = #"{"events":[{"name":"beta","published":false,"parameters":[{"name":"a","type":"FLOAT"}]}]}"#
    #expect(
      try EventFixture(schema).findings("beta", #"{"a":true}"#) == [
        "/eventName unpublishedEvent", "/eventParams/a wrongType",
      ])
    #expect(try EventFixture(schema, environment: .development).findings("beta", #"{"a":7}"#) == [])
  }

  @Test func withoutParametersOrItemsNothingInsideIsCompared() throws {
    let schema = """
      {"events":[{"name":"free"},{"name":"open","parameters":[{"name":"o","type":"OBJECT"},{"name":"a","type":"ARRAY"}]},
      {"name":"closed","parameters":[{"name":"o","type":"OBJECT","parameters":[]}]}]}
      """
    let fixture = try EventFixture(schema)
    #expect(try fixture.findings("free", #"{"x":1,"userLevel":"one"}"#) == [])
    #expect(try fixture.findings("open", #"{"o":{"x":1},"a":[1,"b",{}]}"#) == [])
    #expect(try fixture.findings("closed", #"{"o":{"x":1}}"#) == ["/eventParams/o/x unknownParameter"])
  }

  @Test func objectsInArraysAreComparedLikeOthers() throws {
    let schema = """
      {"events":[{"name":"t","parameters":[{"name":"items","type":"ARRAY","items":{"type":"OBJECT","parameters":[
      {"name":"item","type":"OBJECT","required":true,"parameters":[{"name":"itemAmount","type":"INTEGER","required":true}]}]}}]}]}
      """
    #expect(
      try EventFixture(schema).findings("t", #"{"items":[{"item":{"itemAmount":1}},{},{"item":{}},{"item":1,"b":2}]}"#)
        == [
          "/eventParams/items/1/item missingRequired", "/eventParams/items/2/item/itemAmount missingRequired",
          "/eventParams/items/3/b unknownParameter", "/eventParams/items/3/item wrongType",
        ])
  }

  @Test(arguments: [
    ("2026-01-05 10:00:00.000", true), ("2026-1-5 1:2:3.123456", true), ("2026-01-05T10:00:00Z", true),
    ("2026-01-05T10:00:00.5+0530", true), ("2026-02-30 10:00:00", false), ("yesterday", false),
    ("1767607215250", false),
  ])
  func timestampsAreReadLikeThoseOfEvents(text: String, isTimestamp: Bool) throws {
    let fixture = try EventFixture(#"{"events":[{"name":"e","parameters":[{"name":"at","type":"TIMESTAMP"}]}]}"#)
    #expect(try fixture.findings("e", #"{"at":"\#(text)"}"#) == (isTimestamp ? [] : ["/eventParams/at badTimestamp"]))
    #expect(try fixture.findings("e", #"{"at":""}"#) == ["/eventParams/at emptyValue"])
    #expect(try fixture.findings("e", #"{"at":1767607215250}"#) == ["/eventParams/at wrongType"])
  }

  @Test func anUnknownCurrencyIsOneFindingAlsoWhereTheSchemaListsOthers() throws {
    let schema = """
      {"events":[{"name":"t","parameters":[{"name":"realCurrencyType","type":"STRING","enumeration":["EUR","GEM"]}]}]}
      """
    let fixture = try EventFixture(schema)
    #expect(
      try fixture.findings("t", #"{"realCurrencyType":"XYZ"}"#) == ["/eventParams/realCurrencyType notInEnumeration"])
    #expect(
      try fixture.findings("t", #"{"realCurrencyType":"USD"}"#) == ["/eventParams/realCurrencyType notInEnumeration"])
    #expect(
      try fixture.findings("t", #"{"realCurrencyType":"GEM"}"#) == ["/eventParams/realCurrencyType notInEnumeration"])
    #expect(try fixture.findings("t", #"{"realCurrencyType":"EUR"}"#) == [])
  }

  @Test func aLongTextIsMatchedAsAWhole() throws {
    let fixture = try EventFixture(
      #"{"events":[{"name":"t","parameters":[{"name":"receipt","type":"STRING","format":"[A-Za-z0-9+/=]+"}]}]}"#)
    let receipt = String(repeating: "bWFkZSB1cA==", count: 20_000)
    #expect(try fixture.findings("t", #"{"receipt":"\#(receipt)"}"#) == [])
    #expect(try fixture.findings("t", #"{"receipt":"\#(receipt)!"}"#) == ["/eventParams/receipt formatMismatch"])
  }
}
