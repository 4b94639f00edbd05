/// Where a record stood: the index of its file in the run's file list and the line, from 1.
public struct RecordPosition: Hashable, Sendable {
  public var file: UInt32
  public var line: UInt64
  /// Of several records that a map made of one line, which; 0 for all others, and wherever the order among them does not matter.
  public var element: UInt16

  @inlinable
  public init(file: UInt32, line: UInt64, element: UInt16 = 0) {
    self.file = file
    self.line = line
    self.element = element
  }
}

extension RecordPosition {
  /// The order of files and lines.
  @inlinable
  public func precedes(_ other: RecordPosition) -> Bool {
    file != other.file ? file < other.file : line < other.line
  }
}
