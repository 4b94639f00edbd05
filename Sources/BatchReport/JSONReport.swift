import BatchFoundation

/// The report of a run for programs (`docs/report-format.md`).
package enum JSONReport {
  /// Raised when a member goes away or changes its meaning, not when one is added.
  static let version = 1

  /// UTF-8 text with a line end behind it; the same report gives the same bytes.
  package static func text(_ report: RunReport) -> String {
    JSONDocument.object([
      ("reportVersion", .integer(version)),
      ("job", .string(report.job)),
      ("jobFile", .string(report.jobFile)),
      ("mode", .string(report.mode.rawValue)),
      ("destination", .string(report.destination)),
      ("sandbox", .bool(report.usesSandbox)),
      ("startedAt", .string(report.startedAt.rfc3339)),
      ("asOf", .string(report.asOf.rfc3339)),
      ("window", .object([("from", instant(report.from)), ("to", instant(report.to))])),
      ("exitCode", .integer(Int(report.exit.rawValue))),
      ("failure", .optional(report.failure)),
      ("store", .optional(report.store)),
      ("personalData", .string(report.personalData.rawValue)),
      (
        "configuration",
        .object([
          ("digest", .string(report.configuration.digest)),
          ("layers", .array(report.configuration.layers.map { .string($0) })),
          (
            "settings",
            .array(
              report.configuration.settings.map {
                .object([
                  ("name", .string($0.name)), ("value", .string($0.value)), ("origin", .string($0.origin)),
                ])
              })
          ),
        ])
      ),
      ("summary", .verbatim(report.summary.json)),
      ("activity", activity(report.activity)),
      ("upload", ledger(report)),
      (
        "unsent",
        .array(
          report.unsent.map {
            .object([
              ("status", .string($0.status)), ("events", .integer($0.events)), ("reason", .string($0.reason)),
              ("setting", .string($0.setting)), ("ends", .string($0.ends)),
            ])
          })
      ),
      ("quarantine", .array(report.orderedQuarantine.map(sample))),
      ("warnings", .array(report.orderedWarnings.map(warning))),
      (
        "unknownFields",
        .array(report.orderedFields.map { .object([("name", .string($0.name)), ("records", .integer($0.records))]) })
      ),
      ("identity", .array(report.merges.map(merge))),
      ("decidedByPolicy", .integer(report.summary.identity.decidedByPolicy)),
      ("platform", report.platform.map { .object($0.sections.map { ($0.key, $0.json) }) } ?? .null),
      (
        "stages",
        .array(report.stages.map { .object([("name", .string($0.name)), ("seconds", .seconds($0.seconds))]) })
      ),
      ("notes", .array(report.notes.map { .string($0) })),
      ("toDo", .array(NextSteps.of(report).map { .string($0) })),
    ]).text() + "\n"
  }

  /// Types that are told one by one; an export that makes a code for each event must not make the report as large as itself.
  private static let shownTypes = 200

  private static func activity(_ activity: Activity) -> JSONDocument {
    func days(_ counts: HourCounts) -> [(String, JSONDocument)] {
      let days = counts.days
      return [
        ("firstDay", .optional(days.first.map { String($0.rfc3339.prefix(10)) })),
        ("perDay", .array(days.counts.map { .integer($0) })),
      ]
    }
    let types = activity.events.sorted { EventCodeOrder.precedes($0.key, $1.key) }.prefix(shownTypes)
    let campaigns = activity.campaigns.sorted { $0.key.precedesByBytes($1.key) }
    return .object([
      ("events", .array(types.map { .object([("type", .string($0.key))] + days($0.value)) })),
      (
        "sessions",
        .object([
          ("started", .object(days(activity.sessionsStarted))), ("ended", .object(days(activity.sessionsEnded))),
        ])
      ),
      (
        "sessionLengths",
        .array(
          zip(Activity.lengths, activity.sessionLengths).map {
            .object([("length", .string($0.words)), ("sessions", .integer($1))])
          })
      ),
      (
        "campaigns",
        .array(
          campaigns.map { name, one in
            .object([
              ("name", .string(name)), ("set", .integer(one.set)), ("expired", .integer(one.expired)),
              ("events", .integer(one.events)), ("firstSet", instant(one.firstSet)), ("until", instant(one.until)),
            ])
          })
      ),
    ])
  }

  private static func instant(_ instant: Instant?) -> JSONDocument { .optional(instant?.rfc3339) }

  private static func ledger(_ report: RunReport) -> JSONDocument {
    let ledger = report.ledger
    let outcomes = ledger.outcomes.sorted { $0.key.precedesByBytes($1.key) }
    return .object([
      ("possibleDuplicates", .integer(ledger.possibleDuplicates)),
      ("recoveredChunks", .integer(ledger.recoveredChunks)),
      ("attempts", .object(outcomes.map { ($0.key, .integer($0.value)) })),
      (
        "answers",
        .array(
          ledger.answers.map {
            .object([("share", .string($0.share.rawValue)), ("seconds", .seconds($0.seconds))])
          })
      ),
      ("stop", .optional(ledger.stop)),
    ])
  }

  private static func sample(_ sample: QuarantineSample) -> JSONDocument {
    var members: [(String, JSONDocument)] = [
      ("file", .string(sample.file)), ("line", .integer(Int(clamping: sample.line))),
      ("offset", .integer(Int(clamping: sample.offset))), ("reason", .string(sample.reason.rawValue)),
      ("detail", .string(sample.detail)),
    ]
    if let content = sample.content.text { members.append(("content", .string(content))) }
    return .object(members)
  }

  private static func warning(_ tally: WarningTally) -> JSONDocument {
    .object([
      ("kind", .string(tally.kind)),
      ("occurrences", .integer(tally.occurrences)),
      (
        "first",
        .array(
          tally.first.map { place in
            var members: [(String, JSONDocument)] = []
            if let device = place.device.text { members.append(("device", .string(device))) }
            members += [
              ("file", .string(place.file)), ("line", .integer(Int(clamping: place.line))),
              ("detail", .string(place.detail)),
            ]
            return .object(members)
          })
      ),
    ])
  }

  private static func merge(_ merge: IdentityMerge) -> JSONDocument {
    var members: [(String, JSONDocument)] = [
      ("plan", .integer(Int(merge.plan))), ("scenario", .string(merge.scenario)), ("state", .string(merge.state)),
    ]
    for (name, id) in [("device", merge.device), ("loser", merge.loser), ("winner", merge.winner)] {
      if let text = id.text { members.append((name, .string(text))) }
    }
    members.append(("reason", .string(merge.reason)))
    return .object(members)
  }
}
