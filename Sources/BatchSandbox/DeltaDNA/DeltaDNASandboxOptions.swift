package import BatchFoundation
package import EventSchemas

/// The options of one deltaDNA sandbox. The defaults are those of the embedded `--sandbox`.
package struct DeltaDNASandboxOptions: Sendable {
  /// The accepted environment keys; nil accepts any key.
  package var environmentKeys: Set<ByteText>?
  /// The secret with which requests must be hashed; nil accepts any hash or none.
  package var hashSecret: Secret?
  /// The age on arrival from which an event is out of the window.
  package var oldestEvent = Milliseconds(32 * 86_400_000)
  /// The distance into the future, on arrival, from which an event is out of the window.
  package var furthestAhead = Milliseconds(48 * 3_600_000)
  package var largestBody = 5_000_000
  /// The schema that events are checked against; nil for none.
  package var schema: EventSchema?
  package var environment = GameEnvironment.live
  /// Engage's responses by `decisionPoint@flavour`, as whole objects. Other requests get a response without parameters.
  package var decisions: [ByteText: JSONNode] = [:]
  /// The maximum number of verdicts listed; the counts include all events.
  package var listedEvents = 10_000
  /// The seed of the ids that are issued.
  package var seed: UInt64 = 1

  package init() {}
}

extension DeltaDNASandboxOptions {
  /// Reads the member named `member` of a fault file (`docs/sandbox.md`).
  package mutating func read(_ file: Fields, _ member: String = "deltadna") {
    guard let fields = file[member]?.object() else { return }
    defer { fields.end() }
    let seconds: ClosedRange<Int64> = 0...10_000_000_000
    if let keys = fields["environmentKeys"]?.elements() {
      environmentKeys = Set(keys.compactMap { $0.anyText().map { ByteText($0) } })
    }
    if let secret = fields["hashSecret"]?.anyText() { hashSecret = Secret(secret) }
    if let number = fields["oldestEventSeconds"]?.integer(seconds) { oldestEvent = Milliseconds(number * 1000) }
    if let number = fields["furthestAheadSeconds"]?.integer(seconds) { furthestAhead = Milliseconds(number * 1000) }
    if let number = fields["largestBody"]?.integer(1...1 << 30) { largestBody = number }
    if let number = fields["listedEvents"]?.integer(0...10_000_000) { listedEvents = number }
    if let given = fields["environment"]?.choice(of: GameEnvironment.allCases) { environment = given }
    if let given = fields["schema"] {
      do {
        schema = try EventSchema.read(Array(given.node.canonicalText.utf8), name: "schema")
      } catch {
        given.refuse("cannot be used: \(error)")
      }
    }
    for (question, answer) in fields["decisions"]?.entries() ?? [] {
      if answer.object() != nil { decisions[ByteText(question)] = answer.node }
    }
  }
}
