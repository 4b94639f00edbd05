import BatchFoundation
import Synchronization
import Testing

@testable import BatchPipeline

@Suite("How errors end a run") struct RunFailureTests {
  @Test("A signal ends it with 128 and its number", arguments: [(Int32(2), RunExit.interrupted), (15, .terminated)])
  func signals(signal: Int32, exit: RunExit) {
    #expect(RunExit(of: InterruptedError(signal: signal)) == exit)
  }

  @Test("Files that cannot be written and settings of the service that are missing are told apart")
  func writingAndSettings() {
    #expect(RunExit(of: OutputError(path: "/full", code: 28)) == .cannotWrite)
    #expect(RunExit(of: ServiceSettingsError(problems: ["a is not set"])) == .configuration)
    #expect(RunExit(of: CommandError.unreadable("routes.json")) == .configuration)
  }

  @Test("Only the first of two signals counts, and one that came early ends what begins later")
  func interruption() throws {
    let interruption = Interruption()
    try interruption.check()
    interruption.raise(15)
    interruption.raise(2)
    #expect(interruption.signal == 15)
    #expect(throws: InterruptedError(signal: 15)) { try interruption.check() }
    let ended = Ended()
    interruption.during({}, end: { ended.mark() })
    #expect(ended.count == 1)
  }
}

private final class Ended: Sendable {
  private let marks = Atomic(0)
  var count: Int { marks.load(ordering: .relaxed) }
  func mark() { marks.add(1, ordering: .relaxed) }
}
