extension Instant {
  /// Parses an `eventTimestamp` in any spelling that stored events may have (reference deltadna 2): RFC 3339, where an
  /// offset may also be `±hhmm`, or `yyyy-M-d H:m:s` in UTC, with one or two digits per field and an optional fraction.
  package init?(eventTimestamp text: Text) {
    if text.count > 10, text[10] == UInt8(ascii: "T") {
      self.init(rfc3339OrBasicOffset: text)
    } else {
      self.init(looseUTC: text)
    }
  }

  /// Parses RFC 3339, whose offset may lack its colon.
  private init?(rfc3339OrBasicOffset text: Text) {
    let sign = text.count - 5
    guard sign > 0, text[sign] == UInt8(ascii: "+") || text[sign] == UInt8(ascii: "-") else {
      self.init(rfc3339: text)
      return
    }
    let instant = unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: text.count + 1) { buffer -> Instant? in
      guard let base = buffer.baseAddress else { return nil }
      unsafe base.initialize(from: text.base, count: text.count - 2)
      unsafe base[text.count - 2] = UInt8(ascii: ":")
      unsafe (base + text.count - 1).initialize(from: text.base + text.count - 2, count: 2)
      return unsafe Instant(rfc3339: Text(base: base, count: text.count + 1))
    }
    guard let instant else { return nil }
    self = instant
  }

  private init?(looseUTC text: Text) {
    var at = 0
    func digits(_ counts: ClosedRange<Int>) -> Int? {
      let start = at
      while at < text.count, at - start < counts.upperBound, text[at].isASCIIDigit { at += 1 }
      return counts ~= at - start ? text.digits(start, at - start) : nil
    }
    func separator(_ byte: UInt8) -> Bool {
      guard at < text.count, text[at] == byte else { return false }
      at += 1
      return true
    }
    guard let year = digits(4...4), separator(UInt8(ascii: "-")), let month = digits(1...2),
      separator(UInt8(ascii: "-")), let day = digits(1...2), separator(UInt8(ascii: " ")), let hour = digits(1...2),
      separator(UInt8(ascii: ":")), let minute = digits(1...2), separator(UInt8(ascii: ":")),
      let second = digits(1...2),
      let civil = CivilTime(year: year, month: month, day: day, hour: hour, minute: minute, second: second)
    else { return nil }
    guard let millisecond = Self.fraction(text, &at), at == text.count else { return nil }
    self.init(checking: civil.milliseconds + millisecond)
  }

  /// The length of an `eventTimestamp` in the wire format, in bytes.
  package static let eventTimestampBytes = 23

  /// Writes the wire format `yyyy-MM-dd HH:mm:ss.SSS`; the target must have room for 24 bytes.
  package func writeEventTimestamp(to target: UnsafeMutablePointer<UInt8>) {
    unsafe write(to: target)
    unsafe target[10] = UInt8(ascii: " ")
  }

  /// The instant in the wire format of ``writeEventTimestamp(to:)``.
  package var eventTimestamp: String {
    unsafe String(unsafeUninitializedCapacity: 24) { buffer in
      if let base = buffer.baseAddress { unsafe writeEventTimestamp(to: base) }
      return Self.eventTimestampBytes
    }
  }
}
