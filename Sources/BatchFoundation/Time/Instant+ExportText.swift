extension Instant {
  /// The text forms of a timestamp: RFC 3339, or `yyyy-MM-dd HH:mm:ss[.SSS]` in UTC.
  public init?(exportText text: Text) {
    guard text.count > 10 else { return nil }
    if text[10] == UInt8(ascii: "T") { self.init(rfc3339: text) } else { self.init(plain: text) }
  }
}
