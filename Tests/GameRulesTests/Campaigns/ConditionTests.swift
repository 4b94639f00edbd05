import Testing

@Suite struct ConditionTests {
  @Test(
    arguments: [
      ("[]", "{}", true),
      (#"[{"b":true}]"#, "{}", true),
      (#"[{"b":false}]"#, "{}", false),
      (#"[{"i":1}]"#, "{}", false),
      (#"[{"b":false},{"b":true}]"#, "{}", true),
      // A parameter has no kind of its own.
      (#"[{"p":"a"}]"#, #"{"a":true}"#, false),
      (#"[{"b":true},{"p":"a"},{"o":"and"}]"#, #"{"a":true}"#, false),
      (#"[{"p":"a"},{"b":true},{"o":"and"}]"#, #"{"a":true}"#, true),
      (
        #"[{"p":"a"},{"i":1},{"o":"equal to"},{"p":"b"},{"s":"x"},{"o":"equal to"},{"o":"and"}]"#, #"{"a":1,"b":"x"}"#,
        true
      ),
      (#"[{"p":"a"},{"p":"b"},{"o":"equal to"}]"#, #"{"a":1,"b":1}"#, false),
      (#"[{"o":"and"}]"#, "{}", false),
      (#"[{"b":true},{"o":"and"}]"#, "{}", false),
      (#"[{"b":true},{"x":1}]"#, "{}", false),
      (#"[{"x":1},{"b":true}]"#, "{}", false),
      (#"[{"b":true,"i":1}]"#, "{}", false),
      (#"[true]"#, "{}", false),
      (#"[{"b":"true"}]"#, "{}", false),
      (#"{"b":true}"#, "{}", false),
      (#"[{"b":true},{"b":true},{"o":"xor"},{"b":true}]"#, "{}", false),
      // The top of the event only.
      (#"[{"p":"a"},{"i":1},{"o":"equal to"}]"#, #"{"b":{"a":1}}"#, false),
      (#"[{"p":"a"},{"i":1},{"o":"equal to"}]"#, #"{"a":null}"#, false),
    ] as [(String, String, Bool)])
  func holds(condition: String, parameters: String, holds: Bool) throws {
    #expect(try TriggerFixture.holds(condition, parameters) == holds)
  }

  @Test(
    arguments: [
      ("5", "5.0", "equal to", true), ("5e0", "0.5e1", "equal to", true), ("5.7", "5.2", "equal to", false),
      ("5.7", "5.2", "greater than", true), ("-0", "0.000", "equal to", true), ("-1", "0", "less than", true),
      ("-2", "-1", "less than", true), ("-1", "-1.0", "less than eq", true), ("100", "1e2", "greater than eq", true),
      ("0.001", "1E-3", "equal to", true), ("9007199254740993", "9007199254740992", "greater than", true),
      ("0.1", "0.10000000000000000000000000000000000000000000000001", "less than", true),
      (
        "123456789012345678901234567890123456789012345678901", "123456789012345678901234567890123456789012345678902",
        "less than", true
      ),
      ("1e-300", "0", "greater than", true), ("10", "9", "GREATER Than", true), ("10", "9", "greater  than", false),
      ("1", "1", "equal to ic", false), ("1", "1", "and", false), ("1", "1", "contains", false),
    ] as [(String, String, String, Bool)])
  func numbersAreComparedAsExactDecimals(left: String, right: String, operation: String, holds: Bool) throws {
    for kind in ["i", "l", "f", "d"] {
      let rest = #"{"o":"\#(operation)"}"#
      #expect(try TriggerFixture.holds(#"[{"p":"a"},{"\#(kind)":\#(right)},\#(rest)]"#, #"{"a":\#(left)}"#) == holds)
      #expect(try TriggerFixture.holds(#"[{"p":"a"},{"\#(kind)":"\#(right)"},\#(rest)]"#, #"{"a":\#(left)}"#) == holds)
      #expect(try TriggerFixture.holds(#"[{"i":\#(left)},{"\#(kind)":\#(right)},\#(rest)]"#, "{}") == holds)
      #expect(try !TriggerFixture.holds(#"[{"p":"a"},{"\#(kind)":\#(right)},\#(rest)]"#, #"{"a":"\#(left)"}"#))
    }
  }

  @Test(
    arguments: [
      ("b", "B", "equal to", false), ("b", "B", "equal to ic", true), ("b", "B", "not equal to", true),
      ("b", "B", "not equal to ic", false), ("é", "É", "equal to ic", false), ("aé", "Aé", "EQUAL TO IC", true),
      ("HeLlO wOrLd", "o W", "contains", false), ("HeLlO wOrLd", "o W", "contains ic", true),
      ("x", "", "contains", true),
      ("x", "", "starts with", true), ("x", "", "ends with", true), ("", "x", "starts with", false),
      ("ab", "abc", "ends with", false),
      ("abc", "bc", "ends with", true), ("abc", "BC", "ends with ic", true), ("abc", "AB", "starts with ic", true),
      ("b", "a", "greater than", false), ("b", "b", "less than eq", false), ("x", "x", "or", false),
      ("[", "{", "equal to ic", false), ("@", "`", "equal to ic", false),
    ] as [(String, String, String, Bool)])
  func textsAreComparedByTheirBytes(left: String, right: String, operation: String, holds: Bool) throws {
    let rest = #"{"s":"\#(right)"},{"o":"\#(operation)"}"#
    #expect(try TriggerFixture.holds(#"[{"p":"a"},\#(rest)]"#, #"{"a":"\#(left)"}"#) == holds)
    #expect(try TriggerFixture.holds(#"[{"s":"\#(left)"},\#(rest)]"#, "{}") == holds)
  }

  @Test(
    arguments: [
      ("2018-06-13T00:00:00.000Z", "2018-06-13 00:00:00", "equal to", true),
      ("2018-6-13 2:0:0", "2018-06-13T00:00:00-0200", "equal to", true),
      ("2018-06-13 00:00:00.0009", "2018-06-13T00:00:00.000Z", "equal to", true),
      ("2018-06-13 00:00:00.001", "2018-06-13T00:00:00.000Z", "greater than", true),
      ("1970-01-01 00:00:00.000", "1971-01-01T00:00:00.000+0000", "less than", true),
      ("soon", "2018-06-13T00:00:00.000Z", "not equal to", false),
      ("2018-06-13T00:00:00Z", "soon", "not equal to", false),
      ("2018-06-13T00:00:00Z", "2018-06-13T00:00:00Z", "contains", false),
    ] as [(String, String, String, Bool)])
  func timesAreComparedAsInstants(left: String, right: String, operation: String, holds: Bool) throws {
    let rest = #"{"t":"\#(right)"},{"o":"\#(operation)"}"#
    #expect(try TriggerFixture.holds(#"[{"p":"a"},\#(rest)]"#, #"{"a":"\#(left)"}"#) == holds)
    #expect(try TriggerFixture.holds(#"[{"t":"\#(left)"},\#(rest)]"#, "{}") == holds)
  }

  @Test func aNumberIsNoTime() throws {
    let condition = #"[{"p":"a"},{"t":"2026-01-05T10:00:15.250Z"},{"o":"equal to"}]"#
    #expect(try !TriggerFixture.holds(condition, #"{"a":1767607215250}"#))
    #expect(try !TriggerFixture.holds(condition, #"{"a":"1767607215250"}"#))
    #expect(try !TriggerFixture.holds(#"[{"p":"a"},{"t":1767607215250},{"o":"equal to"}]"#, #"{"a":1767607215250}"#))
  }
}
