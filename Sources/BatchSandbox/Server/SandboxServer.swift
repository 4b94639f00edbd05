package import BatchFoundation
import Glibc

/// A local HTTP server with the endpoints of one or more platforms, and with faults on demand. It listens
/// only on the loopback interface and holds only the data that it was given or sent. Where a real service is
/// undocumented, `docs/sandbox.md` describes the sandbox's choices.
package final class SandboxServer: Sendable {
  package let port: Int
  /// The URL `http://127.0.0.1:PORT`, without a trailing slash.
  package let baseURL: String

  let core: SandboxCore
  /// The descriptor that is closed to end the loop.
  private let ending: CInt
  private let thread: Guarded<RunningThread?>
  private let stateFile: StateFile?

  /// - Parameter platforms: the first platform that has an endpoint for a path serves it.
  /// - Throws: ``CommandError`` for files and folders and for an invalid state,
  ///   ``SandboxPortError`` if the port is taken, or ``ThreadRefused``.
  package static func start(_ settings: SandboxSettings, _ platforms: [any SandboxPlatform]) throws -> SandboxServer {
    let core = SandboxCore(settings, platforms)
    let stateFile = try settings.stateFile.map { try StateFile(path: $0) }
    if settings.loadsState { try stateFile?.load(into: core, clock: settings.restoresClock) }
    return try SandboxServer(core, port: settings.port, settings.savesState ? stateFile : nil)
  }

  private init(_ core: SandboxCore, port: Int, _ stateFile: StateFile?) throws {
    let (listener, port) = try ListeningSocket.open(port: port)
    var ends: [CInt] = [0, 0]
    guard unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
      let code = errno
      close(listener)
      throw SandboxPortError(port: port, code: code)
    }
    let readableEnd = ends[0]
    self.core = core
    self.port = port
    self.stateFile = stateFile
    baseURL = "http://127.0.0.1:\(port)"
    ending = ends[1]
    do {
      let thread = try Threads.begin {
        Self.serve(listener, until: readableEnd, core, stateFile)
        close(readableEnd)
      }
      self.thread = Guarded(thread)
    } catch {
      for descriptor in [listener] + ends { close(descriptor) }
      throw error
    }
  }

  private static func serve(_ listener: CInt, until ending: CInt, _ core: SandboxCore, _ stateFile: StateFile?) {
    let loop = SocketLoop(listener: listener, ending: ending)
    func saveNowAndThen(_ stateFile: StateFile) {
      loop.after(milliseconds: 200) {
        // The next save retries a failed one, and `stop()` reports a failure.
        try? stateFile.saveNowAndThen(core)
        saveNowAndThen(stateFile)
      }
    }
    if let stateFile { saveNowAndThen(stateFile) }
    loop.run { socket in _ = ConnectionHandler(socket, on: loop, core: core) }
  }

  /// Closes the port and all connections, and writes the state to its file, if any.
  ///
  /// - Throws: ``CommandError`` if the state cannot be written.
  package func stop() throws {
    endLoop()
    try stateFile?.saveIfChanged(core)
  }

  private func endLoop() {
    thread.withLock { thread in
      guard let running = thread else { return }
      thread = nil
      close(ending)
      running.join()
    }
  }

  deinit { endLoop() }
}

package struct SandboxPortError: Error, Equatable, CustomStringConvertible {
  package var port: Int
  /// The `errno`.
  package var code: Int32

  package var description: String {
    unsafe "error: cannot listen on port \(port) of 127.0.0.1: \(String(cString: strerror(code)))"
      + (port == 0 ? "" : "; choose another with --port")
  }
}

// MARK: - Inspection and control from the same process

extension SandboxServer {
  /// Returns the first platform of a type; nil if the server has none.
  package func platform<Platform: SandboxPlatform>(_ type: Platform.Type = Platform.self) -> Platform? {
    core.platforms.lazy.compactMap { $0 as? Platform }.first
  }

  /// The requests still in the ledger, in order of arrival.
  package var ledger: [LedgerEntry] { core.desk.withLock { $0.ledger.entries } }

  package var totals: LedgerTotals { core.desk.withLock { $0.ledger.totals } }

  /// The number of times that each rule of the plan fired, in the plan's order.
  package var faultsFired: [Int] { core.desk.withLock { $0.faults.fired } }

  package func advanceClock(by span: Milliseconds) { core.time.withLock { $0.advance(by: span) } }

  package func expireTokens() { core.expireTokens() }

  /// Replaces the plan and resets its counts.
  package func setFaults(_ plan: FaultPlan) { core.desk.withLock { $0.faults = FaultProgress(plan: plan) } }
}

/// The settings of the server for all platforms.
package struct SandboxSettings: Sendable {
  /// 0 uses any free port. The sandbox listens on 127.0.0.1 only.
  package var port = 0
  /// The seed for ids, tokens and everything random.
  package var seed: UInt64 = 1
  package var clock = SandboxClock()
  package var faults = FaultPlan()
  /// The maximum number of requests kept in the ledger; totals include all requests.
  package var ledgerLimit = 10_000
  /// The file in which the state is kept; nil keeps it in memory only.
  package var stateFile: String?
  /// Whether to start with the state in the file; otherwise the first change replaces the file.
  package var loadsState = true
  /// Whether the clock continues from the file's time.
  package var restoresClock = true
  /// Whether changes are written to the file; a dry run only reads it.
  package var savesState = true
  /// Called before the plan at every point of every request, outside all locks, on the server's thread. An action that
  /// it returns replaces the plan's.
  package var hook: (@Sendable (SandboxRequest, FaultPoint) -> FaultAction?)?

  package init() {}
}

extension SandboxSettings {
  /// The maximum size in bytes, far more than anyone writes by hand.
  private static let largestFaultFile = 16 << 20

  /// Reads a fault file (`docs/sandbox.md`). Its rules may name `endpoints`; `platforms` reads the other members.
  ///
  /// - Throws: ``FileError``; ``CommandError`` if `file` cannot be read.
  package mutating func read(
    faultFile file: String, endpoints: [SandboxEndpoint], platforms: (Fields) -> Void
  ) throws {
    let bytes = try contents(of: file, largest: Self.largestFaultFile)
    try read(faults: bytes, of: file, endpoints: endpoints, platforms: platforms)
  }

  /// Like ``read(faultFile:endpoints:platforms:)``, with the bytes of the file, so that it throws only ``FileError``.
  package mutating func read(
    faults bytes: [UInt8], of file: String, endpoints: [SandboxEndpoint], platforms: (Fields) -> Void
  ) throws(FileError) {
    let found = DocumentFaults(file)
    if let fields = found.json(bytes).flatMap({ Fields($0, "the file", found) }) {
      faults = FaultPlan(fields, endpoints: endpoints)
      platforms(fields)
      fields.end()
    }
    try found.throwErrors()
    seed = faults.seed
  }
}
