package import BatchFoundation
import EngageEvents

/// Why the events of one device are what they are: per record what was decided, by which rule and setting
/// (`run --explain DEVICE`).
///
/// The values shown are those of the device's own records; whoever asks for it asks for personal data.
package final class Explanation {
  /// One entry per record, and one for the end of the input.
  package private(set) var steps: [ExplanationStep] = []
  /// The emission numbers of the events of each step.
  private var emissions: [[Int64]] = []
  private var notes: [String] = []
  private var emitted: [(emission: Int64, text: String)] = []
  private var before = ""

  package init() {}

  func begin(_ record: Record, _ state: DeviceState) {
    notes = []
    emitted = []
    before = state.summary
  }

  func note(_ text: String) { notes.append(text) }

  func emitted(_ draft: EventDraft, emission: Int64) {
    let named = draft.others.sorted { $0.name < $1.name }.map { "\($0.name)=\"\($0.value)\"" }.joined(separator: ", ")
    emitted.append(
      (emission, "\(draft.code) at \(draft.timestamp.rfc3339) [\(named)]\(draft.expired ? " (EXPIRED)" : "")"))
  }

  /// Takes an event back, also out of the step that decided it, which may be over.
  func withdrawn(_ emission: Int64) {
    if let index = emitted.firstIndex(where: { $0.emission == emission }) {
      emitted.remove(at: index)
      return
    }
    for step in steps.indices.reversed() {
      guard let index = emissions[step].firstIndex(of: emission) else { continue }
      emissions[step].remove(at: index)
      steps[step].events.remove(at: index)
      steps[step].notes.append("its start event is replaced by the one of a later link of the same instant")
      return
    }
  }

  func end(_ record: Record, _ state: DeviceState) {
    steps.append(
      ExplanationStep(
        position: record.position, timestamp: record.timestamp, record: "\(record.type)", before: before, notes: notes,
        events: emitted.map(\.text), after: state.summary))
    emissions.append(emitted.map(\.emission))
    notes = []
    emitted = []
    before = state.summary
  }

  func finish(_ state: DeviceState) {
    steps.append(
      ExplanationStep(
        position: nil, timestamp: nil, record: "end", before: before, notes: notes,
        events: emitted.map(\.text), after: state.summary))
    emissions.append(emitted.map(\.emission))
  }
}

extension DeviceState {
  /// One line for explanations and listings.
  package var summary: String {
    var parts: [String] = []
    switch session {
    case .none: parts.append("no session")
    case .active(let start, let accumulated):
      parts.append("session active since \(start.rfc3339) after \(accumulated.count) ms")
    case .paused(let pause):
      parts.append("session paused at \(pause.at.rfc3339) after \(pause.accumulated.count) ms")
    }
    if let campaign {
      parts.append("campaign \"\(campaign.name)\" until \(campaign.expiresAt.rfc3339)")
    } else {
      parts.append("no campaign")
    }
    parts.append(isUserIdKnown ? "user id known" : "user id unknown")
    if consent.isDenied { parts.append("consent denied") }
    if !waiting.isEmpty { parts.append("\(waiting.count) waiting") }
    if !held.isEmpty { parts.append("\(held.count) held") }
    parts.append(hasLifecycle ? "lifecycle rules" : "gap mode")
    return parts.joined(separator: "; ")
  }
}
