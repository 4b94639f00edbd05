import FoundationEssentials

/// A report as a store keeps it, from which the same pages can be made again later.
///
/// What is kept is what the report shows: with its hashes and without its secrets. A member that a later release adds has to be
/// optional, so that reports from before can still be read.
package enum StoredReport {
  package static func bytes(_ report: RunReport) throws -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    return Array(try encoder.encode(report))
  }

  /// - Throws: for bytes that another release wrote in another form.
  package static func report(_ bytes: [UInt8]) throws -> RunReport {
    try JSONDecoder().decode(RunReport.self, from: Data(bytes))
  }
}
