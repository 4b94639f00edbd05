package import BatchFoundation
package import BatchReport

/// What the checks of a run found, as its end summary and its report show it.
package enum FindingReport {
  /// The name by which a run counts a finding.
  package static func figure(_ id: FindingID) -> String { "findings.\(id.rawValue)" }

  /// Nil where nothing was found.
  package static func line(_ figures: [String: Int]) -> PlatformReport.Line? {
    let counts = FindingID.allCases.compactMap { id in figures[figure(id)].map { (words: id.rawValue, count: $0) } }
    guard !counts.isEmpty else { return nil }
    let found = counts.reduce(0) { $0 + $1.count }
    return .init("checks", "\(found.counted("finding")), explained in docs/event-schema.md", counts: counts)
  }

  /// Names come from users, so there may be any number.
  private static let mostRows = 200

  package static func sections(
    _ tally: FindingTally, _ coverage: SchemaCoverage?, of schema: EventSchema?
  ) -> [ReportSection] {
    let unmet = schema.flatMap { coverage?.unmet(in: $0) } ?? []
    return [
      ReportSection(
        "findings", "Findings",
        columns: [
          .init("id", "finding"), .init("event", "event"), .init("count", "count"), .init("path", "for example at"),
          .init("eventUUID", "of the event"), .init("advice", "what to do"),
        ],
        rows: tally.rows.map { id, event, row in
          [
            .text(id), .text(event), .count(row.count), .text(String(decoding: row.example.path, as: UTF8.self)),
            .text(String(decoding: row.example.eventUUID, as: UTF8.self)),
            .text(FindingID(rawValue: id)?.advice ?? ""),
          ]
        }),
      ReportSection(
        "unmet", "In the schema, and never met", columns: [.init("name", "event or parameter")],
        rows: unmet.prefix(mostRows).map { [.text($0)] }),
    ]
  }
}

extension EventFinding {
  /// A line of `--findings-out`, without a line end: the event and what is wrong with it.
  package static func line(_ event: JSONNode, _ findings: [EventFinding]) -> [UInt8] {
    let list = findings.map { finding -> JSONNode in
      ["id": .text(finding.id.rawValue), "path": .text(String(decoding: finding.path, as: UTF8.self))]
    }
    return Array(event.adding(["findings": .array(list)]).compactText.utf8)
  }
}
