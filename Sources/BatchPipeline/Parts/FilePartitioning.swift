import BatchConfiguration
import BatchFoundation
import BatchIngest
package import BatchPlatform
import BatchThreads

/// One file of a list, distributed by device: a piece of a partition that is made on several machines.
///
/// Its bytes come through standard input, from whatever can reach them. A folder is made that is whole or absent, so it may be tried
/// again and run twice at once.
package struct FilePartitioning: Sendable {
  private let request: RunRequest
  private let list: FileList
  private let number: Int
  private let parts: Int
  private let folder: String
  private let monitor: any RunMonitor
  private let interruption: Interruption

  /// - Parameters:
  ///   - request: of a run that reads inputs.
  ///   - list: whose file it is.
  ///   - number: the file's place in the list, from 0.
  ///   - parts: from 1 to ``Partitioning/mostParts``.
  ///   - folder: what is made; its own parent is made, too.
  ///   - monitor: told how far it is.
  ///   - interruption: ends it.
  /// - Throws: ``PartsError`` for a number that the list does not have.
  package init(
    _ request: RunRequest, _ list: FileList, only number: Int, parts: Int, to folder: String,
    monitor: any RunMonitor, interruption: Interruption
  ) throws {
    guard 0..<list.count ~= number else {
      throw PartsError(path: list.path, problem: "it has the files 0 to \(list.count - 1), and no file \(number)")
    }
    self.request = request
    self.list = list
    self.number = number
    self.parts = parts
    self.folder = folder
    self.monitor = monitor
    self.interruption = interruption
  }

  /// - Returns: what the folder holds, and whether it was there already.
  /// - Throws: ``PartsError``, ``OutputError``, `CutInputError`, what reading throws.
  package func run() throws -> (folder: PieceFolder, wasThere: Bool) {
    let attempt = try AttemptFolder(for: folder)
    // Written by one reader at a time, in the order of the lines.
    let target = Guarded<[AttemptFile]>([])
    try target.withLock { $0 = [try AttemptFile(PartPiece.linesName, in: attempt)] }
    let files = try list.only(number, of: request.job)
    let partitioning = InputPartitioning(
      files, vocabulary: request.vocabulary, options: request.ingestOptions, parts: parts, firstFile: UInt32(number))
    let lines = try unsafe partitioning.run(
      { part, bytes in
        try target.withLock {
          var head = ByteBuffer(capacity: 16)
          Segment.append(head: part, bytes.count, to: &head)
          try unsafe $0[0].write(head.bytes)
          try unsafe $0[0].write(bytes)
        }
      },
      progress: { progress in
        try interruption.check()
        monitor.progress(progress, of: files.totalSize)
      })
    let (bytes, digest) = try target.withLock {
      let digest = try $0[0].finish()
      return ($0[0].byteCount, digest)
    }
    let piece = PartPiece(
      destination: request.platform.name, hash: InputPartitioning.hash, configuration: request.configurationDigest,
      list: list.digest, file: number, lines: lines, bytes: bytes, sha256: digest)
    try attempt.write(piece, as: PartPiece.name)
    if try attempt.publish() { return (try PieceFolder(folder), false) }
    let present = try PieceFolder(folder)
    guard present.piece == piece else { throw PartsError.occupied(folder) }
    return (present, true)
  }
}
