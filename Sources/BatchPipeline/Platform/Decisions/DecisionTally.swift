package import BatchFoundation
package import BatchReport

package struct DecisionTally: Sendable {
  package typealias Warnings = PlacedWarnings

  /// The numbers of events, by name or code.
  package var events = NameTable<Int>(atMost: RunSummary.typeLimit)
  package var chunks = 0
  /// The number of events quarantined instead of put into a chunk.
  package var quarantinedEvents = 0
  package var warnings: [String: Warnings] = [:]
  /// Figures that only the platform understands and adds to the summary; added up by name.
  package var figures: [String: Int] = [:]
  /// Details that only the platform understands and that are not figures; nil for none.
  package var details: (any PlatformDetails)?
  package var activity = Activity()
  package var explanation: [ExplanationStep] = []

  package init() {}

  package static func += (total: inout DecisionTally, part: DecisionTally) {
    total.events += part.events
    total.chunks += part.chunks
    total.quarantinedEvents += part.quarantinedEvents
    for (kind, tally) in part.warnings { total.warnings[kind, default: Warnings()].add(tally) }
    total.figures.merge(part.figures, uniquingKeysWith: +)
    if let details = part.details {
      if total.details == nil { total.details = details } else { total.details?.add(details) }
    }
    total.activity += part.activity
    total.explanation += part.explanation
  }

  /// Subtracts the counts of a device before it was processed again.
  package static func -= (total: inout DecisionTally, part: DecisionTally) {
    total.events -= part.events
    total.chunks = 0
    total.quarantinedEvents -= part.quarantinedEvents
    total.figures.merge(part.figures.mapValues { -$0 }, uniquingKeysWith: +)
    for (kind, tally) in part.warnings { total.warnings[kind, default: Warnings()].subtract(tally) }
    total.warnings = total.warnings.filter { $0.value.occurrences > 0 }
    total.activity -= part.activity
    total.details = nil
  }
}

extension DecisionTally {
  /// Adds to a figure, by the name that a platform gives it.
  package mutating func add(_ figure: some RawRepresentable<String>, _ count: Int = 1) {
    if count > 0 { figures[figure.rawValue, default: 0] += count }
  }
}

extension [String: Int] {
  package subscript(_ figure: some RawRepresentable<String>) -> Int { self[figure.rawValue, default: 0] }
}

/// The details that the deciders of a platform note for the report.
package protocol PlatformDetails: Sendable {
  mutating func add(_ other: any PlatformDetails)
}
