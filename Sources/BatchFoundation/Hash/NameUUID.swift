/// A name-based UUID of version 5 (RFC 9562, section 5.5). It consists of two words rather than an array, because every
/// record and every event of a game has one.
package struct NameUUID: Hashable, Sendable {
  package var high: UInt64
  package var low: UInt64

  /// The DNS namespace, `6ba7b810-9dad-11d1-80b4-00c04fd430c8`.
  package static let dns = NameUUID(high: 0x6BA7_B810_9DAD_11D1, low: 0x80B4_00C0_4FD4_30C8)
  /// The OID namespace, `6ba7b812-9dad-11d1-80b4-00c04fd430c8`.
  package static let oid = NameUUID(high: 0x6BA7_B812_9DAD_11D1, low: 0x80B4_00C0_4FD4_30C8)
  /// The namespace of all UUIDs that this program generates: the UUID of `engage-batch` in the DNS namespace.
  package static let program = dns.uuid("engage-batch")

  package init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// Creates a UUID from the first bits of a hash, setting the version and the variant of RFC 9562.
  package init(hashed high: UInt64, _ low: UInt64) {
    self.high = high & ~0xF000 | 0x5000
    self.low = low & ~(0b11 << 62) | 0b10 << 62
  }

  /// Returns the UUID of the name, with this UUID as its namespace.
  package func uuid(_ name: Text) -> NameUUID {
    if 16 + name.count <= SHA1.short { return short(name, "") }
    return uuid { unsafe $0.update(UnsafeRawBufferPointer(name.bytes)) }
  }

  package func uuid(named name: String) -> NameUUID { Array(name.utf8).withText { uuid($0) } }

  /// Returns the UUID of `<name>#<number>`, with this UUID as its namespace.
  package func uuid(_ name: Text, number: Int) -> NameUUID {
    if number == 0, 16 + name.count + 2 <= SHA1.short { return short(name, "#0") }
    return uuid {
      unsafe $0.update(UnsafeRawBufferPointer(name.bytes))
      $0.update("#\(number)")
    }
  }

  /// Returns the UUID of the bytes that `update` hashes, with this UUID as their namespace.
  package func uuid(_ update: (inout SHA1) -> Void) -> NameUUID {
    var hash = SHA1()
    unsafe withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) { unsafe hash.update($0) }
    update(&hash)
    let (high, low) = unsafe hash.finalize().withUnsafeBytes {
      unsafe (
        UInt64(bigEndian: $0.loadUnaligned(as: UInt64.self)),
        UInt64(bigEndian: $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
      )
    }
    return NameUUID(hashed: high, low)
  }

  private func short(_ name: Text, _ end: Text) -> NameUUID {
    let (high, low) = unsafe SHA1.leadingWords(ofShort: 16 + name.count + end.count) { start in
      unsafe start.storeBytes(of: self.high.bigEndian, as: UInt64.self)
      unsafe start.storeBytes(of: self.low.bigEndian, toByteOffset: 8, as: UInt64.self)
      unsafe copyBytes(name.base, to: start + 16, name.count)
      unsafe copyBytes(end.base, to: start + 16 + name.count, end.count)
    }
    return NameUUID(hashed: high, low)
  }
}

extension NameUUID {
  /// The sixteen bytes, in the order in which ``text`` shows them.
  package var bytes: [UInt8] {
    [high, low].flatMap { word in
      stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: word >> UInt64($0)) }
    }
  }

  /// The UUID in lower case with hyphens.
  package var text: String { unsafe text { unsafe writeLowercase(to: $0) } }

  /// The UUID in upper case with hyphens.
  package var upperText: String { unsafe text { unsafe write(to: $0) } }

  private func text(_ write: (UnsafeMutablePointer<UInt8>) -> Void) -> String {
    unsafe String(unsafeUninitializedCapacity: Self.textBytes) { bytes in
      if let base = bytes.baseAddress { unsafe write(base) }
      return Self.textBytes
    }
  }

  package func text(in arena: Arena) -> Text {
    let target = unsafe arena.allocate(Self.textBytes).assumingMemoryBound(to: UInt8.self)
    unsafe write(to: target)
    return unsafe Text(base: target, count: Self.textBytes)
  }

  package static let textBytes = 36

  /// Writes ``upperText`` to `target`, which must have room for ``textBytes`` bytes.
  package func write(to target: UnsafeMutablePointer<UInt8>) { unsafe write(to: target, caseBits: 0) }

  /// Writes ``text`` to `target`, which must have room for ``textBytes`` bytes.
  package func writeLowercase(to target: UnsafeMutablePointer<UInt8>) {
    // The bit that makes letters lower case is set in digits anyway.
    unsafe write(to: target, caseBits: 0x2020_2020_2020_2020)
  }

  @inline(__always)
  private func write(to target: UnsafeMutablePointer<UInt8>, caseBits: UInt64) {
    let target = UnsafeMutableRawPointer(target)
    func digits(_ bits: UInt64) -> UInt64 { Self.digits(bits) | caseBits }
    let groups = (digits(high >> 32), digits(high & 0xFFFF_FFFF), digits(low >> 32), digits(low & 0xFFFF_FFFF))
    func store(_ word: UInt64, at offset: Int) {
      unsafe target.storeBytes(of: word.bigEndian, toByteOffset: offset, as: UInt64.self)
    }
    func store(_ half: UInt32, at offset: Int) {
      unsafe target.storeBytes(of: half.bigEndian, toByteOffset: offset, as: UInt32.self)
    }
    store(groups.0, at: 0)
    store(UInt32(truncatingIfNeeded: groups.1 >> 32), at: 9)
    store(UInt32(truncatingIfNeeded: groups.1), at: 14)
    store(UInt32(truncatingIfNeeded: groups.2 >> 32), at: 19)
    store(UInt32(truncatingIfNeeded: groups.2), at: 24)
    store(groups.3, at: 28)
    for offset in stride(from: 8, through: 23, by: 5) {
      unsafe target.storeBytes(of: UInt8(ascii: "-"), toByteOffset: offset, as: UInt8.self)
    }
  }

  /// Returns the eight hexadecimal digits of a 32-bit number, the first in the topmost byte.
  @inline(__always)
  private static func digits(_ bits: UInt64) -> UInt64 {
    // Spreads the half bytes over whole bytes.
    var word = (bits << 16 | bits) & 0x0000_FFFF_0000_FFFF
    word = (word << 8 | word) & 0x00FF_00FF_00FF_00FF
    word = (word << 4 | word) & 0x0F0F_0F0F_0F0F_0F0F
    let letters = (word &+ 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101
    return word &+ 0x3030_3030_3030_3030 &+ letters &* 7
  }

  /// Reverses ``digits(_:)``; the result is arbitrary if the input is not eight digits.
  @inline(__always)
  private static func bits(_ digits: UInt64) -> UInt64 {
    let letters = digits >> 6 & 0x0101_0101_0101_0101
    var word = (digits & 0x0F0F_0F0F_0F0F_0F0F) &+ letters &* 9
    word = (word >> 4 | word) & 0x00FF_00FF_00FF_00FF
    word = (word >> 8 | word) & 0x0000_FFFF_0000_FFFF
    return (word >> 16 | word) & 0xFFFF_FFFF
  }

  /// Parses the text that ``write(to:)`` writes; nil for any other spelling, such as lower case.
  package init?(_ text: Text) {
    guard text.count == Self.textBytes else { return nil }
    let source = unsafe UnsafeRawPointer(text.base)
    func word(_ offset: Int) -> UInt64 {
      unsafe UInt64(bigEndian: source.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }
    func half(_ offset: Int) -> UInt64 {
      unsafe UInt64(UInt32(bigEndian: source.loadUnaligned(fromByteOffset: offset, as: UInt32.self)))
    }
    let groups = (word(0), half(9) << 32 | half(14), half(19) << 32 | half(24), word(28))
    let bits = (Self.bits(groups.0), Self.bits(groups.1), Self.bits(groups.2), Self.bits(groups.3))
    // Other spellings do not survive the round trip.
    guard Self.digits(bits.0) == groups.0, Self.digits(bits.1) == groups.1, Self.digits(bits.2) == groups.2,
      Self.digits(bits.3) == groups.3
    else { return nil }
    for offset in stride(from: 8, through: 23, by: 5) where text[offset] != UInt8(ascii: "-") { return nil }
    self.init(high: bits.0 << 32 | bits.1, low: bits.2 << 32 | bits.3)
  }
}
