package import BatchFoundation

/// The stable id of an event: a version 8 UUID that begins with the event's time, so that only a few blocks need to be
/// searched, and ends with a digest of device and emission number.
package struct EventID: Hashable, Sendable, CustomStringConvertible {
  private let id: NameUUID

  package init(timestamp: Instant, device: Text, emission: Int64) {
    var hash = SHA256()
    unsafe hash.update(UnsafeRawBufferPointer(device.bytes))
    unsafe withUnsafeBytes(of: emission.bigEndian) { unsafe hash.update($0) }
    let (first, rest) = unsafe hash.finalize().withUnsafeBytes {
      unsafe (
        UInt16(bigEndian: $0.loadUnaligned(as: UInt16.self)),
        UInt64(bigEndian: $0.loadUnaligned(fromByteOffset: 2, as: UInt64.self))
      )
    }
    let id = NameUUID(hashed: UInt64(bitPattern: timestamp.milliseconds) << 16 | UInt64(first), rest)
    self.id = NameUUID(high: id.high & ~0xF000 | 0x8000, low: id.low)
  }

  /// Parses the usual 36 characters, with hex digits in either case; nil for anything but an event id.
  package init?(_ text: String) {
    guard text.utf8.count == NameUUID.textBytes, let id = text.uppercased().withText({ NameUUID($0) }),
      id.high >> 12 & 0xF == 8
    else { return nil }
    self.id = id
  }

  package var timestamp: Instant { Instant(milliseconds: Int64(id.high >> 16)) }

  package var description: String { id.text }

  package static let textBytes = NameUUID.textBytes

  /// Writes ``description`` to `target`, which must have room for ``textBytes`` bytes.
  package func write(to target: UnsafeMutablePointer<UInt8>) { unsafe id.writeLowercase(to: target) }
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
