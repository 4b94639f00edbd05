package import BatchFoundation

extension Text {
  /// The double nearest to a JSON number's text; nil when it is beyond the largest one.
  package var double: Double? {
    guard let value = Double(description), value.isFinite else { return nil }
    return value
  }

  /// Whether a JSON number is written as an integer: an optional sign and digits only.
  package var isIntegerLiteral: Bool {
    guard count > 0 else { return false }
    for byte in self[0] == UInt8(ascii: "-") ? slice(1, count).bytes : bytes
    where byte < UInt8(ascii: "0") || byte > UInt8(ascii: "9") {
      return false
    }
    return true
  }
}
