package import BatchFoundation
package import BatchReport

/// What deciders counted.
package struct DecisionTally: Sendable {
  package typealias Warnings = PlacedWarnings

  /// By name or code of the event.
  package var events = NameTable<Int>(atMost: RunSummary.typeLimit)
  package var chunks = 0
  /// Events that went to quarantine instead of a chunk.
  package var quarantinedEvents = 0
  package var warnings: [String: Warnings] = [:]
  /// What only the platform understands and puts into the summary; added up by name.
  package var figures: [String: Int] = [:]
  /// What only the platform understands and figures cannot tell; nil for nothing.
  package var details: (any PlatformDetails)?
  /// What happened over time.
  package var activity = Activity()
  /// Steps of the device that was to be explained.
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

  /// Takes back what was counted of a device before it was decided anew.
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
  /// Counts in a figure, which has the name that a platform gives it.
  package mutating func add(_ figure: some RawRepresentable<String>, _ count: Int = 1) {
    if count > 0 { figures[figure.rawValue, default: 0] += count }
  }
}

extension [String: Int] {
  /// What was counted in a figure of a platform.
  package subscript(_ figure: some RawRepresentable<String>) -> Int { self[figure.rawValue, default: 0] }
}

/// What the deciders of a platform note for the report.
package protocol PlatformDetails: Sendable {
  /// Adds what another decider of the same run noted.
  mutating func add(_ other: any PlatformDetails)
}
