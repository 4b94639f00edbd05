import BatchFoundation
import BatchIngest
import FoundationEssentials

/// The lines of one part in a piece.
package struct PartSlice: Codable, Equatable, Sendable {
  /// The number of lines, equal to `read` in a run of the part.
  package var lines: Int
  package var bytes: UInt64
  /// The ``CopySum`` of the bytes, in hexadecimal.
  package var sum: String
}

/// The description of a piece, `piece.json` next to the lines of all parts in order (reference formats 5.5).
package struct PartPiece: Codable, Equatable, Sendable {
  static let name = "piece.json"
  static let linesName = "lines"
  static let currentFormat = 1

  var format = Self.currentFormat
  package var destination: String
  /// The name of the hash that distributes devices to parts (``InputPartitioning/hash``).
  package var hash: String
  /// The digest of the settings, without secrets.
  package var configuration: String
  /// The index of the first file in the list, from 0, and the number of files.
  package var first: Int
  package var files: Int
  /// The digest of the files' entries in the list.
  package var entries: String
  /// The slices in the order of part numbers, which is also their order in the file of lines.
  package var parts: [PartSlice]
}

package struct PieceFolder: Sendable {
  package let path: String
  package let piece: PartPiece
  /// The SHA-256 of the piece's document, which contains the checksums of its lines.
  let identity: String

  /// - Throws: ``PartsError``.
  package init(_ path: String) throws {
    self.path = path
    let file = "\(path)/\(PartPiece.name)"
    (piece, identity) = try PartDocument.load(PartPiece.self, file)
    guard piece.format == PartPiece.currentFormat else {
      throw PartsError(path: file, problem: "it was written by another release; create the piece again")
    }
    guard 1...Partitioning.mostParts ~= piece.parts.count, PartDocument.counts ~= piece.first,
      1...PartDocument.counts.upperBound ~= piece.files,
      piece.parts.allSatisfy({ PartDocument.counts ~= $0.lines && $0.bytes <= PartDocument.counts.upperBound })
    else { throw PartsError(path: file, problem: "it has an invalid number") }
  }

  /// Returns the place of a part's lines in the file of lines.
  ///
  /// - Throws: `CommandError.damagedCopy` if the file ends before them, ``PartsError``.
  func slice(of part: Int) throws -> InputPart.Slice {
    let slice = piece.parts[part]
    let start = piece.parts[..<part].reduce(0) { $0 + $1.bytes }
    let file = "\(path)/\(PartPiece.linesName)"
    guard try PartDocument.size(of: file) >= start + slice.bytes else { throw CommandError.damagedCopy(file) }
    return InputPart.Slice(path: FilePath(file), start: start, bytes: slice.bytes, sum: slice.sum)
  }
}
