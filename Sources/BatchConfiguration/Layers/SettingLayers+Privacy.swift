import BatchFoundation

extension SettingLayers {
  /// What the settings of `Privacy` are to each other and to the job.
  ///
  /// - Parameter isOfGame: whether the job is for a platform whose events they do not change.
  mutating func checkPrivacy(isOfGame: Bool) {
    var lists: [ByteText: String] = [:]
    for key in ["leaveOut", "mask", "hash"] {
      let name = "Privacy.\(key)"
      guard let given = winner(name), case .list(let attributes) = given.value, !attributes.isEmpty else { continue }
      if isOfGame {
        report(
          given.place, "'\(name)' names attributes, but the events of a game are sent as they are",
          hint: "leave their parameters out of the export")
      }
      for attribute in attributes {
        guard let other = lists.updateValue(name, forKey: ByteText(attribute)), other != name else { continue }
        report(given.place, "'\(name)' and '\(other)' both name '\(attribute)'")
      }
    }
    guard let hash = winner("Privacy.hash"), !hash.value.isEmpty, let key = winner("Privacy.hashKey"),
      key.value.text.utf8.count < 16
    else { return }
    report(
      hash.place, "'Privacy.hash' names attributes, but 'Privacy.hashKey' has fewer than 16 bytes",
      hint: "name a file of random bytes with ENGAGE_HASH_KEY_FILE; with the same key, equal values stay equal")
  }
}
