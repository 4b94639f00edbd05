package import BatchFoundation

/// The mobile user id of a device that has none: UUIDv5 of the device id, upper case, the same on every run and machine
/// (reference decisions 6).
package enum AutomaticMobileUserId {
  package static func id(of device: Text) -> String { unsafe id(of: Array(device.bytes)) }

  package static func id(of device: String) -> String { id(of: Array(device.utf8)) }

  /// Equal for ids of one person: iOS wrote UUIDs in upper case and Android in lower case.
  package static func key(of id: String) -> String {
    let bytes = Array(id.utf8)
    let isUUID =
      bytes.count == 36
      && bytes.indices.allSatisfy { place in
        [8, 13, 18, 23].contains(place)
          ? bytes[place] == UInt8(ascii: "-")
          : 0x30...0x39 ~= bytes[place] || 0x61...0x66 ~= bytes[place] | 0x20
      }
    return isUUID ? id.uppercased() : id
  }

  private static func id(of device: [UInt8]) -> String { NameUUID(of: device, in: .program).text.uppercased() }
}
