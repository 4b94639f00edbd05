import BatchFoundation

/// The report of a run for programs (`docs/watch.md`).
package enum JSONReport {
  /// The version of the format, incremented when a member is removed or changes its meaning, not when one is added.
  static let version = 1

  /// Returns UTF-8 text that ends with a line feed; equal reports give equal bytes.
  package static func text(_ report: RunReport) -> String {
    let document: JSONNode = [
      "reportVersion": .number(version),
      "job": .text(report.job),
      "jobFile": .text(report.jobFile),
      "mode": .text(report.mode.rawValue),
      "destination": .text(report.destination),
      "sandbox": .flag(report.usesSandbox),
      "startedAt": .text(report.startedAt.rfc3339),
      "asOf": .text(report.asOf.rfc3339),
      "knownUntil": instant(report.knownUntil),
      "window": ["from": instant(report.from), "to": instant(report.to)],
      "exitCode": .number(Int(report.exit.rawValue)),
      "failure": .text(report.failure?.clipped(toBytes: Room.failure)),
      "store": .text(report.store),
      "personalData": .text(report.personalData.rawValue),
      "configuration": [
        "digest": .text(report.configuration.digest),
        "layers": .texts(report.configuration.layers),
        "settings": .array(
          report.configuration.settings.map {
            ["name": .text($0.name), "value": .text($0.value), "origin": .text($0.origin)]
          }),
      ],
      "summary": JSONNode(.written(report.summaryJSON)),
      "activity": activity(report.activity),
      "peopleBefore": peopleBefore(report),
      "upload": ledger(report),
      "unusual": .texts(report.unusual ?? []),
      "unsent": .array(
        report.unsent.map {
          [
            "status": .text($0.status), "events": .number($0.events), "reason": .text($0.reason),
            "setting": .text($0.setting), "ends": .text($0.ends),
          ]
        }),
      "quarantine": .list(report.orderedQuarantine.map(sample), atMost: Room.quarantine),
      "warnings": .list(report.orderedWarnings.map(warning), atMost: Room.warnings),
      "unknownFields": .list(
        report.orderedFields.map { ["name": .text($0.name), "records": .number($0.records)] },
        atMost: Room.fields),
      "identity": .list(report.merges.map(merge), atMost: Room.identity),
      "decidedByPolicy": .number(report.summary.identity.decidedByPolicy),
      "platform": report.platform.sections.isEmpty
        ? .text(nil) : .object(report.platform.sections.map { ($0.key, $0.json) }),
      "stages": .array(report.stages.map { ["name": .text($0.name), "seconds": .seconds($0.seconds)] }),
      "notes": .list(report.notes.map { .text($0) }, atMost: Room.notes),
      "toDo": .texts(NextSteps.of(report)),
    ]
    return document.text() + "\n"
  }

  /// The maximum sizes of lists in bytes, including names from exports, so that a report stays below a megabyte.
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

  /// The maximum number of campaigns listed individually: the most active ones. The others are summed.
  private static let shownCampaigns = 200

  private static func activity(_ activity: Activity) -> JSONNode {
    func days(_ counts: HourCounts) -> [(String, JSONNode)] {
      let days = counts.perDay
      return [
        ("firstDay", .text(days.first.map { String($0.rfc3339.prefix(10)) })),
        ("perDay", .numbers(days.counts)),
      ]
    }
    let types = activity.events.named.sorted { EventCodeOrder.precedes($0.name.string, $1.name.string) }
    let (first, rest) = activity.campaigns.ranked(atMost: shownCampaigns, by: \.weight)
    let campaigns = first.sorted { $0.name < $1.name }
    return [
      "events": .list(types.map { .object([("type", .text($0.name.string))] + days($0.value)) }, atMost: Room.types),
      "sessions": [
        "started": .object(days(activity.sessionsStarted)), "ended": .object(days(activity.sessionsEnded)),
      ],
      "sessionLengths": .array(
        zip(Activity.lengths, activity.sessionLengths).map {
          ["length": .text($0.words), "sessions": .number($1)]
        }),
      "campaigns": .list(campaigns.map { campaign($0.name, $0.value) }, atMost: Room.campaigns),
      "otherCampaigns": [
        "set": .number(rest.set.total), "expired": .number(rest.expired.total),
        "events": .number(rest.events.total),
      ],
    ]
  }

  /// Returns the number of nights and the median of each figure in devices; null without nights.
  private static func peopleBefore(_ report: RunReport) -> JSONNode {
    guard let nights = report.peopleBefore, let first = nights.first else { return .text(nil) }
    let medians = first.inDevices.indices.map { place in
      (first.inDevices[place].name, JSONNode(.number(nights.median { $0.inDevices[place].devices })))
    }
    return .object([("nights", .number(nights.count))] + medians)
  }

  private static func campaign(_ name: ByteText, _ campaign: CampaignActivity) -> JSONNode {
    func steps(_ counts: TimeCounts) -> JSONNode {
      guard let hours = counts.hours else { return .text(nil) }
      return [
        "from": instant(Instant(milliseconds: hours.lowerBound * 3_600_000)),
        "stepHours": .number(Int(counts.width)), "counts": .numbers(counts.counts),
      ]
    }
    return [
      "name": .text(name.string), "set": .number(campaign.set.total),
      "expired": .number(campaign.expired.total), "events": .number(campaign.events.total),
      "firstSet": instant(campaign.firstSet), "until": instant(campaign.until),
      "timeline": [
        "set": steps(campaign.set), "expired": steps(campaign.expired), "events": steps(campaign.events),
      ],
      "steps": .object((campaign.steps ?? CampaignSteps()).members),
    ]
  }

  private static func instant(_ instant: Instant?) -> JSONNode { .text(instant?.rfc3339) }

  private static func ledger(_ report: RunReport) -> JSONNode {
    let ledger = report.ledger
    let outcomes = ledger.outcomes.sorted { $0.key.precedesByBytes($1.key) }
    return [
      "possibleDuplicates": .number(ledger.possibleDuplicates),
      "recoveredChunks": .number(ledger.recoveredChunks),
      "attempts": .object(outcomes.map { ($0.key, .number($0.value)) }),
      "answers": .array(
        ledger.answers.map {
          ["share": .text($0.share.rawValue), "seconds": .seconds($0.seconds)]
        }),
      "stop": .text(ledger.stop),
    ]
  }

  private static func sample(_ sample: QuarantineSample) -> JSONNode {
    let node: JSONNode = [
      "file": .text(sample.file), "line": .number(sample.line), "offset": .number(sample.offset),
      "reason": .text(sample.reason.rawValue), "detail": .text(sample.detail),
    ]
    return node.adding(["content": sample.content.text.map { .text($0) }])
  }

  private static func warning(_ tally: WarningTally) -> JSONNode {
    [
      "kind": .text(tally.kind),
      "occurrences": .number(tally.occurrences),
      "first": .array(
        tally.first.map { place in
          JSONNode.object([]).adding([
            "device": place.device.text.map { .text($0) }, "file": .text(place.file), "line": .number(place.line),
            "detail": .text(place.detail),
          ])
        }),
    ]
  }

  private static func merge(_ merge: IdentityMerge) -> JSONNode {
    let node: JSONNode = [
      "plan": .number(merge.plan), "scenario": .text(merge.scenario), "words": .text(merge.words),
      "state": .text(merge.state),
    ]
    return node.adding([
      "device": merge.device.text.map { .text($0) }, "loser": merge.loser.text.map { .text($0) },
      "winner": merge.winner.text.map { .text($0) }, "reason": .text(merge.reason),
      "source": merge.source.isEmpty ? nil : .text(merge.source),
    ])
  }
}

extension JSONNode {
  /// Returns seconds with three decimals; null if not a number.
  static func seconds(_ seconds: Double) -> JSONNode {
    let text = seconds.inSeconds
    return seconds.isFinite && text != "?" ? JSONNode(.number(String(text.dropLast(2)))) : .text(nil)
  }

  /// Writes the array on one line.
  static func numbers(_ numbers: [Int]) -> JSONNode {
    JSONNode(.written(JSONNode.array(numbers.map { .number($0) }).compactText(", ", ": ")))
  }

  /// Returns the first elements that fit into this many bytes of text.
  static func list(_ elements: [JSONNode], atMost bytes: Int) -> JSONNode {
    var left = bytes
    return .array(
      Array(
        elements.prefix { element in
          left -= element.text(indentation: 6).utf8.count
          return left >= 0
        }))
  }
}
