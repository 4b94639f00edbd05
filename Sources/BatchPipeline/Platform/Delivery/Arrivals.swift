package import BatchFoundation
package import BatchReport

/// The policy for showing people's ids in findings, and the files named by commands in findings.
package struct ArrivalNames: Sendable {
  package let personal: PersonalData
  private let store: String
  private let job: String

  package init(_ personal: PersonalData, store: String, job: String) {
    self.personal = personal
    self.store = store
    self.job = job
  }

  /// Returns a command on the store, ready to paste into a shell.
  package func onStore(_ words: String...) -> String { ShellCommand(words + ["--store", store]).text }

  /// Returns a command that queries the service of the job, ready to paste into a shell.
  package func onService(_ words: [String]) -> String { ShellCommand(words + ["--job", job]).text }
}

/// The comparison of a store's data with what a service reports: counts of everything, and findings about deviations.
package struct Arrivals: Sendable {
  package enum Verdict: String, CaseIterable, Sendable {
    case confirmed
    /// The service accepted the data and reports no problem with it, but cannot confirm that it arrived.
    case taken
    case missing
    /// The service has different data, or refused the data after accepting it.
    case different
    /// Only a person can find out whether the service has the data.
    case unknown

    package var isGood: Bool { self == .confirmed || self == .taken }
  }

  package enum Subject: String, CaseIterable, Sendable {
    case events, requests, recipients, merges, auditRows
  }

  package struct Finding: Sendable, Equatable {
    package var verdict: Verdict
    package var subject: Subject
    /// The id of an event or recipient, or another name; empty if the finding is about many items.
    package var name: String
    package var detail: String
    /// A command, or advice for a person; empty if nothing can be done.
    package var repair: String

    package init(_ verdict: Verdict, _ subject: Subject, _ name: String, _ detail: String, repair: String) {
      self.verdict = verdict
      self.subject = subject
      self.name = name
      self.detail = detail
      self.repair = repair
    }
  }

  /// The number of items of each kind, by verdict.
  package private(set) var counts: [Subject: [Verdict: Int]] = [:]
  /// The findings in the order in which they were found; at most ``limit``.
  package private(set) var findings: [Finding] = []
  /// A description of how each subject was checked, and of what the service does not report.
  package private(set) var basis: [Subject: String] = [:]
  /// The number of items counted as taken, although the service is known to drop similar ones silently.
  package private(set) var doubted = 0
  package let limit: Int

  package mutating func count(_ verdict: Verdict, _ subject: Subject, by number: Int = 1) {
    guard number > 0 else { return }
    counts[subject, default: [:]][verdict, default: 0] += number
  }

  /// Counts and notes a deviation.
  package mutating func add(_ finding: Finding, of number: Int = 1) {
    count(finding.verdict, finding.subject, by: number)
    if findings.count < limit { findings.append(finding) }
  }

  /// Appends an explanation to ``basis``.
  package mutating func explain(_ subject: Subject, _ words: String) {
    basis[subject] = basis[subject].map { "\($0); \(words)" } ?? words
  }

  /// Notes why it is uncertain whether items counted as taken have arrived.
  package mutating func doubt(_ subject: Subject, _ number: Int, _ words: String) {
    doubted += number
    explain(subject, words)
  }

  package func count(_ verdict: Verdict) -> Int { counts.values.reduce(0) { $0 + $1[verdict, default: 0] } }

  /// Whether nothing is missing, different or unknown.
  package var areWhole: Bool { Verdict.allCases.allSatisfy { $0.isGood || count($0) == 0 } }
}

extension CommandError {
  /// Returns the error for a service that could not be queried, so that nothing was compared.
  package static func unqueried(_ reason: String, exit: RunExit) -> CommandError {
    CommandError(exit, "error: the service could not be queried: \(reason)")
  }
}
