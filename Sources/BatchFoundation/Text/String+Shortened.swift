extension String {
  /// The text as a message quotes it: of a long one its beginning and how long it is.
  ///
  /// - Parameter bytes: as many are shown.
  public func shortened(to bytes: Int = 80) -> String {
    guard utf8.count > bytes else { return self }
    var end = utf8.index(utf8.startIndex, offsetBy: bytes)
    // Not in the middle of a character.
    while String.Index(end, within: self) == nil, end > utf8.startIndex { end = utf8.index(before: end) }
    return "\(self[..<end])... (\(utf8.count.grouped) bytes)"
  }
}
