import BatchConfiguration
import BatchPipeline
import BatchSandbox
import EngageAPI
import EngagePlatform
import EngageSandbox

/// The configured service, or a sandbox inside the process, for as long as a command needs it.
enum ServiceSession {
  /// - Parameter store: beside which the sandbox keeps what it holds; nil for one that begins anew and keeps nothing.
  static func run<Value>(
    _ settings: Settings, usesSandbox: Bool, store: String? = nil, _ body: (EngageService) throws -> Value
  ) throws -> Value {
    let options =
      try usesSandbox
      ? store.map { try EngageSandboxOptions.embedded(for: settings, beside: $0) }
        ?? EngageSandboxOptions.embedded(for: settings)
      : nil
    let sandbox = try options.map { try SandboxServer.embedded($0) }
    defer {
      do {
        try sandbox?.stop()
      } catch {
        Streams.note("Sandbox: did not stop cleanly: \(error)")
      }
    }
    return try body(EngageService.of(settings.connection, sandbox: sandbox?.baseURL))
  }
}
