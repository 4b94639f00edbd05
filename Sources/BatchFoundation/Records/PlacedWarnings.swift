/// The number of warnings of one kind, with the first ones, in order of file and line, as examples.
package struct PlacedWarnings: Sendable, Equatable {
  package struct Example: Sendable, Equatable {
    /// The device; empty if it is unknown.
    package var device: String
    package var position: RecordPosition
    package var detail: String

    package init(device: String, position: RecordPosition, detail: String) {
      self.device = device
      self.position = position
      self.detail = detail
    }
  }

  private static let shown = 200
  package private(set) var occurrences = 0
  /// The first warnings, ordered by position.
  package private(set) var examples: [Example] = []

  package init() {}

  /// Counts one warning; its example is built only if it is among the first.
  package mutating func add(at position: RecordPosition, _ example: () -> Example) {
    occurrences += 1
    // There may be as many warnings as records, and most come after the examples.
    if examples.count == Self.shown, let last = examples.last, !position.precedes(last.position) { return }
    examples.append(example())
    keepFirst()
  }

  package mutating func add(_ other: PlacedWarnings) {
    occurrences += other.occurrences
    examples += other.examples
    keepFirst()
  }

  package mutating func subtract(_ other: PlacedWarnings) { occurrences -= other.occurrences }

  private mutating func keepFirst() {
    examples.sort { $0.position.precedes($1.position) }
    examples.removeLast(max(0, examples.count - Self.shown))
  }
}

/// A field that is not in the format of records and was ignored.
package struct UnknownField: Sendable, Equatable, Codable {
  package var name: String
  package var records: Int

  package init(name: String, records: Int) {
    self.name = name
    self.records = records
  }
}
