package import BatchFoundation

/// Why a line is not a record.
public struct Rejection: Error, Equatable {
  package var reason: QuarantineReason
  /// The field concerned, or nil.
  package var field: String?
  /// Where in the line, in bytes from its first; nil when that says nothing.
  package var offset: Int?

  package init(reason: QuarantineReason, field: String? = nil, offset: Int? = nil) {
    self.reason = reason
    self.field = field
    self.offset = offset
  }

  /// What exactly, in words that hold nothing of the line's values.
  package var detail: String {
    if let field { return "field '\(field)'" }
    if let offset { return "at byte \(offset + 1) of the line" }
    return ""
  }
}
