package import BatchFoundation
import BatchThreads
import Glibc
import NIOCore
import NIOHTTP1
import NIOPosix

/// A local HTTP server with the endpoints of one or more platforms, and with faults on demand.
///
/// It listens on the loopback interface only and holds nothing but what it was given or sent. `docs/sandbox.md` says what it does
/// where a real service is not documented.
package final class SandboxServer: Sendable {
  package let port: Int
  /// `http://127.0.0.1:PORT`, without a slash at the end.
  package let baseURL: String

  let core: SandboxCore
  private let group: MultiThreadedEventLoopGroup
  private let channel: any Channel
  private let stateFile: StateFile?

  /// - Parameter platforms: asked in this order whose endpoint a path is.
  /// - Throws: ``SandboxFileError`` for files and folders, ``StateFileError`` for a state that is none, ``SandboxPortError``
  ///   if the port is taken, or ``ThreadRefused``.
  package static func start(_ settings: SandboxSettings, _ platforms: [any SandboxPlatform]) throws -> SandboxServer {
    let core = try SandboxCore(settings, platforms)
    let stateFile = try settings.stateFile.map { try StateFile(path: $0) }
    if settings.loadsState { try stateFile?.load(into: core, clock: settings.restoresClock) }
    // Where NIO gets no thread, it ends the process.
    guard Threads.areGiven else { throw ThreadRefused() }
    // One thread: requests are carried out in the order in which they arrive.
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    do {
      let channel = try ServerBootstrap(group: group)
        .serverChannelOption(.backlog, value: 256)
        .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
        .childChannelInitializer { channel in
          channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.configureHTTPServerPipeline(withErrorHandling: true)
            try channel.pipeline.syncOperations.addHandler(ConnectionHandler(core: core))
          }
        }
        .bind(host: "127.0.0.1", port: settings.port).wait()
      return SandboxServer(
        core: core, group: group, channel: channel, stateFile: settings.savesState ? stateFile : nil)
    } catch {
      try Self.end(group)
      if let error = error as? IOError { throw SandboxPortError(port: settings.port, code: error.errnoCode) }
      throw error
    }
  }

  private init(
    core: SandboxCore, group: MultiThreadedEventLoopGroup, channel: any Channel, stateFile: StateFile?
  ) {
    self.core = core
    self.group = group
    self.channel = channel
    self.stateFile = stateFile
    port = channel.localAddress?.port ?? 0
    baseURL = "http://127.0.0.1:\(port)"
    if let stateFile {
      group.next().scheduleRepeatedTask(initialDelay: .milliseconds(200), delay: .milliseconds(200)) { _ in
        // Tried again with the next change, and reported by `stop()`.
        try? stateFile.saveNowAndThen(core)
      }
    }
  }

  /// Closes the port and all connections and writes the state, if it has a file.
  package func stop() throws {
    try Self.end(group, channel)
    try stateFile?.saveIfChanged(core)
  }

  /// Where the system gives no thread, the group's own goes with the process: Dispatch, which ends it, would wait for ever for one.
  private static func end(_ group: MultiThreadedEventLoopGroup, _ channel: (any Channel)? = nil) throws {
    if Threads.areGiven { try group.syncShutdownGracefully() } else { try channel?.close().wait() }
  }
}

/// The port cannot be listened on.
package struct SandboxPortError: Error, Equatable, CustomStringConvertible {
  package var port: Int
  /// `errno`.
  package var code: Int32

  package var description: String {
    unsafe "error: port \(port) of 127.0.0.1 cannot be opened: \(String(cString: strerror(code))); choose another with --port"
  }
}

// MARK: - Reading and steering from the same process

extension SandboxServer {
  /// The first platform of a type; nil if the server has none.
  package func platform<Platform: SandboxPlatform>(_ type: Platform.Type = Platform.self) -> Platform? {
    core.platforms.lazy.compactMap { $0 as? Platform }.first
  }

  /// The requests it still remembers, in order of arrival.
  package var ledger: [LedgerEntry] { core.desk.withLock { $0.ledger.entries } }

  package var totals: LedgerTotals { core.desk.withLock { $0.ledger.totals } }

  /// How often each rule of the plan has fired, in order of the plan.
  package var faultsFired: [Int] { core.desk.withLock { $0.faults.fired } }

  package var now: Instant { core.time.now }

  package func advanceClock(by span: Milliseconds) { core.time.advance(by: span) }

  /// Every token issued so far stops being valid.
  package func expireTokens() { core.expireTokens() }

  /// Replaces the plan; its counts start again.
  package func setFaults(_ plan: FaultPlan) { core.desk.withLock { $0.faults = FaultProgress(plan: plan) } }
}
