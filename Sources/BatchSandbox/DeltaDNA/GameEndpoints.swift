package import BatchFoundation
import FoundationEssentials

/// A local service that accepts events from games and gives a verdict on each. One lock guards its state, so requests are
/// carried out one at a time.
package protocol GameEndpoints: SandboxPlatform {
  /// The member name in `/sandbox/state` and in the state file.
  static var member: String { get }

  var options: DeltaDNASandboxOptions { get }
  var state: Guarded<GameState> { get }

  func reply(to request: SandboxRequest, _ state: inout GameState) -> SandboxReply
}

package struct GameState: Sendable {
  var time = SandboxTime(SandboxClock())
  var verdicts: VerdictLog
  /// How many user ids and how many decisions were given.
  var (users, decisions): (UInt64, Int64) = (0, 0)

  init(_ options: DeltaDNASandboxOptions) { verdicts = VerdictLog(limit: options.listedEvents) }
}

extension GameEndpoints {
  package var verdicts: VerdictLog { state.withLock(\.verdicts) }

  package func begin(_ time: SandboxTime) { state.withLock { $0.time = time } }

  package func work(for request: inout SandboxRequest) -> SandboxWork {
    { request in self.state.withLock { self.reply(to: request, &$0) } }
  }

  /// - Parameter isBulk: whether the body must be a list of events; nil if it may be either.
  func judge(
    _ body: UnsafeRawBufferPointer, isBulk: Bool? = nil, of request: SandboxRequest, _ state: inout GameState
  ) -> SandboxReply {
    var judge = EventJudge(options, now: state.time.now)
    return SandboxReply(unsafe judge.read(body, isBulk: isBulk, request: request.sequence, into: &state.verdicts))
  }

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
    state.withLock { $0.verdicts.restore(saved) }
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
