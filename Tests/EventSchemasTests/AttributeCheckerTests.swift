import BatchFoundation
import EventSchemas
import Testing

@Suite("Schemas of apps") struct AttributeCheckerTests {
  private static let schema = """
    {"events": [{"name": "13"}, {"name": "17 checkout", "parameters": [
       {"name": "Event Name", "type": "STRING"}, {"name": "total", "type": "FLOAT", "required": true},
       {"name": "items", "type": "INTEGER"}, {"name": "gift", "type": "BOOLEAN"}, {"name": "when", "type": "TIMESTAMP"},
       {"name": "Ship To", "type": "STRING", "enumeration": ["home", "shop"]}, {"name": "note", "type": "STRING", "maxLength": 4}]},
      {"name": "17", "parameters": [{"name": "Event Name", "type": "STRING", "format": "[a-z]+"}]},
      {"name": "14", "published": false}]}
    """

  /// The findings as `path id`, in their order.
  private static func findings(_ names: [String], _ attributes: KeyValuePairs<String, String>) throws -> [String] {
    let arena = Arena()
    var checker = AttributeChecker(try EventSchema.read(Array(schema.utf8), name: "schema.json", of: .app))
    let attributes = attributes.map { (name: arena.text($0), value: arena.text($1)) }
    return checker.findings(ofEvent: names.map { arena.text($0) }, attributes).map {
      "\(String(decoding: $0.path, as: UTF8.self)) \($0.id.rawValue)"
    }
  }

  @Test("An event is known by its code and name, or else by its code")
  func names() throws {
    #expect(try Self.findings(["13", "13"], ["any": "thing"]) == [])
    #expect(try Self.findings(["17 checkout", "17"], ["Event Name": "checkout", "total": "9.50"]) == [])
    #expect(try Self.findings(["17 open", "17"], ["Event Name": "open"]) == [])
    #expect(
      try Self.findings(["17 Open it", "17"], ["Event Name": "Open it"]) == ["/attributes/Event Name formatMismatch"])
    #expect(try Self.findings(["16 open", "16"], [:]) == ["/eventTypeCode unknownEvent"])
    #expect(try Self.findings(["14", "14"], [:]) == ["/eventTypeCode unpublishedEvent"])
  }

  @Test(
    "Attributes are texts of a type",
    arguments: [
      ("items", "12", nil), ("items", "1.5", "wrongType"), ("gift", "true", nil), ("gift", "yes", "wrongType"),
      ("when", "2026-01-15T08:00:00Z", nil), ("when", "soon", "badTimestamp"), ("Ship To", "shop", nil),
      ("Ship To", "moon", "notInEnumeration"), ("note", "äöüß", nil), ("note", "äöüßä", "tooLong"),
      ("note", "", nil), ("Size", "", nil), ("total", "", "emptyValue"), ("total", "much", "wrongType"),
      ("Size", "4", "unknownParameter"),
    ])
  func values(name: String, value: String, finding: String?) throws {
    let found = try Self.findings(
      ["17 checkout"], name == "total" ? ["total": value] : ["total": "1", name: value])
    #expect(found == (finding.map { ["/attributes/\(name) \($0)"] } ?? []))
  }

  @Test func aMissingAttributeIsFound() throws {
    #expect(try Self.findings(["17 checkout"], ["items": "1"]) == ["/attributes/total missingRequired"])
  }

  @Test func aSchemaOfAnAppHasNoObjects() {
    let text =
      #"{"events": [{"name": "17", "parameters": [{"name": "a b", "type": "OBJECT"}, {"name": "", "type": "STRING"}]}]}"#
    #expect(
      EventSchema.inspect(Array(text.utf8), name: "s.json", of: .app).inspection.problems.map(\.fault.problem) == [
        "17.a b: the type is 'OBJECT'; known types are STRING, INTEGER, FLOAT, BOOLEAN, TIMESTAMP",
        "17: 'name' is empty or contains control characters",
      ])
  }

  @Test func whatIsEmptyIsKnownAndNotRequired() {
    let arena = Arena()
    var inference = SchemaInference()
    for attributes in [["a": "1", "b": ""], ["a": "1.5", "b": "x", "d": ""], ["a": "x", "c": "true"]] {
      inference.add(
        event: arena.text("17 open"),
        attributes: attributes.sorted { $0.key < $1.key }.map {
          (name: arena.text($0.key), value: arena.text($0.value))
        })
    }
    #expect(
      inference.document.canonicalText
        == #"{"events":[{"count":3,"name":"17 open","parameters":[{"count":3,"name":"a","required":true,"type":"STRING"},"#
        + #"{"count":1,"name":"b","type":"STRING"},{"count":1,"name":"c","type":"BOOLEAN"},{"count":0,"name":"d","type":"STRING"}]}]}"#
    )
  }
}
