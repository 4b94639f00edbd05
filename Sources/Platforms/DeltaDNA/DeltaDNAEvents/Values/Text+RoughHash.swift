package import BatchFoundation

extension Text {
  /// A number in which most texts differ: quick, and only for the place of a guess, because nothing keeps texts from having the same.
  @inline(__always)
  package var roughHash: Int {
    let raw = unsafe UnsafeRawPointer(base)
    var word: UInt64
    if count >= 8 {
      word = unsafe raw.loadUnaligned(as: UInt64.self) &* 0x9E37_79B9_7F4A_7C15
      unsafe word ^= raw.loadUnaligned(fromByteOffset: count - 8, as: UInt64.self)
    } else {
      word = UInt64(truncatingIfNeeded: count)
      for index in 0..<count { word = word << 8 | UInt64(self[index]) }
    }
    // Both halves, because what differs in the last bytes only comes into the upper one.
    let product = word.multipliedFullWidth(by: 0xA076_1D64_78BD_642F)
    return Int(truncatingIfNeeded: product.high ^ product.low)
  }
}
