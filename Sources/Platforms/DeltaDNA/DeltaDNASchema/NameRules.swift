package import BatchFoundation

/// What events and parameters may be called (reference deltadna-service 6.2).
package enum NameRules {
  /// `[A-Za-z][_a-zA-Z0-9]*`
  package static func isEventName(_ name: Text) -> Bool {
    name.count > 0 && isLetter(name[0] | 0x20) && hasWordCharactersOnly(name)
  }

  /// `[a-z][_a-zA-Z0-9]*`
  @inline(__always)
  package static func isParameterName(_ name: Text) -> Bool {
    name.count > 0 && isLetter(name[0]) && hasWordCharactersOnly(name)
  }

  /// Whether a parameter would have the name of a member that stands beside `eventParams`.
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
  private static func isLetter(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "a") < 26 }

  @inline(__always)
  private static func hasWordCharactersOnly(_ name: Text) -> Bool {
    for byte in name.slice(1, name.count) where !isWordCharacter(byte) { return false }
    return true
  }

  /// A bit for each character of ASCII.
  @inline(__always)
  private static func isWordCharacter(_ byte: UInt8) -> Bool {
    let bits: UInt64 = byte < 64 ? 0x03FF_0000_0000_0000 : 0x07FF_FFFE_87FF_FFFE
    return byte < 128 && bits >> UInt64(byte & 63) & 1 == 1
  }
}
