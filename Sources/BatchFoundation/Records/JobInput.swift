/// An entry of a job's `inputs` (reference formats 1.2). What it matches is looked for when the run reads it.
public struct JobInput: Sendable, Hashable {
  /// A day of the window, by the calendar of its zone.
  public struct Day: Sendable, Hashable {
    /// Days since 1970.
    public var number: Int64
    /// The pattern that stands for it.
    public var path: String

    public init(number: Int64, path: String) {
      self.number = number
      self.path = path
    }
  }

  /// An absolute pattern of files and directories, with its date patterns as they are written.
  public var path: String
  /// The days of the window, where the path has date patterns; nil where it has none.
  public var days: [Day]?
  /// What people call it; nil for its path.
  public var label: String?
  /// A run ends before it decides anything where nothing matches, on any of the days.
  public var isRequired = false
  /// A run ends before it decides anything where fewer records are accepted or duplicates; nil for any number.
  public var minRecords: Int?
  /// A preset by its name, or the absolute path of a map; nil for records of the project's own shape.
  public var map: String?
  /// Where a record lies inside its line, as a path of maps; nil where the line is one, or the map says it.
  public var record: String?

  public init(path: String) { self.path = path }

  /// Absolute patterns without date patterns.
  public var patterns: [String] { days.map { $0.map(\.path) } ?? [path] }
}

/// Which input of the job a record came from; the raw values order records of one instant (reference formats 3.3).
public enum InputKind: UInt8, Comparable, CaseIterable, Sendable {
  case events, notifications, deepLinks

  /// As jobs call it.
  public var name: String {
    switch self {
    case .events: "events"
    case .notifications: "notifications"
    case .deepLinks: "deepLinks"
    }
  }

  /// Nil for a name that jobs do not have.
  public init?(name: String) {
    guard let kind = Self.allCases.first(where: { $0.name.utf8.elementsEqual(name.utf8) }) else { return nil }
    self = kind
  }

  @inlinable
  public static func < (one: InputKind, other: InputKind) -> Bool { one.rawValue < other.rawValue }
}
