import BatchFoundation
import Testing

@testable import BatchCommands
@testable import BatchIngest

@Suite struct TerminalMonitorTests {
  /// While a service was waited for, the same line came every five seconds.
  @Test func aLineThatSaysNothingNewIsNotRepeated() {
    let lines = Guarded<[String]>([])
    let monitor = TerminalMonitor(.plain, pause: .zero) { line in lines.withLock { $0.append(line) } }
    for posted in [0, 0, 0, 5, 5] { monitor.delivered(posted, of: 5) }
    #expect(
      lines.withLock { $0 } == ["Delivery: 0 of 5 events posted", "Delivery: 5 of 5 events posted, about 0 s left"])
  }

  @Test(arguments: [(99, "0 of 1 MiB, "), (12_000, "0 of 1 MiB in 6,000 of 12,000 files, ")])
  func manyFilesAreCounted(files: Int, words: String) throws {
    let lines = Guarded<[String]>([])
    let monitor = TerminalMonitor(.plain, pause: .zero) { line in lines.withLock { $0.append(line) } }
    var progress = IngestProgress(stage: .reading, bytesRead: 0, records: 0)
    (progress.filesRead, progress.files) = (6000, files)
    monitor.progress(progress, of: 1 << 20)
    #expect(lines.withLock { $0 } == ["Reading: \(words)0 records/s"])
  }
}
