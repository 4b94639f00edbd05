import BatchStore

/// The description of a processed part: `result.json` next to its store (reference formats 5.2).
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
  /// The identity of the result whose states this one continues; nil for the first partition.
  package var previous: String?
  /// The partition of that result, and the digest of its settings; nil for the first partition.
  package var previousPartition: String?
  package var previousConfiguration: String?
  /// The digest of the settings, without secrets.
  package var configuration: String
  package var lines: Int
  package var storeBytes: UInt64
  /// The ``CopySum`` of the store, in hexadecimal.
  package var storeSum: String
  /// The platform's figures, by name.
  package var figures: [String: Int]
  /// The details that the deciders noted (``ProcessingDetails/portable()``); nil if there is none.
  package var details: String?

  /// Returns whether the other result comes from another attempt to process the same part.
  func isTwin(of other: PartResult) -> Bool {
    partition.utf8.elementsEqual(other.partition.utf8) && part == other.part && previous == other.previous
      && configuration.utf8.elementsEqual(other.configuration.utf8) && figures == other.figures && lines == other.lines
  }
}

package struct ResultFolder: Sendable {
  package let path: String
  package let result: PartResult
  /// The SHA-256 of the result's document, which contains the checksum of its store.
  let identity: String

  /// - Throws: ``PartsError``.
  package init(_ path: String) throws {
    self.path = path
    let file = "\(path)/\(PartResult.name)"
    (result, identity) = try PartDocument.load(PartResult.self, file)
    guard result.format == PartResult.currentFormat else {
      throw PartsError(path: file, problem: "it was written by another release; decide the part again")
    }
    guard 1...Partitioning.mostParts ~= result.parts, 0..<result.parts ~= result.part,
      PartDocument.counts ~= result.lines,
      // A rewind may subtract from the figures of earlier runs, so figures can be negative.
      result.figures.values.allSatisfy({ $0.magnitude <= PartDocument.counts.upperBound })
    else { throw PartsError(path: file, problem: "it has an invalid number") }
  }

  var store: String { "\(path)/\(PartResult.storeName)" }

  /// - Throws: `CommandError.damagedCopy`, ``PartsError``.
  func prove() throws { try PartDocument.prove(store, bytes: result.storeBytes, sum: result.storeSum) }

  /// Passes the store of the result to `body`. Its checksum must have been verified, so its pages are not.
  func reading<Value>(_ format: StoreFormat, _ body: (EventStore) throws -> Value) throws -> Value {
    let part = try EventStore.openProved(store, format: format)
    let value = try body(part)
    try part.close()
    return value
  }
}
