import BatchFoundation

/// A local Collect and a local Engage of deltaDNA (reference deltadna-service 3.7, 4.2).
package final class DeltaDNAEndpoints: GameEndpoints {
  package static let member = "deltadna"

  private let state: Guarded<DeltaDNAState>

  package init(_ options: DeltaDNASandboxOptions = DeltaDNASandboxOptions()) {
    state = Guarded(DeltaDNAState(options))
  }

  package func begin(_ time: SandboxTime) { state.withLock { $0.time = time } }

  package var endpoints: [SandboxEndpoint] { SandboxEndpoint.deltaDNA }

  package func endpoint(of path: String) -> SandboxEndpoint? { DeltaDNAPath(path)?.endpoint }

  package func work(for request: inout SandboxRequest) -> SandboxWork {
    guard let path = DeltaDNAPath(request.path) else {
      return { _ in .refused(.text(404, "There is nothing at this address")) }
    }
    return { request in self.state.withLock { $0.reply(to: request, at: path) } }
  }

  package func withVerdicts<Result>(_ body: (inout VerdictLog) -> Result) -> Result {
    state.withLock { body(&$0.verdicts) }
  }
}
