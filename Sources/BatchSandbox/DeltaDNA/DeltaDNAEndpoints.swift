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

extension SandboxEndpoint {
  /// `GET /collect/api/uuid`
  package static let collectUser = SandboxEndpoint(rawValue: "collectUser")
  package static let collect = SandboxEndpoint(rawValue: "collect")
  package static let decisions = SandboxEndpoint(rawValue: "engage")

  package static let deltaDNA: [SandboxEndpoint] = [.collect, .collectUser, .decisions]
}

/// A parsed address of Collect or Engage (reference deltadna-service 3.1).
struct DeltaDNAPath: Equatable {
  var endpoint: SandboxEndpoint
  /// Empty for the address that issues user ids.
  var key = ""
  var isBulk = false
  /// The hash as written; nil if missing.
  var hash: String?
  /// Whether the part after the key makes the address invalid.
  var isUnknown = false

  /// Returns nil for a path of another service.
  init?(_ path: String) {
    if let rest = Self.rest(of: path, behind: "/collect/api/") {
      endpoint = .collect
      if rest.elementsEqual(["uuid"]) {
        endpoint = .collectUser
        return
      }
      read(rest, allowsBulk: true)
    } else if let rest = Self.rest(of: path, behind: "/engage/api/") {
      endpoint = .decisions
      read(rest, allowsBulk: false)
    } else {
      return nil
    }
  }

  /// Returns the parts after a prefix; like the service, ignores one slash at the end.
  private static func rest(of path: String, behind prefix: String) -> ArraySlice<String>? {
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
