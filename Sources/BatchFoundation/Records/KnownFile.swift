/// A file that was imported completely: reading the same bytes again yields only duplicates.
package struct KnownFile: Sendable, Equatable {
  /// The size on disk in bytes, compressed or not.
  package var size: UInt64
  /// The number of lines that are not blank.
  package var lines: Int
  /// The range from the first to the last time of its records.
  package var span: ClosedRange<Instant>
  /// A 16-byte proof over every byte of the file and these properties: a damaged row of a store matches no file.
  package var proof: [UInt8]

  package init(size: UInt64, lines: Int, span: ClosedRange<Instant>, proof: [UInt8]) {
    self.size = size
    self.lines = lines
    self.span = span
    self.proof = proof
  }
}
