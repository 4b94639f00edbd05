package import BatchFoundation
package import EventSchemas

/// The options of one deltaDNA sandbox. The defaults are those of the embedded `--sandbox`.
package struct DeltaDNASandboxOptions: Sendable {
  /// The keys of all environments; nil accepts any key.
  package var environmentKeys: Set<ByteText>?
  /// The secret whose hash requests must carry; nil accepts any hash or none.
  package var hashSecret: Secret?
  /// The age on arrival from which events are out of the window.
  package var oldestEvent = Milliseconds(32 * 86_400_000)
  /// The time ahead on arrival from which events are out of the window.
  package var furthestAhead = Milliseconds(48 * 3_600_000)
  package var largestBody = 5_000_000
  /// The schema that events are checked against; nil for none.
  package var schema: EventSchema?
  package var environment = EventChecker.Environment.live
  /// The answers of Engage by `decisionPoint@flavour`, as whole objects; other questions get one without parameters.
  package var decisions: [ByteText: JSONNode] = [:]
  /// The number of verdicts listed; counts stay exact beyond it.
  package var listedEvents = 10_000
  /// Determines the ids that are issued.
  package var seed: UInt64 = 1

  package init() {}
}

extension DeltaDNASandboxOptions {
  /// Reads the part of a fault file named `member` (`docs/sandbox.md`).
  ///
  /// - Throws: ``SandboxInputError`` with the place in the file.
  package mutating func read(_ reader: inout PlanReader, _ member: String = "deltadna") throws {
    guard let node = reader.node(member) else { return }
    var reader = try PlanReader(node, path: member)
    if let keys = try reader.array("environmentKeys") {
      environmentKeys = Set(
        try keys.map { node in
          guard let key = node.string else { throw reader.error("environmentKeys", "is not an array of strings") }
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
