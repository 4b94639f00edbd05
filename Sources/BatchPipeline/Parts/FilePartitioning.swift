import BatchFoundation
import BatchIngest

extension Pipeline {
  /// Distributes the lines of consecutive files in a list by device, as a piece of a partition made on several
  /// machines.
  ///
  /// The bytes of the files come through standard input, one file after another, from a program that can reach them.
  /// The folder is either complete or absent, so calls may be repeated and may run concurrently.
  ///
  /// - Parameters:
  ///   - numbers: the indices of the files in the list, from 0.
  ///   - parts: the number of parts, from 1 to ``Partitioning/mostParts``.
  ///   - folder: the folder to create; missing parent folders are created too.
  /// - Returns: the folder, and whether it already existed.
  /// - Throws: ``PartsError``, ``OutputError``, ``CommandError`` for a truncated file, and errors from reading.
  package func partition(
    _ list: FileList, only numbers: Range<Int>, parts: Int, to folder: String
  ) throws -> (folder: PieceFolder, wasThere: Bool) {
    guard let number = numbers.last, list.numbers.contains(number), list.numbers.contains(numbers.lowerBound) else {
      let (first, last) = (list.numbers.lowerBound, list.numbers.upperBound - 1)
      let listed = first == last ? "only file \(first), not" : "files \(first) to \(last), but no"
      let missing = list.numbers.contains(numbers.lowerBound) ? numbers.upperBound - 1 : numbers.lowerBound
      throw PartsError(path: list.path, problem: "it lists \(listed) file \(missing)")
    }
    let attempt = try AttemptFolder(for: folder)
    let targets = try PartTargets(parts, in: attempt)
    let lines = try distribute(list.only(numbers, of: request.job), from: numbers.lowerBound, to: targets)
    let piece = PartPiece(
      destination: platform.name, hash: InputPartitioning.hash, configuration: request.configurationDigest,
      first: numbers.lowerBound, files: numbers.count, entries: try list.digest(of: numbers),
      parts: try targets.joined(lines, as: PartPiece.linesName, in: attempt))
    try attempt.write(piece, as: PartPiece.name)
    if try attempt.publish() { return (try PieceFolder(folder), false) }
    let present = try PieceFolder(folder)
    guard present.piece == piece else { throw PartsError.occupied(folder) }
    return (present, true)
  }
}

/// The files to which the lines of the parts are written.
final class PartTargets: Sendable {
  let names: [String]
  // Written by one reader at a time, in the order of the lines.
  private let files = Guarded<[AttemptFile]>([])

  init(_ parts: Int, in attempt: AttemptFolder) throws {
    let names = (0..<parts).map { "part-" + String(100_000 + $0).dropFirst() }
    self.names = names
    try files.withLock { $0 = try names.map { try AttemptFile($0, in: attempt) } }
  }

  func take(_ part: Int, _ bytes: UnsafeBufferPointer<UInt8>) throws {
    try files.withLock { try unsafe $0[part].write(bytes) }
  }

  /// Completes all files and returns the slice of each part. Nothing may be added afterwards.
  ///
  /// - Parameter lines: the number of lines of each part.
  func finish(_ lines: [Int]) throws -> [PartSlice] {
    try files.withLock { files in
      try lines.indices.map { part in
        let sum = try files[part].finish()
        return PartSlice(lines: lines[part], bytes: files[part].byteCount, sum: sum)
      }
    }
  }

  /// Completes all files and moves their content to one file, in the order of parts. Returns the slice of each part.
  func joined(_ lines: [Int], as name: String, in attempt: AttemptFolder) throws -> [PartSlice] {
    let slices = try finish(lines)
    let target = try AttemptFile(name, in: attempt)
    for name in names {
      let path = "\(attempt.path)/\(name)"
      // Each slice has a separate checksum.
      try unsafe PartDocument.read(path) { try unsafe target.put($0.bindMemory(to: UInt8.self)) }
      try attempt.remove(name)
    }
    _ = try target.finish()
    return slices
  }
}
