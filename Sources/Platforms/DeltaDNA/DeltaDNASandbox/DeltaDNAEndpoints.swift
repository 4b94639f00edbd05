import BatchFoundation
package import BatchSandbox
import FoundationEssentials

/// A local Collect and a local Engage of deltaDNA (reference deltadna-service 3.7, 4.2).
package final class DeltaDNAEndpoints: SandboxPlatform {
  private let state: Guarded<DeltaDNAState>

  package init(_ options: DeltaDNASandboxOptions = DeltaDNASandboxOptions()) {
    state = Guarded(DeltaDNAState(options))
  }

  package func begin(_ time: SandboxTime) { state.withLock { $0.time = time } }

  // MARK: - Requests

  package var endpoints: [SandboxEndpoint] { SandboxEndpoint.deltaDNA }

  package func endpoint(of path: String) -> SandboxEndpoint? { DeltaDNAPath(path)?.endpoint }

  /// Requests are counted, so that the ledger tells how many there were at once; none is refused for it.
  package func limit(of endpoint: SandboxEndpoint) -> Int? { .max }

  package func work(for request: inout SandboxRequest) -> SandboxWork {
    guard let path = DeltaDNAPath(request.path) else {
      return { _ in SandboxReply(answer: .text(404, "There is nothing at this address"), applied: false) }
    }
    return { request in self.state.withLock { $0.reply(to: request, at: path) } }
  }

  package func answer(toFault id: Int, text: String?, errorClass: String) -> SandboxAnswer {
    .text(500, text ?? "Error \(id)")
  }

  // MARK: - State

  package func inspection() -> [String: String] {
    state.withLock { ["deltadna": sandboxJSON($0.verdicts.inspection)] }
  }

  private struct Saved: Codable {
    var deltadna: VerdictLog?
  }

  package func savedState() throws -> [String: String] {
    state.withLock { ["deltadna": sandboxJSON($0.verdicts)] }
  }

  package func restore(from file: [UInt8]) throws {
    guard let saved = try JSONDecoder().decode(Saved.self, from: Data(file)).deltadna else { return }
    state.withLock { $0.verdicts.restore(saved) }
  }
}

extension DeltaDNAEndpoints {
  /// What became of the events so far.
  package var verdicts: VerdictLog { state.withLock { $0.verdicts } }
}
