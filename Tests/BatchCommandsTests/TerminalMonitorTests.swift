import BatchFoundation
import Testing

@testable import BatchCommands

@Suite struct TerminalMonitorTests {
  /// While a service was waited for, the same line came every five seconds.
  @Test func aLineThatSaysNothingNewIsNotRepeated() {
    let lines = Guarded<[String]>([])
    let monitor = TerminalMonitor(.plain, pause: .zero) { line in lines.withLock { $0.append(line) } }
    for posted in [0, 0, 0, 5, 5] { monitor.delivered(posted, of: 5) }
    #expect(
      lines.withLock { $0 } == ["Delivery: 0 of 5 events posted", "Delivery: 5 of 5 events posted, about 0 s left"])
  }
}
