package import BatchFoundation

/// The figures of a run: `--summary` and the head of every report (reference formats 4.1).
package struct RunSummary: Sendable, Equatable, Codable {
  package struct Records: Sendable, Equatable, Codable {
    package var read = 0
    package var accepted = 0
    package var duplicates = 0
    package var outOfWindow = 0
    /// Records of forgotten people; nil in reports from releases that counted them as quarantined.
    package var forgotten: Int?
    package var quarantined = 0
    /// The number of records that maps left out, by reason; nil for a run without maps.
    package var leftOut: [String: Int]?

    package init() {}

    /// Whether every line read is in exactly one of the other counts.
    package var isBalanced: Bool {
      read == accepted + duplicates + outOfWindow + (forgotten ?? 0) + leftOutCount + quarantined
    }

    package var leftOutCount: Int { leftOut?.values.reduce(0, +) ?? 0 }
  }

  package struct Identity: Sendable, Equatable, Codable {
    /// The number of checks processed.
    package var checks = 0
    /// The number of recipients added for devices, including those that only the service knew, because another store
    /// had added them.
    package var created = 0
    /// The number of recipients that got ids or a mobile user id without a merge.
    package var updated = 0
    package var merged = 0
    /// The number of checks that need a person's decision.
    package var conflicts = 0
    /// The number of calls that the service refuses permanently.
    package var refused = 0
    /// The number of checks for which a policy decided against a change; nothing is pending for them.
    package var decidedByPolicy = 0
    package var auditRows = 0
    /// The number of devices whose records have a different mobile user id than before.
    package var newOwners = 0

    package init() {}
  }

  /// Devices rewound for late records, and the events that changed (reference decisions 34).
  package struct Rewind: Sendable, Equatable, Codable {
    package var devices = 0
    /// The number of records of these devices that were processed again; shown to people, not in the JSON.
    package var records = 0
    package var replaced = 0
    package var withdrawn = 0
    package var added = 0
    /// The number of events that the service may have, but that would now be different or missing.
    package var corrections = 0
    /// The number of events that the service may have, but that should not have been sent; the run's event count is
    /// reduced by this number. Shown to people, not in the JSON; nil for none.
    package var sentWrongly: Int?

    private enum CodingKeys: String, CodingKey {
      case devices, records, replaced, withdrawn, added, corrections, sentWrongly = "sentInVain"
    }

    package init() {}

    package var isEmpty: Bool { self == Rewind() }
  }

  package var records = Records()
  package var quarantineReasons: [QuarantineReason: Int] = [:]
  /// The number of events by code, for the first ``typeLimit`` codes in byte order.
  package var eventsByType: [ByteText: Int] = [:]
  /// The number of events with other codes.
  package var otherEvents = 0
  package var sessionsStarted = 0
  package var sessionsEnded = 0
  package var campaignsSet = 0
  package var campaignsExpired = 0
  /// Nil, and left out of the JSON, for a run that read nothing.
  package var people: People?
  /// The effects of late records within the reach; left out of the JSON if no device was rewound.
  package var rewind = Rewind()
  package var upload = UploadCounts()
  package var identity = Identity()
  /// The figures that only the platform counts; nil for none.
  package var platform: PlatformFigures?
  /// The number of events in the store, by status.
  package var store: [String: Int] = [:]
  package var durationSeconds = 0.0
  /// Windows that no run has read, oldest first; nil if the run did not look for them.
  package var missed: [MissedWindow]?
  /// Nil if not known yet.
  package var night: NightState?
  /// The reason that the run ended early; nil, and left out of the JSON, if it did not.
  package var stopped: String?

  /// The maximum number of codes counted individually, because an export may have a code for each event.
  package static let typeLimit = 1000

  package init() {}

  package var eventCount: Int { eventsByType.values.reduce(otherEvents, +) }

  /// Counts the store's pending events, even if the run did not get as far as sending; requires ``store``.
  package mutating func countPending() { upload.eventsPending = max(upload.eventsPending, store["NOT_POSTED"] ?? 0) }

  package mutating func setEvents(_ events: NameTable<Int>) {
    eventsByType = Dictionary(
      uniqueKeysWithValues: events.named.lazy.filter { $0.value != 0 }.map { ($0.name, $0.value) })
    otherEvents = events.rest
  }

  package mutating func addEvents(_ events: NameTable<Int>) {
    var all = events
    for (type, count) in eventsByType { all.add(count, to: type) }
    let others = otherEvents
    setEvents(all)
    otherEvents += others
  }

  /// The maximum total size in bytes of the names written, because there may be many long ones.
  private static let namesBytes = 100_000

  private var shownTypes: [ByteText: Int] {
    var left = Self.namesBytes
    let shown = eventsByType.sorted { $0.key < $1.key }.prefix {
      left -= JSONString.escaped($0.key.string).utf8.count
      return left >= 0
    }
    return Dictionary(uniqueKeysWithValues: shown.map { ($0.key, $0.value) })
  }

  /// The summary as a JSON object on one line, with keys in the order that the reference specifies.
  package var json: String {
    func counts(_ counts: some Sequence<(key: ByteText, value: Int)>) -> JSONNode {
      .object(counts.sorted { $0.key < $1.key }.map { ($0.key.string, .number($0.value)) })
    }
    let types = shownTypes
    let others = eventCount - types.values.reduce(0, +)
    let identity: JSONNode = [
      "checks": .number(identity.checks), "created": .number(identity.created), "updated": .number(identity.updated),
      "merged": .number(identity.merged), "conflicts": .number(identity.conflicts),
      "auditRows": .number(identity.auditRows), "newOwners": .number(identity.newOwners),
    ]
    let missed: JSONNode = .array(
      (self.missed ?? []).map { ["from": .text($0.from.rfc3339), "to": .text($0.to.rfc3339)] })
    let summary = JSONNode.object([]).adding([
      "records": records.json,
      "quarantineReasons": counts(quarantineReasons.map { (ByteText($0.key.rawValue), $0.value) }),
      "leftOutReasons": records.leftOut.map { counts($0.map { (ByteText($0.key), $0.value) }) },
      "events": (["total": .number(eventCount), "byType": counts(types.map { ($0.key, $0.value) })] as JSONNode)
        .adding(["others": others > 0 ? .number(others) : nil]),
      "sessions": ["started": .number(sessionsStarted), "ended": .number(sessionsEnded)],
      "campaigns": ["set": .number(campaignsSet), "expired": .number(campaignsExpired)],
      "rewind": rewind.isEmpty ? nil : rewind.json,
      "upload": upload.json,
      "identity": identity.adding(["refused": self.identity.refused > 0 ? .number(self.identity.refused) : nil]),
      "store": counts(store.map { (ByteText($0.key), $0.value) }),
      "durationSeconds": JSONNode(.number("\((durationSeconds * 1000).rounded() / 1000)")),
    ])
    let own = platform.map { summary.adding([$0.name: $0.json]) } ?? summary
    return own.adding([
      "people": people?.json, "missed": missed, "night": night.map { .text($0.rawValue) },
      "stopped": stopped.map { .text($0) },
    ]).compactText
  }
}

extension RunSummary.Records {
  package var json: JSONNode {
    [
      "read": .number(read), "accepted": .number(accepted), "duplicates": .number(duplicates),
      "outOfWindow": .number(outOfWindow), "forgotten": .number(forgotten ?? 0), "leftOut": .number(leftOutCount),
      "quarantined": .number(quarantined),
    ]
  }
}

extension People {
  /// The figures of a run; all of them count devices, except `events`.
  fileprivate var json: JSONNode {
    .object(
      [
        ("devices", .number(devices)), ("new", .number(newDevices)), ("returning", .number(returningDevices)),
        ("used", .number(steps[.used].devices)), ("sessionsWithoutUse", .number(sessionsWithoutUse)),
      ] + steps.members + [("withoutCampaign", .object(withoutCampaign.members))])
  }
}

extension CampaignSteps {
  /// A member for each step, with its events and devices.
  var members: [(String, JSONNode)] {
    CampaignStep.allCases.map {
      ("\($0)", ["events": .number(self[$0].events), "devices": .number(self[$0].devices)])
    }
  }
}

extension UploadCounts {
  fileprivate var json: JSONNode {
    [
      "chunks": .number(chunks), "eventsPosted": .number(eventsPosted), "eventsFailed": .number(eventsFailed),
      "eventsPending": .number(eventsPending), "eventsUnknown": .number(eventsUnknown),
      "requests": .number(requests), "retries": .number(retries),
    ]
  }
}

extension RunSummary.Rewind {
  package var json: JSONNode {
    [
      "devices": .number(devices), "replaced": .number(replaced), "withdrawn": .number(withdrawn),
      "added": .number(added), "corrections": .number(corrections),
    ]
  }

  package var words: String {
    "\(added.counted("event")) added, \(replaced.grouped) replaced, \(withdrawn.grouped) withdrawn, "
      + corrections.counted("correction")
  }
}

extension RunReport {
  /// The maximum number of quarantined lines listed, and of places per warning, in the sum of several reports.
  private static let quarantineSamples = 20
  private static let warningPlaces = 5

  /// Adds the records and events from a report about other devices of the same export. Figures that the platform itself
  /// adds, and data about the store and the service, stay unchanged.
  package mutating func add(_ other: RunReport) {
    summary.records.add(other.summary.records)
    summary.quarantineReasons.merge(other.summary.quarantineReasons, uniquingKeysWith: +)
    var events = NameTable<Int>(atMost: RunSummary.typeLimit)
    for (type, count) in other.summary.eventsByType { events.add(count, to: type) }
    summary.addEvents(events)
    summary.otherEvents += other.summary.otherEvents
    summary.rewind.devices += other.summary.rewind.devices
    summary.rewind.records += other.summary.rewind.records
    summary.rewind.added += other.summary.rewind.added
    if let people = other.summary.people {
      summary.people = summary.people ?? People()
      summary.people? += people
    }
    quarantinedEvents += other.quarantinedEvents
    activity += other.activity
    quarantine = Array(
      (quarantine + other.quarantine).sorted { (ByteText($0.file), $0.line) < (ByteText($1.file), $1.line) }
        .prefix(Self.quarantineSamples))
    for tally in other.warnings { add(tally) }
    warnings.sort { $0.kind.precedesByBytes($1.kind) }
    for field in other.unknownFields { add(field) }
    unknownFields.sort { $0.name.precedesByBytes($1.name) }
    notes += other.notes.filter { !notes.contains($0) }
  }

  private mutating func add(_ tally: WarningTally) {
    guard let place = warnings.firstIndex(where: { $0.kind.utf8.elementsEqual(tally.kind.utf8) }) else {
      return warnings.append(tally)
    }
    warnings[place].occurrences += tally.occurrences
    warnings[place].first = Array(
      (warnings[place].first + tally.first).sorted { (ByteText($0.file), $0.line) < (ByteText($1.file), $1.line) }
        .prefix(Self.warningPlaces))
  }

  private mutating func add(_ field: UnknownField) {
    if let place = unknownFields.firstIndex(where: { $0.name.utf8.elementsEqual(field.name.utf8) }) {
      unknownFields[place].records += field.records
    } else {
      unknownFields.append(field)
    }
  }
}

extension RunSummary.Records {
  package mutating func add(_ other: RunSummary.Records) {
    read += other.read
    accepted += other.accepted
    duplicates += other.duplicates
    outOfWindow += other.outOfWindow
    if let others = other.forgotten { forgotten = (forgotten ?? 0) + others }
    quarantined += other.quarantined
    if let others = other.leftOut { leftOut = (leftOut ?? [:]).merging(others, uniquingKeysWith: +) }
  }
}
