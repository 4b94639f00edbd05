package import BatchFoundation
package import BatchReport
package import BatchStore

/// A service that can be asked what of a store it has (`verify`).
package protocol ArrivalChecking: PlatformService {
  /// Compares what the store says that the service has with what the service shows; changes neither.
  ///
  /// - Throws: ``ArrivalsUnavailable``, ``InterruptedError`` after a signal.
  func compare(
    _ store: EventStore, _ names: ArrivalNames, _ interruption: Interruption, into arrivals: inout Arrivals) throws
}

/// How findings name people, and files in commands.
package struct ArrivalNames: Sendable {
  package let personal: PersonalData
  private let store: String
  private let job: String

  package init(_ personal: PersonalData, store: String, job: String) {
    self.personal = personal
    self.store = store
    self.job = job
  }

  /// A command on the store, as it is pasted into a shell.
  package func onStore(_ words: String...) -> String { ShellCommand(words + ["--store", store]).text }

  /// A command that asks the service of the job.
  package func onService(_ words: String...) -> String { onService(words) }

  package func onService(_ words: [String]) -> String { ShellCommand(words + ["--job", job]).text }
}

/// What of a store arrived, as far as a service tells: sums of everything, and findings about what is not as it should be.
package struct Arrivals: Sendable {
  package enum Verdict: String, CaseIterable, Sendable {
    /// The service shows it.
    case confirmed
    /// The service took it and says nothing against it; it cannot be asked for more.
    case taken
    case missing
    /// The service has something else, or refused it after it was taken.
    case different
    /// Whether the service has it can be found out by a person only.
    case unknown

    package var isGood: Bool { self == .confirmed || self == .taken }
  }

  package enum Subject: String, CaseIterable, Sendable {
    case events, requests, recipients, merges, auditRows
  }

  package struct Finding: Sendable, Equatable {
    package var verdict: Verdict
    package var subject: Subject
    /// What it is about: an event's id, a recipient's; empty for many at once.
    package var name: String
    package var detail: String
    /// A command, or what a person can do; empty if nothing can be done.
    package var repair: String

    package init(_ verdict: Verdict, _ subject: Subject, _ name: String, _ detail: String, repair: String) {
      self.verdict = verdict
      self.subject = subject
      self.name = name
      self.detail = detail
      self.repair = repair
    }
  }

  /// How many things of each kind there are, by what is known of them.
  package private(set) var counts: [Subject: [Verdict: Int]] = [:]
  /// In the order in which they were found; at most ``limit``.
  package private(set) var findings: [Finding] = []
  /// How it was found out, and what the service does not tell.
  package private(set) var basis: [Subject: String] = [:]
  /// What was taken, and is good by every answer, although the service is known to drop the like of it.
  package private(set) var doubted = 0
  package let limit: Int

  package init(limit: Int) { self.limit = limit }

  package mutating func count(_ verdict: Verdict, _ subject: Subject, by number: Int = 1) {
    guard number > 0 else { return }
    counts[subject, default: [:]][verdict, default: 0] += number
  }

  /// Counts and notes something that is not as it should be.
  package mutating func add(_ finding: Finding, of number: Int = 1) {
    count(finding.verdict, finding.subject, by: number)
    if findings.count < limit { findings.append(finding) }
  }

  /// What is said of one subject several times stands one behind the other.
  package mutating func explain(_ subject: Subject, _ words: String) {
    basis[subject] = basis[subject].map { "\($0); \(words)" } ?? words
  }

  /// Tells of things that are counted as taken, why they are not to be counted on.
  package mutating func doubt(_ subject: Subject, _ number: Int, _ words: String) {
    doubted += number
    explain(subject, words)
  }

  package func count(_ verdict: Verdict) -> Int { counts.values.reduce(0) { $0 + $1[verdict, default: 0] } }

  /// Whether nothing is missing, different or unknown.
  package var areWhole: Bool { Verdict.allCases.allSatisfy { $0.isGood || count($0) == 0 } }
}

/// The service could not be asked; nothing was compared.
package struct ArrivalsUnavailable: RunError, CustomStringConvertible {
  package var reason: String
  package var exit: RunExit

  package init(_ reason: String, exit: RunExit) {
    self.reason = reason
    self.exit = exit
  }

  package var description: String { "error: the service could not be asked: \(reason)" }
}
