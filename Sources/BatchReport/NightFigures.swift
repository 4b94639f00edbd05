import BatchFoundation

/// The figures by which a run's night is compared with previous nights.
package struct NightFigures: Sendable, Equatable {
  /// The usable records, including duplicates and those of forgotten people.
  package var volume: Int
  /// The quarantined lines and events per thousand records.
  package var quarantinedPerMille: Int
  package var warnings: Int
  package var conflicts: Int
  /// The hours from the newest event to the run's `asOf`; nil without new events.
  package var age: Int?

  package init(_ report: RunReport) {
    let summary = report.summary
    volume = summary.records.accepted + summary.records.duplicates + (summary.records.forgotten ?? 0)
    let quarantined = summary.records.quarantined + report.quarantinedEvents
    // Records of forgotten people are neither errors nor part of the total.
    let records = summary.records.read - (summary.records.forgotten ?? 0)
    quarantinedPerMille = records == 0 ? 0 : quarantined * 1000 / records
    warnings = report.warningCount
    conflicts = summary.identity.conflicts
    let hours = report.activity.events.named.reduce(into: report.activity.events.rest) { $0 += $1.value }
    age = hours.span.map { Int(max(0, report.asOf.hour - $0.upperBound)) }
  }

  /// Fewer nights do not show what is usual.
  private static let leastNights = 3

  /// Returns a sentence for each figure outside the other nights' range by the factor; small differences are skipped.
  package func unusual(beside nights: [NightFigures], factor: Int) -> [String] {
    guard nights.count >= Self.leastNights else { return [] }
    var sentences: [String] = []
    /// - Parameter slack: The minimum difference above the others.
    func hold(
      _ name: String, _ value: Int?, _ others: [Int], orBelow: Bool = false, slack: Int,
      _ words: (Int) -> String = { $0.grouped }
    ) {
      guard let value, let least = others.min(), let most = others.max() else { return }
      let isAbove = value > most * factor && value >= most + slack
      guard isAbove || orBelow && value * factor < least else { return }
      let range = least == most ? words(least) : "\(words(least)) to \(words(most))"
      sentences.append("\(name): \(words(value)); the \(nights.count) runs before had \(range)")
    }
    hold("hours since the newest event", age, nights.compactMap(\.age), slack: 2)
    hold("usable records", volume, nights.map(\.volume), orBelow: true, slack: 10)
    hold("share quarantined", quarantinedPerMille, nights.map(\.quarantinedPerMille), slack: 10) {
      "\($0 / 10).\($0 % 10) %"
    }
    hold("warnings", warnings, nights.map(\.warnings), slack: 10)
    hold("conflicts", conflicts, nights.map(\.conflicts), slack: 3)
    return sentences
  }
}
