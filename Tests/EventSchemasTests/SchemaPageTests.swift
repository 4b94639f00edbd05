import EventSchemas
import TestSupport
import Testing

/// docs/event-schema.md and the code say the same.
@Suite struct SchemaPageTests {
  private func page() throws -> String { try Checkout.text("docs/event-schema.md") }

  @Test(arguments: ParameterType.allCases)
  func everyTypeIsDescribed(type: ParameterType) throws {
    #expect(try page().contains("| `\(type.rawValue)` |"))
  }

  @Test func theExampleCanBeUsed() throws {
    let page = try page()
    let example = try #require(page.split(separator: "```json\n").dropFirst().first?.split(separator: "```").first)
    #expect(try EventSchema.read(Array(example.utf8), name: "page").events.map(\.name) == ["levelUp"])
  }
}
