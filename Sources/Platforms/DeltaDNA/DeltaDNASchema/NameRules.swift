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
    for index in 1..<max(1, name.count) {
      let byte = name[index]
      guard isLetter(byte | 0x20) || byte &- UInt8(ascii: "0") < 10 || byte == UInt8(ascii: "_") else { return false }
    }
    return true
  }
}
