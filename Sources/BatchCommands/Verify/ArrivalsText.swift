import BatchFoundation
import BatchPipeline

extension Arrivals.Subject {
  /// The singular of the subject.
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

/// The output of `verify`.
enum ArrivalsText {
  static func lines(_ arrivals: Arrivals) -> [String] {
    var lines = [
      !arrivals.areWhole
        ? "Not everything arrived, or not as it should."
        : arrivals.doubted > 0
          ? "All that was sent was taken, but the service says nothing of what it drops for its age: \(arrivals.doubted.grouped) of it."
          : "All that was sent arrived, as far as the service tells."
    ]
    for subject in Arrivals.Subject.allCases {
      let counts = arrivals.counts[subject] ?? [:]
      let words = Arrivals.Verdict.allCases.compactMap { verdict in
        counts[verdict].map { "\($0) \(verdict.rawValue)" }
      }
      guard !words.isEmpty || arrivals.basis[subject] != nil else { continue }
      lines.append("\(subject.words): \(words.isEmpty ? "none" : words.joined(separator: ", "))")
      if let basis = arrivals.basis[subject] { lines.append("  \(basis)") }
    }
    for finding in arrivals.findings {
      let name = finding.name.isEmpty ? "" : "\(finding.subject.one) \(finding.name): "
      lines.append("\(finding.verdict.rawValue): \(name)\(finding.detail)")
      if !finding.repair.isEmpty { lines.append("  repair: \(finding.repair)") }
    }
    let left = Arrivals.Verdict.allCases.reduce(0) { $1.isGood ? $0 : $0 + arrivals.count($1) }
    if left > 0, arrivals.findings.count == arrivals.limit { lines.append("--limit lists more than \(arrivals.limit)") }
    return lines
  }

  static func document(_ arrivals: Arrivals) -> JSONNode {
    [
      "whole": .flag(arrivals.areWhole),
      "counts": .object(
        Arrivals.Subject.allCases.compactMap { subject in
          arrivals.counts[subject].map { counts in
            (
              subject.rawValue,
              .object(Arrivals.Verdict.allCases.map { ($0.rawValue, .number(counts[$0, default: 0])) })
            )
          }
        }),
      "basis": .object(
        Arrivals.Subject.allCases.compactMap { subject in
          arrivals.basis[subject].map { (subject.rawValue, .text($0)) }
        }),
      "findings": .array(
        arrivals.findings.map {
          [
            "verdict": .text($0.verdict.rawValue), "subject": .text($0.subject.rawValue), "name": .text($0.name),
            "detail": .text($0.detail), "repair": .text($0.repair),
          ]
        }),
    ]
  }
}
