extension String {
  /// Returns the text, cut to this many bytes with `…` appended if it is longer; never splits a character.
  package func clipped(toBytes limit: Int) -> String {
    guard utf8.count > limit else { return self }
    var end = utf8.index(startIndex, offsetBy: limit)
    while end.samePosition(in: unicodeScalars) == nil { end = utf8.index(before: end) }
    return self[..<end] + "…"
  }
}
