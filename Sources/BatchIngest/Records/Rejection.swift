package import BatchFoundation

public struct Rejection: Error, Equatable {
  package var reason: QuarantineReason
  package var field: String?
  /// The fault's offset in bytes from the start of the line; nil if not meaningful.
  package var offset: Int?

  package init(reason: QuarantineReason, field: String? = nil, offset: Int? = nil) {
    self.reason = reason
    self.field = field
    self.offset = offset
  }

  /// The details, without any of the line's values.
  package var detail: String {
    if let field { return "field '\(field)'" }
    if let offset { return "at byte \(offset + 1) of the line" }
    return ""
  }
}
