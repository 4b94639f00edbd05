public import BatchFoundation

/// What is wrong with the fields of one line, the first of each kind; of several kinds the order of reasons decides.
public struct FieldFaults {
  @usableFromInline var missing: Text?
  @usableFromInline var wrong: Text?
  @usableFromInline var timestamp: Text?
  @usableFromInline var unknown: Text?

  @inlinable
  public init() {}

  public mutating func missing(_ name: Text) { if missing == nil { missing = name } }
  public mutating func wrong(_ name: Text) { if wrong == nil { wrong = name } }
  public mutating func badTimestamp(_ name: Text) { if timestamp == nil { timestamp = name } }
  public mutating func unknown(_ name: Text) { if unknown == nil { unknown = name } }

  /// Nil for a line without faults.
  @inlinable
  public var first: Rejection? {
    missing == nil && wrong == nil && timestamp == nil && unknown == nil ? nil : worst
  }

  @usableFromInline
  var worst: Rejection? {
    if let missing { return Rejection(reason: .missingField, field: "\(missing)") }
    if let wrong { return Rejection(reason: .wrongType, field: "\(wrong)") }
    if let timestamp { return Rejection(reason: .invalidTimestamp, field: "\(timestamp)") }
    if let unknown { return Rejection(reason: .unknownType, field: "\(unknown)") }
    return nil
  }
}
