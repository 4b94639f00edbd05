import BatchFoundation

/// What was decided of one part: `result.json` beside its store (reference formats 5.2).
package struct PartResult: Codable, Equatable, Sendable {
  static let name = "result.json"
  static let storeName = "store.sqlite"
  static let currentFormat = 1

  var format = Self.currentFormat
  /// The identity of the partition.
  package var partition: String
  package var part: Int
  package var parts: Int
  package var destination: String
  /// The identity of the result whose states this one continues; nil for the first.
  package var previous: String?
  /// The partition of that result, and the digest of the settings that decided it; nil for the first.
  package var previousPartition: String?
  package var previousConfiguration: String?
  /// Digest of the settings that decided, secrets left out.
  package var configuration: String
  package var lines: Int
  package var storeBytes: UInt64
  /// ``CopySum`` of the store, in hexadecimal.
  package var storeSum: String
  /// What the platform counted, by name.
  package var figures: [String: Int]
  /// What the platform noted besides, as text of its own; nil for nothing.
  package var details: String?

  /// Whether another attempt at the same decision wrote the other.
  func isTwin(of other: PartResult) -> Bool {
    partition.utf8.elementsEqual(other.partition.utf8) && part == other.part && previous == other.previous
      && configuration.utf8.elementsEqual(other.configuration.utf8) && figures == other.figures && lines == other.lines
  }
}

/// A folder that a decision wrote.
package struct ResultFolder: Sendable {
  package let path: String
  package let result: PartResult
  /// SHA-256 of the result, which holds the sum of its store.
  let identity: String

  /// - Throws: ``PartsError``.
  package init(_ path: String) throws {
    self.path = path
    let file = "\(path)/\(PartResult.name)"
    (result, identity) = try PartDocument.load(PartResult.self, file)
    guard result.format == PartResult.currentFormat else {
      throw PartsError(path: file, problem: "another release wrote it")
    }
    guard 1...Partitioning.mostParts ~= result.parts, 0..<result.parts ~= result.part,
      PartDocument.counts ~= result.lines,
      // A rewind takes back what was counted before.
      result.figures.values.allSatisfy({ $0.magnitude <= PartDocument.counts.upperBound })
    else { throw PartsError(path: file, problem: "it has a number that no decision writes") }
  }

  var store: String { "\(path)/\(PartResult.storeName)" }

  /// - Throws: ``DamagedCopyError``, ``PartsError``.
  func prove() throws { try PartDocument.prove(store, bytes: result.storeBytes, sum: result.storeSum) }
}
