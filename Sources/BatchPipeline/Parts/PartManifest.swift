package import BatchFoundation
import BatchHash
import BatchIngest
import FoundationEssentials

/// What a partition says of itself: `manifest.json` beside its parts (reference formats 5.1).
package struct PartManifest: Codable, Equatable, Sendable {
  package static let name = "manifest.json"
  static let currentFormat = 1

  package struct File: Codable, Equatable, Sendable {
    package var path: String
    package var kind: String
    /// By which stores know the path; equal paths have equal numbers.
    package var number: UInt32
  }

  package struct Part: Codable, Equatable, Sendable {
    package var name: String
    /// What a run of the part calls read.
    package var lines: Int
    package var bytes: UInt64
    /// SHA-256, in hexadecimal.
    package var sha256: String
  }

  var format = Self.currentFormat
  package var job: String
  package var destination: String
  /// What devices are distributed by.
  package var hash: String
  /// The clock of the run that the parts make up together, and its window.
  package var asOf: Instant
  package var from: Instant?
  package var to: Instant?
  /// The end of its known time, not before that of the partition that it continues (reference decisions 33).
  package var knownUntil: Instant
  /// The identity of the partition whose results this one continues; nil for the first.
  package var previous: String?
  /// In the order in which their records count.
  package var files: [File]
  package var parts: [Part]

  package var lines: Int { parts.reduce(0) { $0 + $1.lines } }
}

/// A folder that a partition wrote.
package struct PartitionFolder: Sendable {
  package let path: String
  package let manifest: PartManifest
  /// SHA-256 of the manifest, which holds those of the parts: equal for equal partitions only.
  package let identity: String

  /// - Throws: ``PartsError``, `UnreadableFileError`.
  package init(_ path: String) throws {
    self.path = path
    let file = "\(path)/\(PartManifest.name)"
    let bytes = try PartDocument.read(file)
    manifest = try PartDocument.decode(PartManifest.self, bytes, file)
    guard manifest.format == PartManifest.currentFormat, manifest.hash.utf8.elementsEqual(InputPartitioning.hash.utf8)
    else { throw PartsError(path: file, problem: "another release wrote it, in another form or by another hash") }
    let counts = manifest.parts.map(\.lines)
    let times = [manifest.asOf, manifest.from ?? manifest.asOf, manifest.to ?? manifest.asOf]
    guard 1...Partitioning.mostParts ~= counts.count, counts.allSatisfy({ PartDocument.counts ~= $0 }),
      times.allSatisfy({ Instant(milliseconds: 0)...Instant.last ~= $0 }),
      manifest.parts.allSatisfy({ !$0.name.utf8.contains(UInt8(ascii: "/")) })
    else { throw PartsError(path: file, problem: "it has a number, a time or a name that no partition writes") }
    identity = Hexadecimal.text(of: SHA256.hash(bytes))
  }

  func path(of part: Int) -> String { "\(path)/\(manifest.parts[part].name)" }
}
