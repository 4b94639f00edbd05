package import BatchFoundation
import BatchIngest
import FoundationEssentials

/// The description of a partition: `manifest.json` next to its parts (reference formats 5.1).
package struct PartManifest: Codable, Equatable, Sendable {
  package static let name = "manifest.json"
  static let currentFormat = 1

  package struct File: Codable, Equatable, Sendable {
    package var path: String
    package var kind: String
    /// The number of the path in stores; equal paths have equal numbers.
    package var number: UInt32
  }

  package struct Part: Codable, Equatable, Sendable {
    /// The name of the file next to the manifest, and its ``CopySum`` in hexadecimal; nil if the lines are left in
    /// pieces.
    package var name: String?
    package var sum: String?
    /// The number of lines, equal to `read` in a run of the part.
    package var lines: Int
    package var bytes: UInt64
  }

  package struct Piece: Codable, Equatable, Sendable {
    /// The folder of the piece, relative to that of the manifest.
    package var path: String
    /// The SHA-256 of its document, in hexadecimal.
    package var sha256: String
  }

  var format = Self.currentFormat
  package var job: String
  package var destination: String
  /// The name of the hash that distributes devices to parts (``InputPartitioning/hash``).
  package var hash: String
  /// The clock of the run that the parts form together, and the bounds of its window (``from``, ``to``).
  package var asOf: Instant
  package var from: Instant?
  package var to: Instant?
  /// The known time of that run, which is not before that of the previous partition (reference decisions 33).
  package var knownUntil: Instant
  /// The identity of the partition whose results this one continues; nil for the first partition.
  package var previous: String?
  /// The files in the order in which their records are read.
  package var files: [File]
  package var parts: [Part]
  /// The pieces in the order of their lines; nil if the parts are files.
  package var pieces: [Piece]?

  package var lines: Int { parts.reduce(0) { $0 + $1.lines } }
}

extension PartManifest.Piece {
  /// - Parameter partition: the folder that the manifest will be in.
  init(_ folder: PieceFolder, from partition: String) {
    let current = FileManager.default.currentDirectoryPath
    path = PathText.relative(PathText.resolve(folder.path, in: current), to: PathText.resolve(partition, in: current))
    sha256 = folder.identity
  }
}

package struct PartitionFolder: Sendable {
  package let path: String
  package let manifest: PartManifest
  /// The SHA-256 of the manifest, which contains the checksums of the parts, so it is equal only for equal partitions.
  package let identity: String

  /// - Throws: ``PartsError``.
  package init(_ path: String) throws {
    self.path = path
    let file = "\(path)/\(PartManifest.name)"
    (manifest, identity) = try PartDocument.load(PartManifest.self, file)
    guard manifest.format == PartManifest.currentFormat,
      manifest.hash.utf8.elementsEqual(InputPartitioning.hash.utf8)
    else {
      throw PartsError(
        path: file, problem: "it was written by another release, with a different format or hash; partition again")
    }
    let counts = manifest.parts.map(\.lines)
    let isPieced = manifest.pieces != nil
    let times = [manifest.asOf, manifest.from ?? manifest.asOf, manifest.to ?? manifest.asOf, manifest.knownUntil]
    guard 1...Partitioning.mostParts ~= counts.count, counts.allSatisfy({ PartDocument.counts ~= $0 }),
      times.allSatisfy({ Instant(milliseconds: 0)...Instant.last ~= $0 }),
      // Later partitions continue these numbers.
      manifest.files.allSatisfy({ $0.number <= UInt32.max / 2 }),
      manifest.parts.allSatisfy({
        $0.bytes <= PartDocument.counts.upperBound && ($0.name == nil) == isPieced && ($0.sum == nil) == isPieced
          && $0.name?.utf8.contains(UInt8(ascii: "/")) != true
      })
    else { throw PartsError(path: file, problem: "it has an invalid number, time or name") }
  }

  /// Returns the places of a part's lines. The reader verifies their checksums.
  ///
  /// - Throws: ``PartsError``, `CommandError.damagedCopy`.
  func slices(of part: Int) throws -> [InputPart.Slice] {
    let expected = manifest.parts[part]
    if let name = expected.name {
      let file = "\(path)/\(name)"
      guard try PartDocument.size(of: file) == expected.bytes, let sum = expected.sum else {
        throw CommandError.damagedCopy(file)
      }
      return [InputPart.Slice(path: FilePath(file), start: 0, bytes: expected.bytes, sum: sum)]
    }
    return try (manifest.pieces ?? []).map { wanted in
      let piece = try PieceFolder("\(path)/\(wanted.path)")
      guard piece.identity.utf8.elementsEqual(wanted.sha256.utf8), piece.piece.parts.indices.contains(part) else {
        throw CommandError.damagedCopy("\(piece.path)/\(PartPiece.name)")
      }
      return try piece.slice(of: part)
    }
  }
}
