import BatchFoundation
import EventSchemas

/// Checks events that tests write as JSON.
final class EventFixture {
  private var tape = JSONTape(capacity: 1 << 20)
  private var reader = JSONReader()
  private var checker: EventChecker

  init(
    _ schema: String? = nil, environment: GameEnvironment = .live, largestRequest: Int = 1 << 20
  ) throws {
    let schema = try schema.map { try EventSchema.read(Array($0.utf8), name: "schema.json") }
    checker = EventChecker(schema: schema, environment: environment, largestRequest: largestRequest)
  }

  /// The findings as `path id`, in their order.
  func findings(_ name: String, _ parameters: String, byteCount: Int = 100) throws -> [String] {
    tape.truncate(to: 0)
    _ = try Array(parameters.utf8).withUnsafeBufferPointer { try reader.read($0, onto: &tape) }
    var name = name
    return name.withUTF8 { utf8 in
      let text = utf8.baseAddress.map { Text(base: $0, count: utf8.count) } ?? .empty
      return checker.findings(ofEvent: text, parameters: tape.view(at: 0), byteCount: byteCount).map {
        "\(String(decoding: $0.path, as: UTF8.self)) \($0.id.rawValue)"
      }
    }
  }
}
