/// Which input of the job a record came from; the raw values order records of one instant (reference formats 3.3).
public enum InputKind: UInt8, Comparable, CaseIterable, Sendable {
  case events, notifications, deepLinks

  @inlinable
  public static func < (one: InputKind, other: InputKind) -> Bool { one.rawValue < other.rawValue }
}
