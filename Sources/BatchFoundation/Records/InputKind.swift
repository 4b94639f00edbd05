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
