extension SandboxEndpoint {
  /// `GET /collect/api/uuid`
  package static let collectUser = SandboxEndpoint(rawValue: "collectUser")
  package static let collect = SandboxEndpoint(rawValue: "collect")
  package static let decisions = SandboxEndpoint(rawValue: "engage")

  /// Those of deltaDNA.
  package static let deltaDNA: [SandboxEndpoint] = [.collect, .collectUser, .decisions]
}

/// An address of Collect or Engage, taken apart (reference deltadna-service 3.1).
struct DeltaDNAPath: Equatable {
  var endpoint: SandboxEndpoint
  /// Empty for the address that hands out user ids.
  var key = ""
  var isBulk = false
  /// As it was written; nil without one.
  var hash: String?
  /// Whether what stands behind the key is not an address at all.
  var isUnknown = false

  /// Nil for a path of another service.
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

  /// The parts behind a prefix; one slash at the end is forgiven, as the service does.
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
