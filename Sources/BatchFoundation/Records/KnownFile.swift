/// A file all of whose lines were taken, by this run or by earlier ones: to read the same bytes again finds nothing but duplicates.
package struct KnownFile: Sendable, Equatable {
  /// Bytes on disk, compressed or not.
  package var size: UInt64
  /// Those that are not blank.
  package var lines: Int
  /// From the first to the last time of its records.
  package var span: ClosedRange<Instant>
  /// 16 bytes, of every byte of the file and of all that is told of it here: a row of a damaged store proves no file.
  package var proof: [UInt8]

  package init(size: UInt64, lines: Int, span: ClosedRange<Instant>, proof: [UInt8]) {
    self.size = size
    self.lines = lines
    self.span = span
    self.proof = proof
  }
}
