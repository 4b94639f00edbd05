package import BatchFoundation
import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization

/// A local Engage: OAuth, XMLAPI and event submission over a small database, with faults on demand.
///
/// It listens on the loopback interface only and holds nothing but what it was given or sent. `docs/sandbox.md` says what it does
/// where the real service is not documented.
package final class SandboxServer: Sendable {
  package let port: Int
  /// `http://127.0.0.1:PORT`, without a slash at the end.
  package let baseURL: String

  let core: SandboxCore
  private let group: MultiThreadedEventLoopGroup
  private let channel: any Channel
  private let stateFile: StateFile?

  /// - Throws: ``SandboxFileError`` for files and folders, ``StateFileError`` for an unreadable state, or the system's error
  ///   if the port is taken.
  package static func start(_ options: SandboxOptions = SandboxOptions()) throws -> SandboxServer {
    let core = try SandboxCore(options)
    let stateFile = options.stateFile.map { StateFile(path: $0) }
    try stateFile?.load(into: core)
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
        .bind(host: "127.0.0.1", port: options.port).wait()
      return SandboxServer(core: core, group: group, channel: channel, stateFile: stateFile)
    } catch {
      try group.syncShutdownGracefully()
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
    try group.syncShutdownGracefully()
    try stateFile?.saveIfChanged(core)
  }
}

// MARK: - Reading and steering from the same process

extension SandboxServer {
  /// The requests it still remembers, in order of arrival.
  package var ledger: [LedgerEntry] { core.world.withLock { $0.ledger.entries } }

  package var totals: LedgerTotals { core.world.withLock { $0.ledger.totals } }

  /// How often each rule of the plan has fired, in order of the plan.
  package var faultsFired: [Int] { core.world.withLock { $0.faults.fired } }

  /// How often each event was applied, by digest or attribute; empty when they are only counted.
  package var appliedEvents: [String: Int] { core.world.withLock { $0.events.applied } }

  /// Bodies of applied submissions in order; empty unless they are kept.
  package var appliedBodies: [[UInt8]] { core.world.withLock { $0.events.bodies } }

  /// The recipients of a list from the oldest on: id and every value that is not empty.
  package func recipients(of list: String) -> [(id: Int64, values: [ExactText: ExactText])] {
    core.world.withLock { world in
      guard let list = world.api.organization.lists[ExactText(list)] else { return [] }
      return list.all.map { recipient in
        var values: [ExactText: ExactText] = [:]
        for (position, column) in list.columns.enumerated() where !recipient.value(position).isEmpty {
          values[column.name] = recipient.value(position)
        }
        return (recipient.id, values)
      }
    }
  }

  /// The rows of a relational table in order of their first insertion.
  package func rows(of table: String) -> [[ExactText: ExactText]] {
    core.world.withLock { world in
      guard let table = world.api.organization.tables[ExactText(table)] else { return [] }
      return table.order.compactMap { table.rows[$0] }
    }
  }

  package var now: Instant { core.world.withLock { $0.now } }

  package func advanceClock(by span: Milliseconds) { core.world.withLock { $0.api.clock.advance(by: span) } }

  /// Every token issued so far stops being valid.
  package func expireTokens() { core.world.withLock { $0.tokens.expireAll() } }

  /// Replaces the plan; its counts start again.
  package func setFaults(_ plan: FaultPlan) { core.world.withLock { $0.faults = FaultProgress(plan: plan) } }

  /// Puts a file where ImportList looks for it.
  package func upload(_ name: String, _ bytes: [UInt8]) throws {
    try core.world.withLock { try $0.api.organization.files.write(.upload, name, bytes) }
  }

  package func download(_ name: String) -> [UInt8]? {
    core.world.withLock { $0.api.organization.files.read(.download, name) }
  }
}
