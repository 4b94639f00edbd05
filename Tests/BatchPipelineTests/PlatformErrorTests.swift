import BatchFoundation
import BatchPipeline
import Testing

@Suite struct PlatformErrorTests {
  private struct Unusable: RunError {
    var exit: RunExit { .configuration }
  }

  @Test func anErrorOfAPlatformSaysItselfHowTheRunEnds() {
    #expect(RunExit(of: Unusable()) == .configuration)
  }
}
