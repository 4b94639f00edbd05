extension Int {
  /// The number with its noun or clause for sentences, such as `1 line was` and `2,000 lines were`.
  ///
  /// - Parameter plural: nil adds an `s`.
  public func counted(_ one: String, _ plural: String? = nil) -> String {
    "\(grouped) \(self == 1 ? one : plural ?? one + "s")"
  }

  /// Groups of three digits, separated by commas.
  public var grouped: String {
    let digits = Array(String(magnitude))
    var text = self < 0 ? "-" : ""
    for (index, digit) in digits.enumerated() {
      if index > 0, (digits.count - index).isMultiple(of: 3) { text += "," }
      text.append(digit)
    }
    return text
  }
}
