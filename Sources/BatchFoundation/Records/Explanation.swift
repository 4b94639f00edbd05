/// Why the events of one device are what they are: per record what was decided, by which rule and setting
/// (`run --explain DEVICE`).
///
/// The values shown are those of the device's own records; whoever asks for it asks for personal data.
package final class Explanation {
  /// One entry per record, and one for the end of the input where rules decide something there.
  package private(set) var steps: [ExplanationStep] = []
  /// The emission numbers of the events of each step.
  private var emissions: [[Int64]] = []
  private var notes: [String] = []
  private var emitted: [(emission: Int64, text: String)] = []
  private var before = ""

  package init() {}

  /// - Parameter state: where the device stands, on one line.
  package func begin(_ state: String) {
    notes = []
    emitted = []
    before = state
  }

  package func note(_ text: String) { notes.append(text) }

  package func emitted(_ event: String, emission: Int64) { emitted.append((emission, event)) }

  /// Takes an event back, also out of the step that decided it, which may be over.
  ///
  /// - Parameter note: what such a step says then.
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
  ///   - record: its type, or `end`.
  ///   - state: as of now.
  package func end(_ record: String, _ position: RecordPosition?, at instant: Instant?, _ state: String) {
    steps.append(
      ExplanationStep(
        position: position, timestamp: instant, record: record, before: before, notes: notes,
        events: emitted.map(\.text), after: state))
    emissions.append(emitted.map(\.emission))
    begin(state)
  }
}
