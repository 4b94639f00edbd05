public import BatchFoundation

/// The place of a fault in a line: a field, or something below it.
public struct FieldPlace: CustomStringConvertible {
  @usableFromInline var field: Text
  /// The path below the field: its member, its element if a list, and the member of that; each empty or nil if absent.
  private var member: Text
  private var element: Int?
  private var inner: Text

  @inlinable
  public init(_ field: Text) { self.init(field, .empty) }

  public init(_ field: Text, _ member: Text, _ element: Int? = nil, _ inner: Text = .empty) {
    (self.field, self.member, self.element, self.inner) = (field, member, element, inner)
  }

  public func member(_ name: Text) -> FieldPlace {
    member.isEmpty && element == nil ? FieldPlace(field, name) : FieldPlace(field, member, element, name)
  }

  public func element(_ number: Int) -> FieldPlace { FieldPlace(field, member, number) }

  /// The name of a field, or a JSON Pointer (RFC 6901) to something below it; its names are known to the format.
  public var description: String {
    let steps = ["\(member)", element.map(String.init) ?? "", "\(inner)"].filter { !$0.isEmpty }
    return steps.isEmpty ? "\(field)" : "/" + (["\(field)"] + steps).joined(separator: "/")
  }
}

/// The faults in the fields of one line, the first of each kind; ``first`` picks one by the order of reasons.
public struct FieldFaults {
  @usableFromInline var missing: FieldPlace?
  @usableFromInline var wrong: FieldPlace?
  @usableFromInline var timestamp: Text?
  @usableFromInline var unknown: Text?

  @inlinable
  public init() {}

  public mutating func missing(_ name: Text) { missing(FieldPlace(name)) }
  public mutating func missing(_ place: FieldPlace) { if missing == nil { missing = place } }
  public mutating func wrong(_ name: Text) { wrong(FieldPlace(name)) }
  public mutating func wrong(_ place: FieldPlace) { if wrong == nil { wrong = place } }
  public mutating func badTimestamp(_ name: Text) { if timestamp == nil { timestamp = name } }
  public mutating func unknown(_ name: Text) { if unknown == nil { unknown = name } }

  /// The fault to report; nil for a line without faults.
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
