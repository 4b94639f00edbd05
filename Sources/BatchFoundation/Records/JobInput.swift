/// An entry of a job's `inputs` (reference formats 1.2). Its files are looked up when the run reads the entry.
public struct JobInput: Sendable, Hashable {
  /// A day of the window in the calendar of the window's zone, with the path pattern for that day.
  public struct Day: Sendable, Hashable {
    /// The number of days since 1970-01-01.
    public var number: Int64
    public var path: String

    public init(number: Int64, path: String) {
      self.number = number
      self.path = path
    }
  }

  /// An absolute path pattern for files and directories; its date patterns are not expanded.
  public var path: String
  /// The days of the window; nil if the path has no date patterns.
  public var days: [Day]?
  /// The display name; nil to use the path.
  public var label: String?
  /// Whether a run stops before any processing if the input matches no file, or none for one of its days.
  public var isRequired = false
  /// The minimum number of accepted or duplicate records; if there are fewer, a run stops before processing. Nil for no
  /// minimum.
  public var minRecords: Int?
  /// The name of a preset or the absolute path of a map; nil for records in the project's format.
  public var map: String?
  /// The path of the record within its line, as maps write paths; nil if the line is the record or the map has the
  /// path.
  public var record: String?

  public init(path: String) { self.path = path }

  /// The absolute patterns with dates filled in.
  public var patterns: [String] { days.map { $0.map(\.path) } ?? [path] }
}

/// The kind of input that a record came from. Records of the same instant are ordered by its raw value
/// (reference formats 3.3).
public enum InputKind: UInt8, Comparable, CaseIterable, Sendable {
  case events, notifications, deepLinks

  /// The name in jobs.
  public var name: String { "\(self)" }

  /// Nil for an unknown name.
  public init?(name: String) {
    guard let kind = Self.allCases.first(where: { $0.name.isIdentical(to: name) }) else { return nil }
    self = kind
  }

  @inlinable
  public static func < (one: InputKind, other: InputKind) -> Bool { one.rawValue < other.rawValue }
}

/// A file that was imported completely: reading the same bytes again yields only duplicates.
package struct KnownFile: Sendable, Equatable {
  /// The size on disk in bytes, compressed or not.
  package var size: UInt64
  /// The number of nonblank lines.
  package var lines: Int
  /// The times of the file's earliest and latest records.
  package var span: ClosedRange<Instant>
  /// Two 16-byte checksums: one of the file's bytes, and one of that checksum and the other properties, so
  /// that a damaged row in a store matches no file.
  package var proof: [UInt8]

  package init(size: UInt64, lines: Int, span: ClosedRange<Instant>, proof: [UInt8]) {
    self.size = size
    self.lines = lines
    self.span = span
    self.proof = proof
  }
}
