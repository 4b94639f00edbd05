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
