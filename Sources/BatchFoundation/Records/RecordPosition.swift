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

/// Where the record that led to an event was read, in the numbers of a store: small enough to be kept with every event.
public struct StoredSource: Hashable, Sendable {
  /// Number of the file among those of the store; 0 where nobody knows it.
  public var file: UInt32
  /// From 1.
  public var line: UInt64

  @inlinable
  public init(file: UInt32, line: UInt64) {
    self.file = file
    self.line = line
  }

  /// Of events that come from no file.
  @inlinable public static var unknown: StoredSource { StoredSource(file: 0, line: 0) }
}
