package import BatchFoundation
package import BatchReport
package import EventSchemas
import FoundationEssentials

package struct ProcessingTally: Sendable {
  package typealias Warnings = PlacedWarnings

  /// The numbers of events, by name or code.
  package var events = NameTable<Int>(atMost: RunSummary.typeLimit)
  package var chunks = 0
  /// The number of events quarantined instead of being put into a chunk.
  package var quarantinedEvents = 0
  package var warnings: [String: Warnings] = [:]
  /// The platform's figures, by name. Only the platform understands them and adds them to the summary.
  package var figures: [String: Int] = [:]
  /// Nil until something is processed.
  package var details: ProcessingDetails?
  package var activity = Activity()
  package var people = People()
  package var explanation: [ExplanationStep] = []

  package static func += (total: inout ProcessingTally, part: ProcessingTally) {
    total.events += part.events
    total.chunks += part.chunks
    total.quarantinedEvents += part.quarantinedEvents
    for (kind, tally) in part.warnings { total.warnings[kind, default: Warnings()].add(tally) }
    total.figures.merge(part.figures, uniquingKeysWith: +)
    if let details = part.details {
      if total.details == nil { total.details = details } else { total.details?.add(details) }
    }
    total.activity += part.activity
    total.people += part.people
    total.explanation += part.explanation
  }

  /// Subtracts the counts that devices had before they were processed again.
  package static func -= (total: inout ProcessingTally, part: ProcessingTally) {
    total.events -= part.events
    total.chunks = 0
    total.quarantinedEvents -= part.quarantinedEvents
    total.figures.merge(part.figures.mapValues { -$0 }, uniquingKeysWith: +)
    for (kind, tally) in part.warnings { total.warnings[kind, default: Warnings()].subtract(tally) }
    total.warnings = total.warnings.filter { $0.value.occurrences > 0 }
    total.activity -= part.activity
    total.details = nil
  }

  /// Adds a count to a figure of the platform.
  package mutating func add(_ figure: some RawRepresentable<String>, _ count: Int = 1) {
    if count > 0 { figures[figure.rawValue, default: 0] += count }
  }
}

extension [String: Int] {
  package subscript(_ figure: some RawRepresentable<String>) -> Int { self[figure.rawValue, default: 0] }
}

/// The details that deciders note for the report, in addition to figures.
package struct ProcessingDetails: Sendable {
  /// The rules of the run, which give the numbers in ``uses`` their meaning.
  package let rules: any PlatformRules
  package var findings = FindingTally()
  /// Nil if there is no schema.
  package var coverage: SchemaCoverage?
  /// The number of uses of each entry in the job's files, by the number that the rules give the entry.
  package var uses: [Int: Int] = [:]

  package init(_ rules: any PlatformRules) { self.rules = rules }

  package mutating func add(_ other: ProcessingDetails) {
    findings.add(other.findings)
    if let more = other.coverage {
      if coverage == nil { coverage = more } else { coverage?.add(more) }
    }
    uses.merge(other.uses, uniquingKeysWith: +)
  }
}

/// The details of one part of a run, as text for the process that adds up the parts.
extension ProcessingDetails {
  private struct Portable: Codable {
    var findings: FindingTally
    var coverage: SchemaCoverage?
    var uses: [Int: Int]
  }

  /// Returns the details as JSON with sorted keys. Encoding never fails for this type.
  package func portable() throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    let bytes = try encoder.encode(Portable(findings: findings, coverage: coverage, uses: uses))
    return String(decoding: bytes, as: UTF8.self)
  }

  /// - Throws: an error if `text` is not a result of ``portable()``.
  package init(portable text: String, _ rules: any PlatformRules) throws {
    let portable = try JSONDecoder().decode(Portable.self, from: Data(text.utf8))
    self.rules = rules
    (findings, coverage, uses) = (portable.findings, portable.coverage, portable.uses)
  }
}
