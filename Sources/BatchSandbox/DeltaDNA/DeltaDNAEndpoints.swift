import BatchFoundation
import FoundationEssentials

/// A local Collect and a local Engage of deltaDNA (reference deltadna-service 3.7, 4.2).
package final class DeltaDNAEndpoints: GameEndpoints {
  package static let member = "deltadna"

  private let state: Guarded<DeltaDNAState>

  package init(_ options: DeltaDNASandboxOptions = DeltaDNASandboxOptions()) {
    state = Guarded(DeltaDNAState(options))
  }

  package func begin(_ time: SandboxTime) { state.withLock { $0.time = time } }

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

extension SandboxEndpoint {
  /// `GET /collect/api/uuid`
  package static let collectUser = SandboxEndpoint(rawValue: "collectUser")
  package static let collect = SandboxEndpoint(rawValue: "collect")
  package static let decisions = SandboxEndpoint(rawValue: "engage")

  package static let deltaDNA: [SandboxEndpoint] = [.collect, .collectUser, .decisions]
}

/// The parsed path of a request to Collect or Engage (reference deltadna-service 3.1).
struct DeltaDNAPath: Equatable {
  var endpoint: SandboxEndpoint
  /// Empty for the address that issues user ids.
  var key = ""
  var isBulk = false
  /// The hash as written; nil if missing.
  var hash: String?
  /// Whether the key is missing, or the part after it is invalid.
  var isUnknown = false

  /// Returns nil for the path of a different service.
  init?(_ path: String) {
    if let rest = Self.rest(of: path, after: "/collect/api/") {
      endpoint = .collect
      if rest.elementsEqual(["uuid"]) {
        endpoint = .collectUser
        return
      }
      read(rest, allowsBulk: true)
    } else if let rest = Self.rest(of: path, after: "/engage/api/") {
      endpoint = .decisions
      read(rest, allowsBulk: false)
    } else {
      return nil
    }
  }

  /// Returns the path segments after a prefix; nil for a path without it. Like the service, ignores one trailing slash.
  private static func rest(of path: String, after prefix: String) -> ArraySlice<String>? {
    guard path.utf8.starts(with: prefix.utf8) else { return nil }
    var parts = path.utf8.dropFirst(prefix.utf8.count).split(
      separator: UInt8(ascii: "/"), omittingEmptySubsequences: false
    ).map { String(Substring($0)) }
    if parts.count > 1, parts.last?.utf8.isEmpty == true { parts.removeLast() }
    return parts[...]
  }

  private mutating func read(_ parts: ArraySlice<String>, allowsBulk: Bool) {
    var parts = parts
    key = parts.popFirst() ?? ""
    if allowsBulk, parts.first?.utf8.elementsEqual("bulk".utf8) == true {
      isBulk = true
      parts.removeFirst()
    }
    if parts.first?.utf8.elementsEqual("hash".utf8) == true, parts.count == 2 {
      hash = parts.last
      parts = []
    }
    isUnknown = !parts.isEmpty || key.utf8.isEmpty
  }
}

/// A local service that accepts events from games and gives a verdict on each.
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
