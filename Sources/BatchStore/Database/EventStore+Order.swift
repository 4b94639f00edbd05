extension EventStore {
  /// Makes sure that each entry of a page stands behind the one before it, and the first one behind the page before.
  ///
  /// Where an index and its rows contradict each other, or a value is not what it is read as, the same entries would come again and
  /// again.
  ///
  /// - Parameters:
  ///   - page: the entries as they were read.
  ///   - last: the last entry of the page before; nil for a first page.
  ///   - what: the entries, for people.
  ///   - precedes: whether the first entry has to come before the second.
  /// - Throws: ``StoreError/inconsistent(_:)``.
  package static func inOrder<Entry>(
    _ page: [Entry], after last: Entry?, _ what: String, by precedes: (Entry, Entry) -> Bool
  ) throws -> [Entry] {
    var last = last
    for entry in page {
      if let last, !precedes(last, entry) { throw StoreError.inconsistent("the order of \(what) is damaged") }
      last = entry
    }
    return page
  }
}
