/// The place of a record: the index of its file in the run's file list, and the line from 1.
public struct RecordPosition: Hashable, Sendable {
  public var file: UInt32
  public var line: UInt64
  /// The index among records that a map made from one line; 0 for all others, and where their order does not matter.
  public var element: UInt16

  @inlinable
  public init(file: UInt32, line: UInt64, element: UInt16 = 0) {
    self.file = file
    self.line = line
    self.element = element
  }
}

extension RecordPosition {
  /// Returns whether this file and line come before the other's; elements are not compared.
  @inlinable
  public func precedes(_ other: RecordPosition) -> Bool {
    file != other.file ? file < other.file : line < other.line
  }
}

/// The place of a record as shown to users; it outlives the run, unlike ``RecordPosition``.
public struct RecordSource: Hashable, Sendable {
  public var file: String
  /// The line number from 1.
  public var line: UInt64

  public init(file: String, line: UInt64) {
    self.file = file
    self.line = line
  }
}

extension RecordSource: CustomStringConvertible {
  public var description: String { "\(file.printable):\(line)" }
}

/// The place of the record that led to an event, in a store's numbering: small enough to be kept with every event.
public struct StoredSource: Hashable, Sendable {
  /// The number of the file in the store; 0 if it is unknown.
  public var file: UInt32
  /// The line number from 1.
  public var line: UInt64

  @inlinable
  public init(file: UInt32, line: UInt64) {
    self.file = file
    self.line = line
  }

  /// The source of events that come from no file.
  @inlinable public static var unknown: StoredSource { StoredSource(file: 0, line: 0) }
}
