package import BatchFoundation
package import EventSchemas

/// What makes one deltaDNA sandbox differ from another. The defaults are those of the embedded `--sandbox`.
package struct DeltaDNASandboxOptions: Sendable {
  /// The only environments there are; nil takes any key.
  package var environmentKeys: Set<ByteText>?
  /// Requests without its hash, or with another one, are refused; nil takes any hash and none.
  package var hashSecret: Secret?
  /// Events older than this when they arrive are out of the window.
  package var oldestEvent = Milliseconds(32 * 86_400_000)
  /// Events that lie this far ahead when they arrive are out of the window.
  package var furthestAhead = Milliseconds(48 * 3_600_000)
  /// Bytes of a request's body.
  package var largestBody = 5_000_000
  /// What events are compared with; nil for nothing.
  package var schema: EventSchema?
  package var environment = EventChecker.Environment.live
  /// Answers of Engage by `decisionPoint@flavour`, whole objects; others get one without parameters.
  package var decisions: [ByteText: JSONNode] = [:]
  /// How many verdicts are listed; counts stay exact beyond it.
  package var listedEvents = 10_000
  /// Decides the ids that are handed out.
  package var seed: UInt64 = 1

  package init() {}
}

extension DeltaDNASandboxOptions {
  /// Takes its part of a fault file (`docs/sandbox.md`).
  ///
  /// - Parameter member: of the file.
  /// - Throws: ``SandboxInputError`` naming the place in the file.
  package mutating func read(_ reader: inout PlanReader, _ member: String = "deltadna") throws {
    guard let node = reader.node(member) else { return }
    var reader = try PlanReader(node, path: member)
    if let keys = try reader.array("environmentKeys") {
      environmentKeys = Set(
        try keys.map { node in
          guard let key = node.string else { throw reader.error("environmentKeys", "is not an array of texts") }
          return ByteText(key)
        })
    }
    if let secret = try reader.string("hashSecret") { hashSecret = Secret(secret) }
    let seconds: ClosedRange<Int64> = 0...10_000_000_000
    if let number = try reader.integer("oldestEventSeconds", seconds) { oldestEvent = Milliseconds(number * 1000) }
    if let number = try reader.integer("furthestAheadSeconds", seconds) { furthestAhead = Milliseconds(number * 1000) }
    if let number = try reader.integer("largestBody", 1...1 << 30) { largestBody = Int(number) }
    if let number = try reader.integer("listedEvents", 0...10_000_000) { listedEvents = Int(number) }
    if let name = try reader.string("environment") {
      switch name {
      case "LIVE": environment = .live
      case "DEV": environment = .development
      default: throw reader.error("environment", "'\(name)' is not one of 'LIVE', 'DEV'")
      }
    }
    if let node = reader.node("schema") {
      do {
        schema = try EventSchema.read(Array(node.canonicalText.utf8), name: "schema")
      } catch {
        throw reader.error("schema", "\(error)")
      }
    }
    if let node = reader.node("decisions") {
      guard let members = node.members else { throw reader.error("decisions", "is not an object") }
      for member in members {
        guard member.value.members != nil else { throw reader.error("decisions.\(member.key)", "is not an object") }
        decisions[ByteText(member.key)] = member.value
      }
    }
    try reader.finish()
  }
}
