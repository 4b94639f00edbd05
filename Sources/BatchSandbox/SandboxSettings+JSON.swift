import BatchFoundation

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
