import BatchFoundation
import BatchStore

/// Quarantined lines that are imported again. Lines that are refused again are not quarantined a second time.
///
/// The new reasons are written to the store in batches, so that memory holds only one flag for each line.
final class ReplayedLines: Sendable {
  let input: ReplayInput
  /// The store for the reasons; nil if there is none.
  private let store: EventStore?
  private let state: Guarded<State>

  private struct State {
    /// Whether each line was refused, indexed like ``ReplayInput/ids``.
    var isRefused: [Bool]
    /// Reasons found but not yet noted.
    var reasons: [Int64: (reason: QuarantineReason, detail: String)] = [:]
  }

  init(_ input: ReplayInput, store: EventStore?) {
    self.input = input
    self.store = store
    state = Guarded(State(isRefused: [Bool](repeating: false, count: input.ids.count)))
  }

  func refuse(_ lines: [QuarantinedLine]) throws {
    let full = state.withLock { state in
      for line in lines {
        guard let place = input.place(file: line.file, line: line.line) else { continue }
        state.isRefused[place] = true
        state.reasons[input.ids[place]] = (line.reason, line.detail)
      }
      return Self.take(&state.reasons, from: ReplayInput.linesAtOnce)
    }
    try note(full)
  }

  /// Notes the remaining reasons.
  func finishNotes() throws { try note(state.withLock { Self.take(&$0.reasons, from: 1) }) }

  /// Passes to `body`, in pages, the ids of the lines that were not refused.
  func forEachTaken(_ body: ([Int64]) throws -> Void) throws {
    let isRefused = state.withLock(\.isRefused)
    for start in stride(from: 0, to: input.ids.count, by: ReplayInput.linesAtOnce) {
      let end = min(start + ReplayInput.linesAtOnce, input.ids.count)
      try body((start..<end).filter { !isRefused[$0] }.map { input.ids[$0] })
    }
  }

  private static func take(
    _ reasons: inout [Int64: (reason: QuarantineReason, detail: String)], from limit: Int
  ) -> [Int64: (reason: QuarantineReason, detail: String)] {
    guard reasons.count >= limit else { return [:] }
    defer { reasons.removeAll(keepingCapacity: true) }
    return reasons
  }

  /// Notes reasons; lines of forgotten people are deleted.
  private func note(_ reasons: [Int64: (reason: QuarantineReason, detail: String)]) throws {
    try store?.quarantine.note(reasons.filter { $0.value.reason != .forgotten })
    try store?.quarantine.drop(reasons.filter { $0.value.reason == .forgotten }.map(\.key).sorted())
  }
}
