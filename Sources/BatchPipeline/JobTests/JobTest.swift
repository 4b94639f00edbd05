package import BatchConfiguration
package import BatchFoundation

/// A test of a job: records and the expected results (reference formats 1.5).
package struct JobTest: Sendable {
  package var name: String
  package var place: Place
  /// The clock of the test; nil for the job's.
  package var asOf: Instant?
  /// Settings that override those of the job.
  package var settings: [SettingOverride] = []
  package var records: [InputKind: [JSONNode]] = [:]
  /// Records in the form of the job's input files.
  package var foreign: [Foreign] = []
  /// The expected results, by name; absent ones are not checked.
  package var expected: [Expectation: JSONNode] = [:]

  /// Records that are read as those of an entry, through its map.
  package struct Foreign: Sendable {
    /// The path of the entry as the job writes it, or its label.
    package var entry: String
    package var place: Place
    package var records: [JSONNode]
  }

  package enum Expectation: String, CaseIterable, Sendable {
    case events, sessions, campaigns, requests, quarantine, warnings
  }
}
