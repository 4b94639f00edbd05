package import BatchFoundation
import Crypto

/// The mobile user id of a device that has none: UUIDv5 of the device id, upper case, the same on every run and machine
/// (reference decisions 6).
package enum AutomaticMobileUserId {
  /// UUIDv5 of "engage-batch" in the DNS namespace.
  static let namespace = uuid(of: Array("engage-batch".utf8), in: .dns)

  package static func id(of device: Text) -> String { uuid(of: Array(device.bytes), in: namespace).text.uppercased() }

  private static func uuid(of name: [UInt8], in namespace: NameUUID) -> NameUUID {
    NameUUID(sha1: Insecure.SHA1.hash(data: namespace.bytes + name))
  }
}
