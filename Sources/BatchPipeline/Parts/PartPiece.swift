import BatchFoundation
import BatchIngest
import FoundationEssentials

/// What one part gets of a piece.
package struct PartSlice: Codable, Equatable, Sendable {
  /// What a run of the part calls read.
  package var lines: Int
  package var bytes: UInt64
  /// ``CopySum`` of the bytes, in hexadecimal.
  package var sum: String
}

/// What files of a list give to all parts: `piece.json` beside their lines, which stand part behind part (reference formats 5.5).
package struct PartPiece: Codable, Equatable, Sendable {
  static let name = "piece.json"
  static let linesName = "lines"
  static let currentFormat = 1

  var format = Self.currentFormat
  package var destination: String
  /// What devices are distributed by.
  package var hash: String
  /// Digest of the settings that read it, secrets left out.
  package var configuration: String
  /// The place of the first file in the list, from 0, and how many there are.
  package var first: Int
  package var files: Int
  /// Digest of what the list says of them.
  package var entries: String
  /// In the order in which they stand in the lines.
  package var parts: [PartSlice]
}

/// A folder that holds a piece.
package struct PieceFolder: Sendable {
  package let path: String
  package let piece: PartPiece
  /// SHA-256 of what it says of itself, which holds the sums of its lines.
  let identity: String

  /// - Throws: ``PartsError``.
  package init(_ path: String) throws {
    self.path = path
    let file = "\(path)/\(PartPiece.name)"
    (piece, identity) = try PartDocument.load(PartPiece.self, file)
    guard piece.format == PartPiece.currentFormat else {
      throw PartsError(path: file, problem: "another release wrote it")
    }
    guard 1...Partitioning.mostParts ~= piece.parts.count, PartDocument.counts ~= piece.first,
      1...PartDocument.counts.upperBound ~= piece.files,
      piece.parts.allSatisfy({ PartDocument.counts ~= $0.lines && $0.bytes <= PartDocument.counts.upperBound })
    else { throw PartsError(path: file, problem: "it has a number that no piece has") }
  }

  /// Where the lines stand that a part gets.
  ///
  /// - Throws: ``DamagedCopyError`` where the file ends before them, ``PartsError``.
  func slice(of part: Int) throws -> InputPart.Slice {
    let slice = piece.parts[part]
    let start = piece.parts[..<part].reduce(0) { $0 + $1.bytes }
    let file = "\(path)/\(PartPiece.linesName)"
    guard try PartDocument.size(of: file) >= start + slice.bytes else { throw DamagedCopyError(path: file) }
    return InputPart.Slice(path: FilePath(file), start: start, bytes: slice.bytes, sum: slice.sum)
  }
}
