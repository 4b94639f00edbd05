/// Where a record was read, for people: kept longer than the run whose ``RecordPosition`` it was.
package struct RecordSource: Hashable, Sendable {
  /// The path of its file.
  package var file: String
  /// From 1.
  package var line: UInt64

  package init(file: String, line: UInt64) {
    self.file = file
    self.line = line
  }
}

extension RecordSource: CustomStringConvertible {
  package var description: String { "\(file.printable):\(line)" }
}
