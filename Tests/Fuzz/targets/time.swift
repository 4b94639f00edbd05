import BatchFoundation

/// Any text: a time or none; a time that is written is the same when it is read again.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  let text = Text(base: start, count: count)
  for time in [Instant(rfc3339: text), Instant(plain: text), Instant(epoch: text)] {
    guard let instant = time else { continue }
    precondition(instant.milliseconds >= 0 && instant <= Instant.last)
    precondition(Instant.parse(rfc3339: instant.rfc3339) == instant)
  }
  _ = ExpirationText.parse(text).expiry(from: Instant(milliseconds: 1_767_225_600_000))
  if let pattern = try? DatePattern(text.description) { _ = pattern.format(Instant(milliseconds: 1)) }
  return 0
}
