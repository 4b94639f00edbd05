import BatchFoundation

/// The report of a run for programs (`docs/report-format.md`).
package enum JSONReport {
  /// Raised when a member goes away or changes its meaning, not when one is added.
  static let version = 1

  /// UTF-8 text with a line end behind it; the same report gives the same bytes.
  package static func text(_ report: RunReport) -> String {
    let document: JSONDocument = [
      "reportVersion": .integer(version),
      "job": .string(report.job),
      "jobFile": .string(report.jobFile),
      "mode": .string(report.mode.rawValue),
      "destination": .string(report.destination),
      "sandbox": .bool(report.usesSandbox),
      "startedAt": .string(report.startedAt.rfc3339),
      "asOf": .string(report.asOf.rfc3339),
      "knownUntil": instant(report.knownUntil),
      "window": ["from": instant(report.from), "to": instant(report.to)],
      "exitCode": .integer(Int(report.exit.rawValue)),
      "failure": .optional(report.failure?.clipped(toBytes: Room.failure)),
      "store": .optional(report.store),
      "personalData": .string(report.personalData.rawValue),
      "configuration": [
        "digest": .string(report.configuration.digest),
        "layers": .array(report.configuration.layers.map { .string($0) }),
        "settings": .array(
          report.configuration.settings.map {
            [
              "name": .string($0.name), "value": .string($0.value), "origin": .string($0.origin),
            ]
          }),
      ],
      "summary": .verbatim(report.summary.json),
      "activity": activity(report.activity),
      "upload": ledger(report),
      "unusual": .array((report.unusual ?? []).map { .string($0) }),
      "unsent": .array(
        report.unsent.map {
          [
            "status": .string($0.status), "events": .integer($0.events), "reason": .string($0.reason),
            "setting": .string($0.setting), "ends": .string($0.ends),
          ]
        }),
      "quarantine": .list(report.orderedQuarantine.map(sample), atMost: Room.quarantine),
      "warnings": .list(report.orderedWarnings.map(warning), atMost: Room.warnings),
      "unknownFields": .list(
        report.orderedFields.map { ["name": .string($0.name), "records": .integer($0.records)] },
        atMost: Room.fields),
      "identity": .list(report.merges.map(merge), atMost: Room.identity),
      "decidedByPolicy": .integer(report.summary.identity.decidedByPolicy),
      "platform": report.platform.sections.isEmpty
        ? .null : .object(report.platform.sections.map { ($0.key, $0.json) }),
      "stages": .array(report.stages.map { ["name": .string($0.name), "seconds": .seconds($0.seconds)] }),
      "notes": .list(report.notes.map { .string($0) }, atMost: Room.notes),
      "toDo": .array(NextSteps.of(report).map { .string($0) }),
    ]
    return document.text() + "\n"
  }

  /// Bytes of lists, names of outside included: a report stays below a megabyte whatever an export has in it.
  private enum Room {
    static let failure = 20_000
    static let types = 80_000
    static let campaigns = 120_000
    static let quarantine = 250_000
    static let warnings = 80_000
    static let fields = 60_000
    static let identity = 80_000
    static let notes = 40_000
  }

  /// Campaigns that are told one by one, those with the most events; the rest is one sum.
  private static let shownCampaigns = 200

  private static func activity(_ activity: Activity) -> JSONDocument {
    func days(_ counts: HourCounts) -> [(String, JSONDocument)] {
      let days = counts.perDay
      return [
        ("firstDay", .optional(days.first.map { String($0.rfc3339.prefix(10)) })),
        ("perDay", .numbers(days.counts)),
      ]
    }
    let types = activity.events.named.sorted { EventCodeOrder.precedes($0.name.string, $1.name.string) }
    let ordered = activity.campaigns.named.sorted {
      $0.value.weight != $1.value.weight ? $0.value.weight > $1.value.weight : $0.name < $1.name
    }
    let campaigns = ordered.prefix(shownCampaigns).sorted { $0.name < $1.name }
    var rest = activity.campaigns.rest
    for (_, campaign) in ordered.dropFirst(shownCampaigns) { rest += campaign }
    return [
      "events": .list(types.map { .object([("type", .string($0.name.string))] + days($0.value)) }, atMost: Room.types),
      "sessions": [
        "started": .object(days(activity.sessionsStarted)), "ended": .object(days(activity.sessionsEnded)),
      ],
      "sessionLengths": .array(
        zip(Activity.lengths, activity.sessionLengths).map {
          ["length": .string($0.words), "sessions": .integer($1)]
        }),
      "campaigns": .list(campaigns.map { campaign($0.name, $0.value) }, atMost: Room.campaigns),
      "otherCampaigns": [
        "set": .integer(rest.set.total), "expired": .integer(rest.expired.total),
        "events": .integer(rest.events.total),
      ],
    ]
  }

  private static func campaign(_ name: ByteText, _ campaign: CampaignActivity) -> JSONDocument {
    func steps(_ counts: TimeCounts) -> JSONDocument {
      guard let hours = counts.hours else { return .null }
      return [
        "from": instant(Instant(milliseconds: hours.lowerBound * 3_600_000)),
        "stepHours": .integer(Int(counts.width)), "counts": .numbers(counts.counts),
      ]
    }
    return [
      "name": .string(name.string), "set": .integer(campaign.set.total),
      "expired": .integer(campaign.expired.total), "events": .integer(campaign.events.total),
      "firstSet": instant(campaign.firstSet), "until": instant(campaign.until),
      "timeline": [
        "set": steps(campaign.set), "expired": steps(campaign.expired), "events": steps(campaign.events),
      ],
    ]
  }

  private static func instant(_ instant: Instant?) -> JSONDocument { .optional(instant?.rfc3339) }

  private static func ledger(_ report: RunReport) -> JSONDocument {
    let ledger = report.ledger
    let outcomes = ledger.outcomes.sorted { $0.key.precedesByBytes($1.key) }
    return [
      "possibleDuplicates": .integer(ledger.possibleDuplicates),
      "recoveredChunks": .integer(ledger.recoveredChunks),
      "attempts": .object(outcomes.map { ($0.key, .integer($0.value)) }),
      "answers": .array(
        ledger.answers.map {
          ["share": .string($0.share.rawValue), "seconds": .seconds($0.seconds)]
        }),
      "stop": .optional(ledger.stop),
    ]
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
    [
      "kind": .string(tally.kind),
      "occurrences": .integer(tally.occurrences),
      "first": .array(
        tally.first.map { place in
          var members: [(String, JSONDocument)] = []
          if let device = place.device.text { members.append(("device", .string(device))) }
          members += [
            ("file", .string(place.file)), ("line", .integer(Int(clamping: place.line))),
            ("detail", .string(place.detail)),
          ]
          return .object(members)
        }),
    ]
  }

  private static func merge(_ merge: IdentityMerge) -> JSONDocument {
    var members: [(String, JSONDocument)] = [
      ("plan", .integer(Int(merge.plan))), ("scenario", .string(merge.scenario)), ("words", .string(merge.words)),
      ("state", .string(merge.state)),
    ]
    for (name, id) in [("device", merge.device), ("loser", merge.loser), ("winner", merge.winner)] {
      if let text = id.text { members.append((name, .string(text))) }
    }
    members.append(("reason", .string(merge.reason)))
    if !merge.source.isEmpty { members.append(("source", .string(merge.source))) }
    return .object(members)
  }
}
