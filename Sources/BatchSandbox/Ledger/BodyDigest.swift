import BatchFoundation

/// FNV-1a with 64 bits: what the ledger calls a digest. It tells bodies apart; it protects against nothing.
package struct BodyDigest: Hashable, Sendable {
  package var value: UInt64 = 0xCBF2_9CE4_8422_2325

  package init() {}

  package init(_ bytes: some Sequence<UInt8>) {
    if bytes.withContiguousStorageIfAvailable({ unsafe update(UnsafeRawBufferPointer($0)) }) == nil {
      for byte in bytes { value = (value ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
    }
  }

  package mutating func update(_ bytes: UnsafeRawBufferPointer) {
    var mixed = value
    unsafe bytes.forEach { mixed = (mixed ^ UInt64($0)) &* 0x0000_0100_0000_01B3 }
    value = mixed
  }

  /// Sixteen lower-case hexadecimal digits.
  package var text: String { Hexadecimal.text(of: value) }
}
