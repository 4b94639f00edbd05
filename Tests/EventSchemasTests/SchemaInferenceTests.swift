import BatchFoundation
import EventSchemas
import Testing

@Suite struct SchemaInferenceTests {
  private func inferred(_ events: [(String, String)]) throws -> String {
    var inference = SchemaInference()
    let arena = Arena()
    var reader = JSONReader()
    for (name, parameters) in events {
      var tape = JSONTape()
      _ = try Array(parameters.utf8).withUnsafeBufferPointer { try reader.read($0, onto: &tape) }
      inference.add(event: arena.text(name), parameters: tape.view(at: 0))
    }
    return inference.document.canonicalText
  }

  @Test(arguments: [
    (["1", "-9223372036854775808"], "INTEGER"), (["1", "1.5"], "FLOAT"), (["1.0"], "FLOAT"),
    (["9223372036854775808", "1"], "FLOAT"), (["true", "false"], "BOOLEAN"), (["true", "1"], "MIXED"),
    ([#""2026-01-05 10:00:00.000""#], "TIMESTAMP"), ([#""2026-01-05 10:00:00""#], "STRING"),
    ([#""2026-01-05T10:00:00.000Z""#], "STRING"), ([#""2026-01-05 10:00:00.000""#, #""x""#], "STRING"),
    ([#""x""#, "1"], "MIXED"), (["1.5", #""2026-01-05 10:00:00.000""#], "MIXED"), (["[]", "1"], "MIXED"),
  ])
  func reconcilesTypes(values: [String], type: String) throws {
    #expect(
      try inferred(values.map { ("e", "{\"a\":\($0)}") })
        == #"{"events":[{"count":\#(values.count),"name":"e","parameters":[{"count":\#(values.count),"name":"a","required":true,"type":"\#(type)"}]}]}"#
    )
  }

  @Test func namesComeByTheirBytesWithTheirCounts() throws {
    #expect(
      try inferred([("b", #"{"x":1,"Y":2}"#), ("B", "{}"), ("b", #"{"x":1.5}"#)])
        == #"{"events":[{"count":1,"name":"B","parameters":[]},{"count":2,"name":"b","parameters":["#
        + #"{"count":1,"name":"Y","type":"INTEGER"},{"count":2,"name":"x","required":true,"type":"FLOAT"}]}]}"#)
  }

  @Test func looksIntoObjectsAndArrays() throws {
    #expect(
      try inferred([
        ("e", #"{"o":{"p":1},"a":[{"q":"x"},{"q":"y","r":true}],"n":[[1],[2.5]],"z":[]}"#), ("e", #"{"o":{},"a":[]}"#),
      ])
        == #"{"events":[{"count":2,"name":"e","parameters":["#
        + #"{"count":2,"items":{"parameters":[{"count":2,"name":"q","required":true,"type":"STRING"},{"count":1,"name":"r","type":"BOOLEAN"}],"type":"OBJECT"},"name":"a","required":true,"type":"ARRAY"},"#
        + #"{"count":1,"items":{"items":{"type":"FLOAT"},"type":"ARRAY"},"name":"n","type":"ARRAY"},"#
        + #"{"count":2,"name":"o","parameters":[{"count":1,"name":"p","type":"INTEGER"}],"required":true,"type":"OBJECT"},"#
        + #"{"count":1,"name":"z","type":"ARRAY"}]}]}"#)
  }

  @Test func whatIsInferredTakesTheEventsItCameFrom() throws {
    let events = [
      ("levelUp", #"{"level":4,"when":"2026-01-05 10:00:00.000","reward":{"items":[{"item":{"n":1}}]}}"#),
      ("levelUp", #"{"level":4.5,"tags":["a","b"]}"#),
    ]
    let fixture = try EventFixture(try inferred(events))
    for (name, parameters) in events { #expect(try fixture.findings(name, parameters) == []) }
    #expect(try fixture.findings("levelUp", #"{"tags":[]}"#) == ["/eventParams/level missingRequired"])
  }

  @Test func valuesOfMixedTypesAreRefusedByTheCheck() throws {
    let schema = try inferred([("e", #"{"a":1}"#), ("e", #"{"a":"x"}"#)])
    let problems = EventSchema.inspect(Array(schema.utf8), name: "s.json").inspection.problems
    #expect(problems.map { "\($0.path) \($0.kind.rawValue)" } == ["/events/0/parameters/0/type badType"])
  }
}
