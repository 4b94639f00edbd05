/// Where a record stood: the index of its file in the run's file list and the line, from 1.
package struct RecordPosition: Hashable, Sendable {
  package var file: UInt32
  package var line: UInt64

  @inlinable
  package init(file: UInt32, line: UInt64) {
    self.file = file
    self.line = line
  }
}

extension RecordPosition {
  /// The order of files and lines.
  @inlinable
  package func precedes(_ other: RecordPosition) -> Bool {
    file != other.file ? file < other.file : line < other.line
  }
}
