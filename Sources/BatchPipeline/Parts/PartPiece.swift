import BatchFoundation
import BatchHash

/// What one file of a list gives to all parts: `piece.json` beside its lines (reference formats 5.5).
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
  /// Digest of the list.
  package var list: String
  /// The place of the file in the list, from 0.
  package var file: Int
  /// Of each part, how many lines it gets: what a run of the part calls read.
  package var lines: [Int]
  package var bytes: UInt64
  /// SHA-256 of what is beside it, in hexadecimal.
  package var sha256: String
}

/// A folder that holds a piece.
package struct PieceFolder: Sendable {
  package let path: String
  package let piece: PartPiece

  /// - Throws: ``PartsError``.
  package init(_ path: String) throws {
    self.path = path
    let file = "\(path)/\(PartPiece.name)"
    piece = try PartDocument.decode(PartPiece.self, PartDocument.read(file), file)
    guard piece.format == PartPiece.currentFormat else {
      throw PartsError(path: file, problem: "another release wrote it")
    }
    guard 1...Partitioning.mostParts ~= piece.lines.count, piece.lines.allSatisfy({ PartDocument.counts ~= $0 }) else {
      throw PartsError(path: file, problem: "it has a number that no piece has")
    }
  }

  /// Hands over what each part gets, in order, while it proves it.
  ///
  /// - Throws: ``DamagedCopyError`` at the end where it is not as it was written, ``PartsError``, or what `take` threw.
  func read(_ take: (_ part: Int, _ bytes: UnsafeBufferPointer<UInt8>) throws -> Void) throws {
    let lines = "\(path)/\(PartPiece.linesName)"
    var segments = SegmentReader(parts: piece.lines.count)
    try unsafe PartDocument.prove(lines, bytes: piece.bytes, sha256: piece.sha256) { bytes in
      guard try unsafe segments.read(bytes.bindMemory(to: UInt8.self), take) else {
        throw DamagedCopyError(path: lines)
      }
    }
    guard segments.isAtEnd else { throw DamagedCopyError(path: lines) }
  }
}

/// Bytes for a part in the lines of a piece: number of the part and length as varints, then the bytes.
enum Segment {
  static func append(head part: Int, _ count: Int, to target: inout ByteBuffer) {
    target.append(varint: UInt64(part))
    target.append(varint: UInt64(count))
  }
}

/// Walks through segments that come in any pieces.
private struct SegmentReader {
  private let parts: Int
  private var part: Int?
  /// Of the segment at hand, still to come.
  private var rest = 0
  private var number: UInt64 = 0
  private var shift: UInt64 = 0

  init(parts: Int) { self.parts = parts }

  var isAtEnd: Bool { part == nil && shift == 0 }

  /// - Returns: false for bytes that no piece holds.
  mutating func read(
    _ bytes: UnsafeBufferPointer<UInt8>, _ take: (Int, UnsafeBufferPointer<UInt8>) throws -> Void
  ) throws -> Bool {
    var at = 0
    while at < bytes.count {
      if rest > 0, let part {
        let count = min(rest, bytes.count - at)
        try unsafe take(part, UnsafeBufferPointer(rebasing: bytes[at..<at + count]))
        at += count
        rest -= count
        if rest == 0 { self.part = nil }
        continue
      }
      let byte = unsafe bytes[at]
      at += 1
      guard shift < 35 else { return false }
      number |= UInt64(byte & 0x7F) << shift
      shift += 7
      guard byte & 0x80 == 0 else { continue }
      if part == nil {
        guard number < UInt64(parts) else { return false }
        part = Int(number)
      } else {
        guard number > 0 else { return false }
        rest = Int(number)
      }
      (number, shift) = (0, 0)
    }
    return true
  }
}
