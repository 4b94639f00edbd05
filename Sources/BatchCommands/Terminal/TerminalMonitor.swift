import BatchFoundation
import BatchIngest
import BatchPipeline
import BatchThreads
import Glibc

/// Tells people on stderr what a run is doing: one line that changes on a terminal, plain lines elsewhere.
final class TerminalMonitor: RunMonitor {
  private struct State {
    var last = ContinuousClock.now
    var hasLine = false
  }

  private let style: OutputOptions.Progress
  private let isTerminal: Bool
  private let started = ContinuousClock.now
  private let state = Guarded(State())

  init(_ style: OutputOptions.Progress) {
    self.style = style
    isTerminal = style == .auto && Streams.isPlain && isatty(STDERR_FILENO) == 1
  }

  func note(_ text: String) {
    finish()
    Streams.note(text)
  }

  func progress(_ progress: IngestProgress, of total: UInt64) {
    show { seconds in Self.line(progress, of: total, after: seconds) }
  }

  func delivered(_ events: Int) {
    show { _ in "Delivery: \(events.counted("event")) posted" }
  }

  /// Operations of a series, one after the other.
  func sent(_ done: Int, of total: Int) {
    show { seconds in
      let left = seconds / Double(max(done, 1)) * Double(total - done)
      return "Operations: \(done) of \(total), about \(Int(left.rounded(.up))) s left"
    }
  }

  /// Plain lines come every five seconds, a terminal's line five times a second.
  private func show(_ line: (_ seconds: Double) -> String) {
    guard style != .none else { return }
    let now = ContinuousClock.now
    let isDue = state.withLock { state in
      guard now - state.last >= (isTerminal ? .milliseconds(200) : .seconds(5)) else { return false }
      state.last = now
      state.hasLine = isTerminal
      return true
    }
    guard isDue else { return }
    let spent = (now - started).components
    let line = line(max(Double(spent.seconds) + Double(spent.attoseconds) / 1e18, 0.001))
    if isTerminal { Streams.replace(line) } else { Streams.note(line) }
  }

  static func line(_ progress: IngestProgress, of total: UInt64, after seconds: Double) -> String {
    switch progress.stage {
    case .reading:
      let share = total == 0 ? 1 : Double(progress.bytesRead) / Double(total)
      let left = share > 0 ? seconds / share - seconds : 0
      return "Reading: \(progress.bytesRead >> 20) of \(total >> 20) MB, "
        + "\(Int(Double(progress.records) / seconds)) records/s, about \(Int(left.rounded(.up))) s left"
    case .ordering:
      return "Deciding: \(progress.records) records, \(Int(seconds)) s so far"
    }
  }

  /// Takes the changing line away.
  func finish() {
    let hadLine = state.withLock { state in
      defer { state.hasLine = false }
      return state.hasLine
    }
    if hadLine { Streams.replace("") }
  }
}
