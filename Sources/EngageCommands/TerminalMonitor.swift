import EngageIngest
import EngagePipeline

/// Tells people on stderr what a run is doing.
struct TerminalMonitor: RunMonitor {
  private let style: OutputOptions.Progress

  init(_ style: OutputOptions.Progress) { self.style = style }

  func note(_ text: String) { Streams.note(text) }

  func progress(_ progress: IngestProgress) throws {}
}
