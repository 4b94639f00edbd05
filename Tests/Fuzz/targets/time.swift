import BatchFoundation

extension FuzzTarget {
  /// Any text: a time or none; a time that is written is the same when it is read again.
  static func time(_ input: UnsafeBufferPointer<UInt8>) {
    guard let start = input.baseAddress else { return }
    let text = Text(base: start, count: input.count)
    for time in [Instant(rfc3339: text), Instant(plain: text), Instant(epoch: text)] {
      guard let instant = time else { continue }
      precondition(instant.milliseconds >= 0 && instant <= Instant.last)
      precondition(Instant.parse(rfc3339: instant.rfc3339) == instant)
    }
    _ = ExpirationText.parse(text).expiry(from: Instant(milliseconds: 1_767_225_600_000))
    if let pattern = try? DatePattern(text.description) { _ = pattern.format(Instant(milliseconds: 1)) }
  }
}
