import BatchFoundation
import BatchIngest
import BatchPipeline
import Glibc

/// The progress of a run on stderr: a changing line on a terminal, plain lines elsewhere.
final class TerminalMonitor: RunMonitor {
  private struct State {
    var last = ContinuousClock.now
    var hasLine = false
    var stage = ""
    var stageBegan = ContinuousClock.now
    /// The last line shown for the stage.
    var reported = ""
  }

  private let style: MessageOptions.Progress
  private let isTerminal: Bool
  private let pause: Duration
  private let write: @Sendable (String) -> Void
  private let state = Guarded(State())

  init(
    _ style: MessageOptions.Progress, pause: Duration = .seconds(5),
    write: @escaping @Sendable (String) -> Void = { Streams.note($0) }
  ) {
    self.style = style
    self.pause = pause
    self.write = write
    isTerminal = style == .auto && Streams.isPlain && isatty(STDERR_FILENO) == 1
  }

  func note(_ text: String) {
    finish()
    Streams.note(text)
  }

  func progress(_ progress: IngestProgress, of total: UInt64) {
    switch progress.stage {
    case .reading:
      show("Reading") { seconds in
        // The bytes of many small files say little.
        let files = progress.files < 100 ? "" : " in \(progress.filesRead.grouped) of \(progress.files.grouped) files"
        return
          "\(progress.bytesRead >> 20) of \(total >> 20) MiB\(files), \(Int(Double(progress.records) / seconds)) records/s"
          + Self.left(Double(progress.bytesRead), of: Double(total), after: seconds)
      }
    case .ordering: show("Processing", progress.records, of: progress.total, "records")
    }
  }

  func delivered(_ events: Int, of total: Int) { show("Delivery", events, of: total, "events posted") }

  func sent(_ done: Int, of total: Int) { show("Operations", done, of: total, "") }

  private func show(_ stage: String, _ done: Int, of total: Int, _ words: String) {
    show(stage) { seconds in
      "\(done.grouped) of \(max(done, total).grouped)\(words.isEmpty ? "" : " \(words)")"
        + Self.left(Double(done), of: Double(max(done, total)), after: seconds)
    }
  }

  /// Returns the remaining time at the current rate; empty if too little is done to estimate it.
  static func left(_ done: Double, of total: Double, after seconds: Double) -> String {
    guard done >= total / 100, done > 0 else { return "" }
    return ", about \(Int((seconds / done * (total - done)).rounded(.up))) s left"
  }

  /// Shows a plain line after a pause, if it is new, or updates a terminal's line five times a second.
  private func show(_ stage: String, _ words: (_ seconds: Double) -> String) {
    guard style != .none else { return }
    let now = ContinuousClock.now
    let began = state.withLock { state -> ContinuousClock.Instant? in
      if state.stage != stage { (state.stage, state.stageBegan) = (stage, now) }
      guard now - state.last >= (isTerminal ? .milliseconds(200) : pause) else { return nil }
      state.last = now
      state.hasLine = isTerminal
      return state.stageBegan
    }
    guard let began else { return }
    let line = "\(stage): \(words(max((now - began).seconds, 0.001)))"
    let isNew = state.withLock { state in
      defer { state.reported = line }
      return state.reported != line
    }
    guard isTerminal || isNew else { return }
    if isTerminal { Streams.replace(line) } else { write(line) }
  }

  /// Removes the changing line.
  func finish() {
    let hadLine = state.withLock { state in
      defer { state.hasLine = false }
      return state.hasLine
    }
    if hadLine { Streams.replace("") }
  }
}
