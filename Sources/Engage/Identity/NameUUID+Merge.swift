import BatchFoundation

extension NameUUID {
  /// Returns the key of a merge, after `earlier` ones of the two, and of its audit row. The same merge has the same
  /// key, so a repeated row replaces itself (reference identity 5.5).
  static func mergeKey(list: String, loser: String, winner: String, earlier: Int, undo: Bool = false) -> String {
    let number = earlier == 0 ? "" : "|\(earlier)"
    return NameUUID.oid.uuid(named: "engage-merge|\(list)|\(loser)|\(winner)\(number)\(undo ? "|undo" : "")").text
  }
}
