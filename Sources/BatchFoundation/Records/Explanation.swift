/// The effects of the rules on one device's records, with the rule and setting that led to each
/// (`run --explain DEVICE`). They contain personal data.
package final class Explanation {
  /// One step per record, and one for the end of the input if rules act there.
  package private(set) var steps: [ExplanationStep] = []
  /// The emission numbers of the events of each step.
  private var emissions: [[Int64]] = []
  private var notes: [String] = []
  private var emitted: [(emission: Int64, text: String)] = []
  private var before = ""

  package init() {}

  /// - Parameter state: the device's state on one line.
  package func begin(_ state: String) {
    notes = []
    emitted = []
    before = state
  }

  package func note(_ text: String) { notes.append(text) }

  package func emitted(_ event: String, emission: Int64) { emitted.append((emission, event)) }

  /// Withdraws an event. If it belongs to an earlier step, `note` is added to that step.
  package func withdrawn(_ emission: Int64, _ note: String) {
    if let index = emitted.firstIndex(where: { $0.emission == emission }) {
      emitted.remove(at: index)
      return
    }
    for step in steps.indices.reversed() {
      guard let index = emissions[step].firstIndex(of: emission) else { continue }
      emissions[step].remove(at: index)
      steps[step].events.remove(at: index)
      steps[step].notes.append(note)
      return
    }
  }

  /// - Parameters:
  ///   - record: the record's type, or `end`.
  ///   - state: the device's state after the record.
  package func end(_ record: String, _ position: RecordPosition?, at instant: Instant?, _ state: String) {
    steps.append(
      ExplanationStep(
        position: position, timestamp: instant, record: record, before: before, notes: notes,
        events: emitted.map(\.text), after: state))
    emissions.append(emitted.map(\.emission))
    begin(state)
  }
}

/// The effects of the rules at one record of a device, or at the end of the input, with the rule and setting that led to each.
package struct ExplanationStep: Sendable {
  /// Nil for the end of the input.
  package var position: RecordPosition?
  package var timestamp: Instant?
  package var record: String
  package var before: String
  package var notes: [String]
  package var events: [String]
  package var after: String

  /// The step as text: the state before, the effects and their reasons, the events, and the state after.
  package var lines: [String] {
    ["before: \(before)"] + notes.map { "- \($0)" } + events.map { "event \($0)" } + ["after:  \(after)"]
  }
}
