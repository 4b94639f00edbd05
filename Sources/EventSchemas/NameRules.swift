package import BatchFoundation

/// The rules for names of events and parameters (reference deltadna-service 6.2).
package enum NameRules {
  /// Returns whether the name matches `[A-Za-z][_a-zA-Z0-9]*`.
  package static func isEventName(_ name: Text) -> Bool {
    name.count > 0 && name[0].isASCIILetter && hasWordCharactersOnly(name)
  }

  /// Returns whether the name matches `[a-z][_a-zA-Z0-9]*`.
  @inline(__always)
  package static func isParameterName(_ name: Text) -> Bool {
    name.count > 0 && name[0] &- UInt8(ascii: "a") < 26 && hasWordCharactersOnly(name)
  }

  /// Returns whether the name is reserved for a member next to `eventParams`.
  @inline(__always)
  package static func isReserved(_ name: Text) -> Bool {
    switch name.count {
    case 6: name == "userID"
    case 9: name == "eventName" || name == "eventUUID" || name == "sessionID"
    case 11: name == "eventParams"
    case 14: name == "eventTimestamp"
    default: false
    }
  }

  @inline(__always)
  private static func hasWordCharactersOnly(_ name: Text) -> Bool {
    let raw = unsafe UnsafeRawPointer(name.base)
    guard name.count >= 8 else {
      for index in 1..<name.count where !isWordCharacter(name[index]) { return false }
      return true
    }
    var at = 0
    while at + 8 < name.count {
      if unsafe !areWordCharacters(raw.loadUnaligned(fromByteOffset: at, as: UInt64.self)) { return false }
      at += 8
    }
    // The last eight bytes overlap those before them.
    return unsafe areWordCharacters(raw.loadUnaligned(fromByteOffset: name.count - 8, as: UInt64.self))
  }

  /// Returns whether eight bytes are all word characters. For each range of characters, one addition sets the top bit
  /// of all bytes not below the first character; another sets it in all bytes above the last.
  @inline(__always)
  private static func areWordCharacters(_ word: UInt64) -> Bool {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let highs = ones &* 0x80
    guard word & highs == 0 else { return false }
    func atLeast(_ byte: UInt8, _ word: UInt64) -> UInt64 { word &+ ones &* UInt64(0x80 - byte) }
    func after(_ byte: UInt8, _ word: UInt64) -> UInt64 { word &+ ones &* UInt64(0x7F - byte) }
    let lowered = word | ones &* 0x20
    let letters = atLeast(0x61, lowered) & ~after(0x7A, lowered)
    let digits = atLeast(0x30, word) & ~after(0x39, word)
    let underscore = ~after(0x5F, word) & atLeast(0x5F, word)
    return (letters | digits | underscore) & highs == highs
  }

  /// Looks the byte up in a bit set of the ASCII characters.
  @inline(__always)
  private static func isWordCharacter(_ byte: UInt8) -> Bool {
    let bits: UInt64 = byte < 64 ? 0x03FF_0000_0000_0000 : 0x07FF_FFFE_87FF_FFFE
    return byte < 128 && bits >> UInt64(byte & 63) & 1 == 1
  }
}
