import BatchConfiguration
import BatchPipeline
import BatchSandbox
import Engage

/// The configured service, or a sandbox inside the process, for as long as a command needs it.
enum ServiceSession {
  /// - Parameter store: beside which the sandbox keeps what it holds; nil for one that begins anew and keeps nothing.
  static func run<Value>(
    _ settings: Settings, usesSandbox: Bool, store: String? = nil, _ body: (EngageService) throws -> Value
  ) throws -> Value {
    let sandbox = try usesSandbox ? EmbeddedSandbox.start(settings, beside: store) : nil
    defer { EmbeddedSandbox.stop(sandbox) }
    return try body(EngageService.of(settings.connection, sandbox: sandbox?.baseURL))
  }
}
