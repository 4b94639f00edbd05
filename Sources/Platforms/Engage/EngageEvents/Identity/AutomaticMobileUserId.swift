package import BatchFoundation

/// The mobile user id of a device that has none: UUIDv5 of the device id, upper case, the same on every run and machine
/// (reference decisions 6).
package enum AutomaticMobileUserId {
  package static func id(of device: Text) -> String { unsafe id(of: Array(device.bytes)) }

  package static func id(of device: String) -> String { id(of: Array(device.utf8)) }

  private static func id(of device: [UInt8]) -> String { NameUUID(of: device, in: .program).text.uppercased() }
}
