/// The endpoints that one platform's service has, over whatever state it keeps.
///
/// Requests are carried out one after another, in the order in which they arrive; everything else may be called at any time.
package protocol SandboxPlatform: AnyObject, Sendable {
  /// In the order in which messages name them.
  var endpoints: [SandboxEndpoint] { get }

  /// What a path is for; nil for one that belongs to someone else.
  func endpoint(of path: String) -> SandboxEndpoint?

  /// How many requests may be worked on at once at endpoints like this one; nil for one that does not count.
  func limit(of endpoint: SandboxEndpoint) -> Int?

  /// Told once, before the first request, what time it is.
  func begin(_ time: SandboxTime)

  /// Reads a request whose body is complete, names its operations, and says how it is carried out.
  func work(for request: inout SandboxRequest) -> SandboxWork

  /// How the service says no with a fault of its own to a request that a plan chose.
  func answer(toFault id: Int, text: String?, errorClass: String) -> SandboxAnswer

  /// What a request would be answered that had asked about somebody else; nil for a platform whose answers name nobody.
  func answer(to request: SandboxRequest, about person: String) -> SandboxAnswer?

  /// Every token issued so far stops being valid.
  func expireTokens()

  /// What `GET /sandbox/state` shows of it: names and JSON.
  func inspection() -> [String: String]

  /// What the state file keeps of it: names and JSON.
  func savedState() throws -> [String: String]

  /// Takes over what an earlier ``savedState()`` has put into a file, which may hold members of others too.
  func restore(from file: [UInt8]) throws
}

extension SandboxPlatform {
  package func expireTokens() {}

  package func answer(to request: SandboxRequest, about person: String) -> SandboxAnswer? { nil }
}

/// Carries a request out; the body was read before.
package typealias SandboxWork = @Sendable (SandboxRequest) -> SandboxReply

/// What a request was answered, and what it did.
package struct SandboxReply: Sendable {
  package var answer: SandboxAnswer
  /// Whether it changed, or was read from, the state; false for refused ones.
  package var applied: Bool
  /// How many events it carried.
  package var events = 0
  /// What it adds to the sums of the ledger.
  package var added = LedgerTotals()
  /// Whether the state differs from the one in the file now.
  package var changesState = false

  package init(answer: SandboxAnswer, applied: Bool, events: Int = 0) {
    self.answer = answer
    self.applied = applied
    self.events = events
  }

  package static func refused(_ answer: SandboxAnswer) -> SandboxReply { SandboxReply(answer: answer, applied: false) }

  package static func done(_ answer: SandboxAnswer) -> SandboxReply { SandboxReply(answer: answer, applied: true) }
}

/// What a request is for, by the name that fault plans and the ledger use.
package struct SandboxEndpoint: RawRepresentable, Sendable, Hashable, Codable {
  package let rawValue: String

  package init(rawValue: String) { self.rawValue = rawValue }

  /// Looking at and steering the sandbox itself.
  package static let sandbox = SandboxEndpoint(rawValue: "sandbox")
  /// A path that nobody knows.
  package static let unknown = SandboxEndpoint(rawValue: "unknown")

  /// Whether only a rule that names it hits it: tests and operators steer through such endpoints.
  package var isSheltered: Bool { self == .sandbox || rawValue == "files" }
}
