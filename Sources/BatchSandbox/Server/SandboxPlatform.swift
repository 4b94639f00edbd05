/// The endpoints of one platform's service, with its state. Requests are carried out one after another, in order of
/// arrival; everything else may be called at any time.
package protocol SandboxPlatform: AnyObject, Sendable {
  /// Returns the endpoint of a path; nil for a path of another platform.
  func endpoint(of path: String) -> SandboxEndpoint?

  /// Returns the maximum number of concurrent requests to endpoints of this kind; nil for endpoints that do not count
  /// toward a limit.
  func limit(of endpoint: SandboxEndpoint) -> Int?

  /// Sets the clock; called once, before the first request.
  func begin(_ time: SandboxTime)

  /// Reads a request with its complete body, names its operations, and returns the work that carries it out.
  func work(for request: inout SandboxRequest) -> SandboxWork

  /// Returns the service's refusal of a request that a fault plan selected.
  func answer(toFault id: Int, text: String?, errorClass: String) -> SandboxAnswer

  /// Returns the response to the same request about a different person; nil for a platform whose responses name nobody.
  func answer(to request: SandboxRequest, about person: String) -> SandboxAnswer?

  /// Invalidates every token issued so far.
  func expireTokens()

  /// Returns the platform's part of `GET /sandbox/state`: JSON by member name.
  func inspection() -> [String: String]

  /// Returns the platform's part of the state file: JSON by member name. Throws if encoding fails.
  func savedState() throws -> [String: String]

  /// Restores an earlier ``savedState()`` from a file that may also contain members of other platforms. Any
  /// error means that the file is invalid.
  func restore(from file: [UInt8]) throws
}

extension SandboxPlatform {
  package func expireTokens() {}

  package func answer(to request: SandboxRequest, about person: String) -> SandboxAnswer? { nil }
}

/// Carries out a request whose body was read.
package typealias SandboxWork = @Sendable (SandboxRequest) -> SandboxReply

/// The response to a request, and its effects.
package struct SandboxReply: Sendable {
  package var answer: SandboxAnswer
  /// Whether the request was carried out, changing or reading the state; false if it was refused.
  package var applied: Bool
  package var events = 0
  /// The counts to add to the totals of the ledger.
  package var added = LedgerTotals()
  /// Whether the request changed the state, which must then be saved.
  package var changesState = false

  package static func refused(_ answer: SandboxAnswer) -> SandboxReply { SandboxReply(answer: answer, applied: false) }

  package static func done(_ answer: SandboxAnswer) -> SandboxReply { SandboxReply(answer: answer, applied: true) }
}

/// The purpose of a request; the raw value is its name in fault plans and the ledger.
package struct SandboxEndpoint: RawRepresentable, Sendable, Hashable, Codable {
  package let rawValue: String

  package init(rawValue: String) { self.rawValue = rawValue }

  /// The endpoint for inspecting and controlling the sandbox itself.
  package static let sandbox = SandboxEndpoint(rawValue: "sandbox")
  package static let unknown = SandboxEndpoint(rawValue: "unknown")

  /// Whether a fault rule affects the endpoint only if the rule names it. Tests and operators use these
  /// endpoints for control.
  package var isSheltered: Bool { self == .sandbox || rawValue == "files" }
}
