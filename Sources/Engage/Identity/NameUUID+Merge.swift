import BatchFoundation

extension NameUUID {
  /// Returns the key of a merge and of its audit row: the same merge has the same key, so a repeated row replaces
  /// itself (reference identity 5.5).
  ///
  /// - Parameter earlier: The number of earlier merges of the two.
  static func mergeKey(list: String, loser: String, winner: String, earlier: Int, undo: Bool = false) -> String {
    let number = earlier == 0 ? "" : "|\(earlier)"
    return NameUUID(of: "engage-merge|\(list)|\(loser)|\(winner)\(number)\(undo ? "|undo" : "")", in: .oid).text
  }
}
