/// How often a kind of warning was given, and the first places by file and line.
package struct PlacedWarnings: Sendable, Equatable {
  package struct Example: Sendable, Equatable {
    /// Empty where nobody knows it.
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
  /// In order of place.
  package private(set) var examples: [Example] = []

  package init() {}

  /// Counts one. Its example is made only where it is among the first.
  package mutating func add(at position: RecordPosition, _ example: () -> Example) {
    occurrences += 1
    // There can be as many warnings as records, and most come behind the examples.
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

/// A field of records that the format does not know, which was ignored.
package struct UnknownField: Sendable, Equatable, Codable {
  package var name: String
  package var records: Int

  package init(name: String, records: Int) {
    self.name = name
    self.records = records
  }
}
