import FoundationEssentials

/// A report as a store keeps it, from which the same pages can be made again.
///
/// It keeps what the report shows, with hashes and without secrets. Members added by later releases must be optional,
/// so that older reports remain readable.
package enum StoredReport {
  package static func bytes(_ report: RunReport) throws -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    return Array(try encoder.encode(report))
  }

  /// - Throws: `DecodingError` for bytes in another release's format.
  package static func report(_ bytes: [UInt8]) throws -> RunReport {
    try JSONDecoder().decode(RunReport.self, from: Data(bytes))
  }
}
