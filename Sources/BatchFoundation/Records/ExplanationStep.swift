/// What was decided at one record of a device, or at the end of the input, by which rule and setting (`run --explain DEVICE`).
package struct ExplanationStep: Sendable {
  /// Nil for the end of the input.
  package var position: RecordPosition?
  package var timestamp: Instant?
  package var record: String
  package var before: String
  package var notes: [String]
  package var events: [String]
  package var after: String

  package init(
    position: RecordPosition?, timestamp: Instant?, record: String, before: String, notes: [String], events: [String],
    after: String
  ) {
    (self.position, self.timestamp, self.record) = (position, timestamp, record)
    (self.before, self.notes, self.events, self.after) = (before, notes, events, after)
  }

  /// The state before, what was decided and why, the events, and the state after.
  package var lines: [String] {
    ["before: \(before)"] + notes.map { "- \($0)" } + events.map { "event \($0)" } + ["after:  \(after)"]
  }
}
