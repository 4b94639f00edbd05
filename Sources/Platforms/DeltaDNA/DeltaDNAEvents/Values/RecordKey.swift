package import BatchFoundation
import BatchHash

/// A UUID of version 5 that ids are made from (reference deltadna 5): the one of a record, K, or one derived from it.
///
/// Two words instead of an array: there is one for every record and one for every event.
package struct RecordKey: Hashable, Sendable {
  package var high: UInt64
  package var low: UInt64

  package init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// The name in the namespace of this key.
  package func key(_ name: Text) -> RecordKey {
    var hash = startedHash
    hash.update(UnsafeRawBufferPointer(name.bytes))
    return RecordKey(hash)
  }

  /// `<name>#<number>` in the namespace of this key: the id of an event.
  package func key(_ name: Text, number: Int) -> RecordKey {
    var hash = startedHash
    hash.update(UnsafeRawBufferPointer(name.bytes))
    if number == 0 {
      hash.update(UnsafeRawBufferPointer(Text("#0").bytes))
    } else {
      hash.update("#\(number)")
    }
    return RecordKey(hash)
  }

  /// K of a record: its input kind and its line, without white space at both ends.
  package init(line: Text, kind: InputKind) {
    var hash = Self.deltaDNA.startedHash
    let name: Text =
      switch kind {
      case .events: "events\t"
      case .notifications: "notifications\t"
      case .deepLinks: "deepLinks\t"
      }
    hash.update(UnsafeRawBufferPointer(name.bytes))
    hash.update(UnsafeRawBufferPointer(line.bytes))
    self.init(hash)
  }

  /// The namespace of everything that this program names: UUIDv5 of `engage-batch` in the DNS namespace.
  package static let program = RecordKey(high: 0x6BA7_B810_9DAD_11D1, low: 0x80B4_00C0_4FD4_30C8).key("engage-batch")
  /// D of the reference.
  package static let deltaDNA = program.key("deltadna")

  private var startedHash: SHA1 {
    var hash = SHA1()
    withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) { hash.update($0) }
    return hash
  }

  private init(_ hash: SHA1) {
    (high, low) = hash.finalize().withUnsafeBytes {
      (
        UInt64(bigEndian: $0.loadUnaligned(as: UInt64.self)),
        UInt64(bigEndian: $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
      )
    }
    high = high & ~0xF000 | 0x5000
    low = low & ~(0b11 << 62) | 0b10 << 62
  }
}

extension RecordKey {
  /// Bytes of the key as text.
  package static let textBytes = 36

  /// Writes the key in upper case with hyphens.
  package func write(to target: UnsafeMutablePointer<UInt8>) {
    var at = 0
    for index in 0..<32 {
      if index == 8 || index == 12 || index == 16 || index == 20 {
        target[at] = UInt8(ascii: "-")
        at += 1
      }
      let word = index < 16 ? high : low
      let digit = UInt8(truncatingIfNeeded: word >> UInt64(60 - index % 16 * 4)) & 15
      target[at] = digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "A") + digit - 10
      at += 1
    }
  }

  /// The key in upper case with hyphens.
  package func text(in arena: Arena) -> Text {
    let target = arena.allocate(Self.textBytes).assumingMemoryBound(to: UInt8.self)
    write(to: target)
    return Text(base: target, count: Self.textBytes)
  }

  /// Reads the text that ``write(to:)`` writes; nil for any other spelling.
  package init?(_ text: Text) {
    guard text.count == Self.textBytes else { return nil }
    var words: (UInt64, UInt64) = (0, 0)
    for (index, byte) in text.bytes.enumerated() {
      if index == 8 || index == 13 || index == 18 || index == 23 {
        guard byte == UInt8(ascii: "-") else { return nil }
        continue
      }
      let digit: UInt8
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = byte - UInt8(ascii: "0")
      case UInt8(ascii: "A")...UInt8(ascii: "F"): digit = byte - UInt8(ascii: "A") + 10
      default: return nil
      }
      if index < 18 { words.0 = words.0 << 4 | UInt64(digit) } else { words.1 = words.1 << 4 | UInt64(digit) }
    }
    self.init(high: words.0, low: words.1)
  }
}
