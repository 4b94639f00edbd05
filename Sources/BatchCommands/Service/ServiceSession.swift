import BatchConfiguration
import BatchPipeline
import BatchSandbox
import EngageAPI
import EngageSandbox

/// The configured service, or a sandbox inside the process, for as long as a command needs it.
enum ServiceSession {
  static func run<Value>(
    _ settings: Settings, usesSandbox: Bool, _ body: (EngageService) throws -> Value
  ) throws -> Value {
    let sandbox = try usesSandbox ? SandboxServer.start(EngageSandboxOptions.embedded(for: settings)) : nil
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
