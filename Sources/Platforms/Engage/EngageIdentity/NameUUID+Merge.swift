import BatchHash

extension NameUUID {
  /// The key of a merge and of its audit row: the same merge has the same key, so a repeated row replaces itself
  /// (reference identity 5.6).
  static func mergeKey(list: String, loser: String, winner: String, undo: Bool = false) -> String {
    NameUUID(of: "engage-merge|\(list)|\(loser)|\(winner)\(undo ? "|undo" : "")", in: .oid).text
  }
}
