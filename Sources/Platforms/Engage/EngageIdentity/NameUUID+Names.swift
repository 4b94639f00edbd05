import BatchFoundation
import Crypto

extension NameUUID {
  init(of name: String, in namespace: NameUUID) {
    self.init(sha1: Insecure.SHA1.hash(data: namespace.bytes + Array(name.utf8)))
  }

  /// The mobile user id of a device that has none, the same on every run and machine (reference decisions 6).
  static func mobileUserId(ofDevice device: String) -> String {
    NameUUID(of: device, in: NameUUID(of: "engage-batch", in: .dns)).text.uppercased()
  }

  /// The key of a merge and of its audit row: the same merge has the same key, so a repeated row replaces itself
  /// (reference identity 5.6).
  static func mergeKey(list: String, loser: String, winner: String, undo: Bool = false) -> String {
    NameUUID(of: "engage-merge|\(list)|\(loser)|\(winner)\(undo ? "|undo" : "")", in: .oid).text
  }
}
