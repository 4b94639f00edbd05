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
