import BatchConfiguration
import BatchPipeline
import BatchSandbox
import Engage

/// The configured service, or a sandbox inside the process, for the duration of a command.
enum ServiceSession {
  /// - Parameter store: The store next to which the sandbox keeps its state; nil to start empty and keep nothing.
  static func run<Value>(
    _ settings: Settings, usesSandbox: Bool, store: String? = nil, _ body: (EngageService) throws -> Value
  ) throws -> Value {
    let sandbox = try usesSandbox ? EmbeddedSandbox.start(settings, beside: store) : nil
    defer { EmbeddedSandbox.stop(sandbox) }
    return try body(EngageService.of(settings.connection, sandbox: sandbox?.baseURL))
  }
}
