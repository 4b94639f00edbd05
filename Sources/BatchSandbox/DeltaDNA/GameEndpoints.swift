import BatchFoundation
import FoundationEssentials

/// A local service that accepts events of games and judges them.
package protocol GameEndpoints: SandboxPlatform {
  /// The member name in `/sandbox/state` and in the state file.
  static var member: String { get }

  func withVerdicts<Result>(_ body: (inout VerdictLog) -> Result) -> Result
}

extension GameEndpoints {
  package var verdicts: VerdictLog { withVerdicts { $0 } }

  /// Returns a limit that is never reached, so that the ledger counts concurrent requests.
  package func limit(of endpoint: SandboxEndpoint) -> Int? { .max }

  package func answer(toFault id: Int, text: String?, errorClass: String) -> SandboxAnswer {
    .text(500, text ?? "Error \(id)")
  }

  package func inspection() -> [String: String] { [Self.member: sandboxJSON(verdicts.inspection)] }

  package func savedState() throws -> [String: String] { [Self.member: sandboxJSON(verdicts)] }

  package func restore(from file: [UInt8]) throws {
    guard let node = try JSONNode.parse(file).present(Self.member) else { return }
    let saved = try JSONDecoder().decode(VerdictLog.self, from: Data(node.canonicalText.utf8))
    withVerdicts { $0.restore(saved) }
  }
}

extension SandboxReply {
  package init(_ outcome: EventJudge.Outcome) {
    switch outcome {
    case .refused(let text):
      self = .refused(.text(400, text))
      added.violation("malformed-body")
    case .taken(let count, let valid):
      self.init(answer: SandboxAnswer(status: 204), applied: true, events: count)
      added.eventsReceived = count
      added.eventsApplied = valid
      changesState = count > 0
    }
    added.submissions = 1
  }
}
