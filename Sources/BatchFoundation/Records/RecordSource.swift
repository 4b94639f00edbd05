/// Where a record was read, for people: kept longer than the run whose ``RecordPosition`` it was.
public struct RecordSource: Hashable, Sendable {
  /// The path of its file.
  public var file: String
  /// From 1.
  public var line: UInt64

  public init(file: String, line: UInt64) {
    self.file = file
    self.line = line
  }
}

extension RecordSource: CustomStringConvertible {
  public var description: String { "\(file.printable):\(line)" }
}
