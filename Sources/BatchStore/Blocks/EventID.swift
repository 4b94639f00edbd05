package import BatchFoundation

/// The stable id of an event: a version 8 UUID that begins with the event's time, so that only a few blocks need to be
/// searched, and ends with a digest of device and emission number.
package struct EventID: Hashable, Sendable, CustomStringConvertible {
  /// The 16 bytes of the id.
  package let bytes: [UInt8]

  package init(timestamp: Instant, device: Text, emission: Int64) {
    var hash = SHA256()
    unsafe hash.update(UnsafeRawBufferPointer(device.bytes))
    unsafe withUnsafeBytes(of: emission.bigEndian) { unsafe hash.update($0) }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(16)
    for shift in stride(from: 40, through: 0, by: -8) {
      bytes.append(UInt8(truncatingIfNeeded: timestamp.milliseconds >> Int64(shift)))
    }
    bytes.append(contentsOf: hash.finalize().prefix(10))
    bytes[6] = 0x80 | bytes[6] & 0x0F
    bytes[8] = 0x80 | bytes[8] & 0x3F
    self.bytes = bytes
  }

  /// Parses the usual 36 characters, with hex digits in either case; nil for anything but an event id.
  package init?(_ text: String) {
    var bytes: [UInt8] = []
    var high: UInt8?
    for (index, byte) in text.utf8.enumerated() {
      if [8, 13, 18, 23].contains(index) {
        guard byte == UInt8(ascii: "-") else { return nil }
        continue
      }
      guard let digit = Hexadecimal.value(of: byte) else { return nil }
      if let first = high {
        bytes.append(first << 4 | digit)
        high = nil
      } else {
        high = digit
      }
    }
    guard bytes.count == 16, text.utf8.count == 36, bytes[6] >> 4 == 8 else { return nil }
    self.bytes = bytes
  }

  package var timestamp: Instant {
    Instant(milliseconds: bytes.prefix(6).reduce(0) { $0 << 8 | Int64($1) })
  }

  package var description: String {
    var text: [UInt8] = []
    text.reserveCapacity(36)
    for (index, byte) in bytes.enumerated() {
      if index == 4 || index == 6 || index == 8 || index == 10 { text.append(UInt8(ascii: "-")) }
      for digit in [byte >> 4, byte & 0x0F] {
        text.append((digit < 10 ? UInt8(ascii: "0") : UInt8(ascii: "a") - 10) + digit)
      }
    }
    return String(decoding: text, as: UTF8.self)
  }
}

/// A shortened event id: its first characters. A complete id matches at most one event.
package struct EventIDPrefix: Hashable, Sendable, CustomStringConvertible {
  /// The prefix in lowercase.
  package let description: String
  /// The whole id if the prefix is complete; otherwise nil.
  package let whole: EventID?

  /// Parses the first 6 to 36 characters of an id, with hex digits in either case; nil for anything else.
  package init?(_ text: String) {
    let isID = text.utf8.enumerated().allSatisfy { index, byte in
      [8, 13, 18, 23].contains(index) ? byte == UInt8(ascii: "-") : Hexadecimal.value(of: byte) != nil
    }
    guard isID, (6...36).contains(text.utf8.count) else { return nil }
    whole = EventID(text)
    if text.utf8.count == 36, whole == nil { return nil }
    description = text.lowercased()
  }

  /// The possible times of events whose ids have this prefix. An id begins with its event's time, in 12 hex digits.
  package var times: ClosedRange<Instant> {
    let digits = description.filter { $0 != "-" }.prefix(12)
    let open = 4 * Int64(12 - digits.count)
    let first = digits.reduce(Int64(0)) { $0 << 4 | Int64($1.hexDigitValue ?? 0) } << open
    return Instant(milliseconds: first)...Instant(milliseconds: first | (1 << open - 1))
  }

  package func begins(_ id: EventID) -> Bool { id.description.utf8.starts(with: description.utf8) }
}
