package import BatchConfiguration
package import BatchFoundation

/// Records, and what a job is expected to make of them (reference formats 1.5).
package struct JobTest: Sendable {
  package var name: String
  /// The file it stands in, and where.
  package var file: String
  package var line: Int
  /// Nil for the job's.
  package var asOf: Instant?
  /// Settings that win over those of the job.
  package var settings: [SettingOverride] = []
  /// By the kind of input that they stand for.
  package var records: [InputKind: [JSONNode]] = [:]
  /// Records as the files of entries of the job have them.
  package var foreign: [Foreign] = []
  /// What is expected, by the name of what is looked at; nothing is said of what is not there.
  package var expected: [Expectation: JSONNode] = [:]

  /// Records that are read as those of an entry, through its map.
  package struct Foreign: Sendable {
    /// The path of the entry as the job writes it, or its label.
    package var entry: String
    package var line: Int
    package var records: [JSONNode]
  }

  /// What a test can look at.
  package enum Expectation: String, CaseIterable, Sendable {
    case events, sessions, campaigns, requests, quarantine, warnings
  }
}

/// What is wrong with a file of tests.
package struct JobTestFault: RunError, Equatable, CustomStringConvertible {
  package var file: String
  /// Nil where it concerns the whole file.
  package var line: Int?
  package var problem: String

  package var exit: RunExit { .configuration }

  package var description: String {
    "\(file.printable)\(line.map { ":\($0)" } ?? ""): error: \(problem.printable)"
  }
}
