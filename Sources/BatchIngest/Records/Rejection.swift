public import BatchFoundation

public struct Rejection: Error, Equatable {
  package var reason: QuarantineReason
  package var field: String?
  /// The fault's offset in bytes from the start of the line; nil if the fault has no offset.
  package var offset: Int?

  package init(reason: QuarantineReason, field: String? = nil, offset: Int? = nil) {
    (self.reason, self.field, self.offset) = (reason, field, offset)
  }

  /// The details, without any values from the line.
  package var detail: String {
    if let field { return "field '\(field)'" }
    if let offset { return "at byte \(offset + 1) of the line" }
    return ""
  }
}

/// The place of a fault in a line: a field, or a value inside it.
public struct FieldPlace: CustomStringConvertible {
  @usableFromInline var field: Text
  /// The path inside the field: a member, an element of a list, a member of that element; each is empty or nil if
  /// absent.
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

  /// The name of a field, or a JSON Pointer (RFC 6901) to a value inside it. It contains only names that the format
  /// defines.
  public var description: String {
    let steps = ["\(member)", element.map(String.init) ?? "", "\(inner)"].filter { !$0.isEmpty }
    return steps.isEmpty ? "\(field)" : "/" + (["\(field)"] + steps).joined(separator: "/")
  }
}

/// The faults in the fields of one line: the first of each kind. ``first`` picks one by the order of reasons.
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

/// Decides which values messages may show: type names and times, which reveal nothing personal.
package enum ShownValue {
  /// The words that may occur in dates.
  private static let words: Set<String> = {
    let names = [
      "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
      "december", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday",
    ]
    return Set(names + names.map { String($0.prefix(3)) }).union([
      "am", "pm", "utc", "gmt", "cet", "cest", "est", "edt", "cst", "cdt", "mst", "mdt", "pst", "pdt", "t", "z", "w",
      "e",
      "date", "yesterday", "today", "tomorrow", "now", "null", "none", "nan", "nat", "true", "false",
    ])
  }()

  /// Returns whether a string, apart from surrounding spaces, has only letters, few digits, `_`, `-` and dots, so that
  /// it cannot be an address, a sentence or a personal number.
  package static func isName(_ text: String) -> Bool {
    let name = text.utf8.trimming { $0 == 0x20 }
    return isShort(text) && name.count(where: \.isASCIIDigit) <= 3
      && name.allSatisfy { $0.isASCIILetterOrDigit || "_-.".utf8.contains($0) }
  }

  /// Returns whether a string has only digits, punctuation marks, and words that occur in dates.
  package static func isTime(_ text: String) -> Bool {
    isShort(text) && text.utf8.allSatisfy { $0.isASCIILetterOrDigit || "-:.,+ /()".utf8.contains($0) }
      && text.lowercased().utf8.split { !$0.isASCIILetter }.allSatisfy {
        words.contains(String(decoding: $0, as: UTF8.self))
      }
  }

  private static func isShort(_ text: String) -> Bool { 1...60 ~= text.utf8.count }
}
