package import BatchFoundation
import DeltaDNAEvents

/// Why the events of one device are what they are: per record what was decided, by which rule and setting
/// (`run --explain DEVICE`).
///
/// The values shown are those of the device's own records; whoever asks for it asks for personal data.
package final class GameExplanation {
  /// One entry per record.
  package private(set) var steps: [ExplanationStep] = []
  private var notes: [String] = []
  private var events: [String] = []
  private var before = ""

  package init() {}

  func begin(_ state: GameState) {
    notes = []
    events = []
    before = state.summary
  }

  func note(_ text: String) { notes.append(text) }

  func emitted(_ event: GameEvent) {
    var json = ByteBuffer()
    CanonicalJSON.append(event.parameters, to: &json)
    events.append(unsafe "\(event.name) \(event.eventUUID) \(String(decoding: json.bytes, as: UTF8.self))")
  }

  func end(_ record: GameRecord, _ state: GameState) {
    steps.append(
      ExplanationStep(
        position: record.position, timestamp: record.timestamp, record: record.type.name, before: before,
        notes: notes, events: events, after: state.summary))
  }
}
