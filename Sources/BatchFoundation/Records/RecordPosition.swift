/// The place of a record: the index of its file in the run's file list, and the line from 1.
public struct RecordPosition: Hashable, Sendable {
  public var file: UInt32
  public var line: UInt64
  /// The index among the records that a map made from one line; 0 for other records or if their order does not matter.
  public var element: UInt16

  @inlinable
  public init(file: UInt32, line: UInt64, element: UInt16 = 0) {
    self.file = file
    self.line = line
    self.element = element
  }
}

extension RecordPosition {
  /// Returns whether this position precedes the other one by file and line; elements are not compared.
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

/// The place of the record that led to an event. The file is given by its number in the store, so that the place is
/// small enough to be kept with every event.
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

/// The numbering of a device's events and identity checks, which increases in processing order across runs. The numbers
/// for a record start at one derived from its instant, so a late record does not change those for other records
/// (reference decisions 34).
public enum EmissionNumber {
  @usableFromInline static var shift: Int64 { 13 }

  /// The exclusive upper bound of all numbers, including those that a device can have at the last instant.
  public static let limit = Int64(1) << 62

  /// Returns the number after which a record's numbers start, unless the device has already passed it.
  @inlinable @inline(__always)
  public static func begin(at instant: Instant) -> Int64 { instant.milliseconds << shift }

  /// Encodes the number relative to its event's time. This takes few bits, because most events have their record's
  /// instant.
  @inlinable @inline(__always)
  public static func packed(_ number: Int64, at instant: Instant) -> UInt64 {
    let distance = number &- begin(at: instant)
    return UInt64(bitPattern: distance << 1 ^ distance >> 63)
  }

  @inlinable @inline(__always)
  public static func unpacked(_ packed: UInt64, at instant: Instant) -> Int64 {
    begin(at: instant) &+ Int64(bitPattern: packed >> 1 ^ (0 &- packed & 1))
  }
}
