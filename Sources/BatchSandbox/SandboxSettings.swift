package import BatchFoundation

/// The settings of the server for all platforms.
package struct SandboxSettings: Sendable {
  /// 0 uses any free port. The sandbox listens on 127.0.0.1 only.
  package var port = 0
  /// Determines ids, tokens and everything random.
  package var seed: UInt64 = 1
  package var clock = SandboxClock.virtual()
  package var faults = FaultPlan()
  /// The number of requests kept in the ledger; totals stay exact beyond it.
  package var ledgerLimit = 10_000
  /// Whether ledger entries have the digest of their body.
  package var digestsBodies = true
  /// The file for NDJSON, one line appended per finished request; nil for none.
  package var ledgerFile: String?
  /// The file that keeps the state; nil keeps it in memory only.
  package var stateFile: String?
  /// Whether to start with the state of the file; otherwise the first change replaces the file.
  package var loadsState = true
  /// Whether a virtual clock continues from the file's time.
  package var restoresClock = true
  /// Whether changes are written to the file; a dry run only reads it.
  package var savesState = true
  /// Called at every point of every request before the plan, outside all locks, on the connection's thread.
  package var hook: (@Sendable (SandboxRequest, FaultPoint) -> FaultAction?)?

  package init() {}
}

extension SandboxSettings {
  /// Far more than anyone writes by hand.
  private static let largestFaultFile = 16 << 20

  /// Reads a fault file (`docs/sandbox.md`): a plan, whose rules may name `endpoints`; `platforms` reads the rest.
  ///
  /// - Throws: ``FileError``; ``SandboxFileError`` if `file` cannot be read.
  package mutating func read(
    faultFile file: String, endpoints: [SandboxEndpoint], platforms: (Fields) -> Void
  ) throws {
    let bytes = try contents(of: file, largest: Self.largestFaultFile)
    try read(faults: bytes, of: file, endpoints: endpoints, platforms: platforms)
  }

  /// Like ``read(faultFile:endpoints:platforms:)``, with the bytes of the file.
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
