import BatchFoundation
import EventSchemas
import Testing

@Suite struct SchemaCoverageTests {
  @Test func listsWhatNeverCame() throws {
    let file = """
      {"events":[{"name":"a","parameters":[{"name":"x","type":"STRING"},{"name":"o","type":"OBJECT","parameters":[
      {"name":"p","type":"STRING"},{"name":"q","type":"STRING"}]},{"name":"l","type":"ARRAY","items":{"type":"OBJECT","parameters":[
      {"name":"m","type":"STRING"}]}}]},{"name":"b","parameters":[{"name":"y","type":"STRING"}]},{"name":"c"},
      {"name":"d","parameters":[{"name":"platform","type":"STRING"},{"name":"z","type":"STRING"}]}]}
      """
    let schema = try EventSchema.read(Array(file.utf8), name: "s")
    let none = coverage(schema, [])
    #expect(none.unmet(in: schema) == ["a", "b", "c", "d"])
    var some = coverage(schema, [("a", #"{"o":{"q":"1"},"l":[]}"#), ("c", "{}")])
    #expect(some.unmet(in: schema) == ["a/x", "a/o/p", "b", "d"])
    some.add(coverage(schema, [("a", #"{"l":[{"m":"1"}]}"#), ("d", #"{"z":"1"}"#)]))
    #expect(some.unmet(in: schema) == ["a/x", "a/o/p", "b", "d/platform"])
  }

  @Test func anEventOfTheProgramThatIsNotComparedIsNotCalledMissing() throws {
    let file = """
      {"events":[{"name":"ddnaForgetMe","parameters":[{"name":"ddnaAdvertisingId","type":"STRING"}]},
      {"name":"a","parameters":[{"name":"x","type":"STRING"}]}]}
      """
    let schema = try EventSchema.read(Array(file.utf8), name: "s")
    #expect(coverage(schema, [("ddnaForgetMe", "{}")]).unmet(in: schema) == ["a"])
    #expect(coverage(schema, [("a", #"{"x":"1"}"#)]).unmet(in: schema) == [])
  }

  private func coverage(_ schema: EventSchema, _ events: [(Text, String)]) -> SchemaCoverage {
    var checker = EventChecker(schema: schema, environment: .live, largestRequest: 1000)
    var reader = JSONReader()
    for (name, parameters) in events {
      var tape = JSONTape()
      do {
        _ = try Array(parameters.utf8).withUnsafeBufferPointer { try reader.read($0, onto: &tape) }
      } catch {
        Issue.record(error)
      }
      _ = checker.findings(ofEvent: name, parameters: tape.view(at: 0), byteCount: 10)
    }
    return checker.coverage
  }
}
