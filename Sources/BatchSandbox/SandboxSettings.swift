import BatchFoundation

/// What makes the server behind all platforms differ from another.
package struct SandboxSettings: Sendable {
  /// 0 takes any free port. The sandbox listens on 127.0.0.1 only.
  package var port = 0
  /// Decides ids, tokens and everything that is drawn.
  package var seed: UInt64 = 1
  package var clock = SandboxClock.virtual()
  package var faults = FaultPlan()
  /// How many requests the ledger remembers; totals stay exact beyond it.
  package var ledgerLimit = 10_000
  /// Whether ledger entries carry the digest of their body.
  package var digestsBodies = true
  /// NDJSON, one line per finished request, appended; nil for none.
  package var ledgerFile: String?
  /// The state survives in this file; nil keeps it in memory.
  package var stateFile: String?
  /// Whether the state begins with what the file has; otherwise the file is replaced with the first change.
  package var loadsState = true
  /// Whether a virtual clock goes on from where the file says.
  package var restoresClock = true
  /// Whether changes reach the file; a dry run only reads it.
  package var savesState = true
  /// Asked at every point of every request before the plan is, outside all locks, on the thread of the connection.
  package var hook: (@Sendable (SandboxRequest, FaultPoint) -> FaultAction?)?

  package init() {}
}

extension SandboxSettings {
  /// What somebody writes by hand comes nowhere near.
  private static let largestFaultFile = 16 << 20

  /// Takes over a fault file: seed, latency and rules here, everything else by the platforms (`docs/sandbox.md`).
  ///
  /// - Parameter endpoints: those of the platforms, which a rule may name.
  /// - Parameter platforms: take what is theirs out of the reader.
  /// - Throws: ``SandboxInputError`` naming the place in the file; ``SandboxFileError`` where `file` cannot be read.
  package mutating func read(
    faultFile file: String, endpoints: [SandboxEndpoint], platforms: (inout PlanReader) throws -> Void
  ) throws {
    let bytes = try contents(of: file, largest: Self.largestFaultFile)
    do {
      try read(faults: bytes, endpoints: endpoints, platforms: platforms)
    } catch let error as SandboxInputError {
      throw error.inFile(file)
    }
  }

  /// As ``read(faultFile:endpoints:platforms:)``, with the bytes of the file.
  package mutating func read(
    faults bytes: [UInt8], endpoints: [SandboxEndpoint], platforms: (inout PlanReader) throws -> Void
  ) throws {
    var reader = try PlanReader(try PlanReader.parse(bytes), path: "")
    faults = try FaultPlan(&reader, endpoints: endpoints)
    try platforms(&reader)
    try reader.finish()
    seed = faults.seed
  }
}
