import BatchFoundation
import BatchPipeline
import BatchReport
import EventSchemas
import GameRules

extension PlatformReport {
  /// - Parameters:
  ///   - details: the deciders' details; nil if the run processed nothing.
  ///   - times: the event times that the service accepts.
  ///   - hasSent: whether the run may also have sent questions to deltaDNA Engage.
  init(_ figures: [String: Int], _ details: ProcessingDetails?, times: ServiceTimes, hasSent: Bool) {
    self.init()
    lines = Self.lines(figures, times, hasSent: hasSent)
    sections = Self.sections(details) + [Self.decisions(figures)]
  }

  // MARK: - The end summary

  private static func lines(_ figures: [String: Int], _ times: ServiceTimes, hasSent: Bool) -> [Line] {
    func count(_ figure: GameFigure) -> Int { figures[figure] }
    var lines = [Line("campaigns", words(count(.triggered), "trigger response", "trigger responses"))]
    if let checks = FindingReport.line(figures) { lines.append(checks) }
    let left = [
      Figure("not sent, because the player had opted out", count(.optedOut)),
      Figure("not sent, because consent was denied", count(.consentDenied)),
      Figure("not in eventsWhitelist", count(.notWhitelisted)),
      Figure("outside the time range that \(times.service) accepts (\(times.setting))", count(.expired)),
    ].filter { $0.count > 0 }
    if !left.isEmpty {
      let sum = left.reduce(0) { $0 + $1.count }
      lines.append(Line("left out", words(sum, "record or event", "records and events"), counts: left))
    }
    if count(.decisions) > 0 || count(.asked) > 0 {
      let records = "\(words(count(.decisions), "engagement")) recorded"
      let asked =
        "\(count(.asked)) requested: \(count(.answered)) answered, \(count(.cached)) from an earlier response, \(count(.failed)) failed"
      lines.append(Line("decisions", hasSent ? "\(records), \(asked)" : records))
    }
    return lines
  }

  private static func words(_ count: Int, _ one: String, _ several: String? = nil) -> String {
    count < 0 ? count.countedOrFewer(one, several) : "\(count) \(count == 1 ? one : several ?? one + "s")"
  }

  // MARK: - Sections of the report

  /// The maximum number of rows; names come from users, so there may be any number of them.
  private static let mostRows = 200

  private static func sections(_ details: ProcessingDetails?) -> [ReportSection] {
    guard let details, let rules = details.rules as? GamePlatformRules else { return [] }
    let triggers = rules.configuration?.triggers ?? []
    return FindingReport.sections(details.findings, details.coverage, of: rules.schema) + [
      ReportSection(
        "campaigns", "Campaigns",
        columns: [
          "event": "event", "campaignID": "campaign", "variantID": "variant", "responses": "responses",
        ],
        rows: triggers.prefix(mostRows).map { trigger -> [ReportSection.Cell] in
          [
            .text(trigger.eventName.description), .id(trigger.campaignID), .id(trigger.variantID),
            .count(details.uses[trigger.place, default: 0]),
          ]
        }),
      ReportSection(
        "configuration", "Session configuration", columns: ["note": "note"],
        rows: (rules.configuration?.notes ?? []).prefix(mostRows).map { [.text($0.description)] }),
    ]
  }

  private static func decisions(_ figures: [String: Int]) -> ReportSection {
    var asked: [(parts: [ByteText], count: Int)] = []
    for (name, count) in figures {
      guard let parts = GameFigure.place(of: name) else { continue }
      asked.append((parts.map { ByteText($0) }, count))
    }
    asked.sort { $0.parts.lexicographicallyPrecedes($1.parts) }
    return ReportSection(
      "decisions", "Decisions",
      columns: [
        "decisionPoint": "decision point", "flavour": "flavour", "outcome": "outcome", "count": "questions",
      ],
      rows: asked.prefix(mostRows).map { question -> [ReportSection.Cell] in
        question.parts.map { .text($0.string) } + [.count(question.count)]
      })
  }
}
