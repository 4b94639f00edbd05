import ArgumentParser
import BatchFoundation
import BatchPipeline
import BatchReport
import BatchSandbox

struct VerifyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify",
    abstract: "Compare the data sent from the store with the data that the service can report.",
    discussion: """
      Nothing is changed. Missing, different and unknown items are listed, each with its repair. The exit code is 0 if there \
      are none, 65 if there are any, and 69 if the service cannot be queried.
      """)

  @OptionGroup var job: StoredJob

  @Option(help: ArgumentHelp("List at most this many findings; all are counted.", valueName: "findings"))
  var limit = 20

  @OptionGroup var personal: PersonalDataOption
  @OptionGroup var answer: AnswerOption

  func validate() throws {
    if limit < 0 { throw ValidationError("--limit must be 0 or more.") }
  }

  func run() throws {
    let interruption = try Signals.interruption()
    var request = try job.request(.dryRun(sends: true), job.load())
    let server = try job.sandbox ? EmbeddedSandbox.start(for: request) : nil
    defer { EmbeddedSandbox.stop(server) }
    request.sandboxAddress = server?.baseURL
    let arrivals = try Pipeline(request, interruption: interruption)
      .verify(limit: limit, personal.showPersonalData ? .clear : .hash)
    answer.format.show(arrivals.facts)
    if !arrivals.areWhole { throw ExitCode(.inputRefused) }
  }
}

extension Arrivals.Subject {
  fileprivate var one: String {
    switch self {
    case .events: "event"
    case .requests: "request"
    case .recipients: "recipient"
    case .merges: "merge of recipient"
    case .auditRows: "audit row"
    }
  }

  fileprivate var words: String { self == .auditRows ? "audit rows" : rawValue }
}

extension Arrivals {
  var facts: Facts {
    let subjects = Subject.allCases.filter { counts[$0] != nil || basis[$0] != nil }
    func object<Value>(_ values: [Subject: Value], _ node: (Value) -> JSONNode) -> JSONNode {
      .object(subjects.compactMap { subject in values[subject].map { (subject.rawValue, node($0)) } })
    }
    var facts = Facts()
    facts.add(
      "whole", .flag(areWhole),
      !areWhole
        ? "Some items are missing, different or unknown."
        : doubted > 0
          ? "Everything sent was acknowledged, but the service may have silently dropped \(doubted.grouped) of these items as too old."
          : "Everything that was sent arrived, as far as the service can report.")
    facts.add(
      "counts",
      object(counts) { counts in .object(Verdict.allCases.map { ($0.rawValue, .number(counts[$0, default: 0])) }) },
      subjects.flatMap { subject in
        let words = Verdict.allCases.compactMap { verdict in
          counts[subject]?[verdict].map { "\($0) \(verdict.rawValue)" }
        }
        return ["\(subject.words): \(words.isEmpty ? "none" : words.joined(separator: ", "))"]
          + (basis[subject].map { ["  \($0)"] } ?? [])
      })
    facts.add("basis", object(basis) { .text($0) })
    let left = Verdict.allCases.reduce(0) { $1.isGood ? $0 : $0 + count($1) }
    facts.add(
      "findings",
      .array(
        findings.map {
          [
            "verdict": .text($0.verdict.rawValue), "subject": .text($0.subject.rawValue), "name": .text($0.name),
            "detail": .text($0.detail), "repair": .text($0.repair),
          ]
        }),
      findings.flatMap { finding in
        let name = finding.name.isEmpty ? "" : "\(finding.subject.one) \(finding.name): "
        return ["\(finding.verdict.rawValue): \(name)\(finding.detail)"]
          + (finding.repair.isEmpty ? [] : ["  repair: \(finding.repair)"])
      } + (left > 0 && findings.count == limit ? ["the list ends at \(limit); raise --limit to list more"] : []))
    return facts
  }
}
