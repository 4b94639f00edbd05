import BatchFoundation

@testable import BatchReport

extension PersonalData {
  /// Hashes with the key 0, 1, ... 31.
  static func fixture(_ policy: PersonalDataPolicy) -> PersonalData { PersonalData(policy, key: Array(0..<32)) }
}

extension RunReport {
  /// A run with something of everything.
  static func fixture(_ policy: PersonalDataPolicy = .hash) -> RunReport {
    let personalData = PersonalData.fixture(policy)
    // 2026-01-16T00:00:00.250Z
    var report = RunReport(
      job: "nightly", jobFile: "jobs/nightly.json", destination: "engage",
      startedAt: Instant(milliseconds: 1_768_521_600_250),
      asOf: Instant(milliseconds: 1_768_521_600_000))
    report.from = Instant(milliseconds: 1_768_435_200_000)
    report.knownUntil = report.asOf
    report.store = "var/nightly.sqlite"
    report.personalData = policy
    report.configuration = ConfigurationOrigin(layers: ["defaults", "configs/EngageConfig.plist"], digest: "00ff")
    report.summary = .fixture
    report.platform.lines = [.init("campaigns", "4 set, 1 expired")]
    report.platform.typeNames = ["13": "session started", "17": "named event"]
    report.platform.unnamedType = "custom"
    report.quarantine = [
      QuarantineSample(
        QuarantinedLine(
          file: "b.ndjson", line: 3, offset: 120, reason: .missingField, detail: "field 'deviceId'",
          raw: Array("{}".utf8)),
        personalData),
      QuarantineSample(
        QuarantinedLine(
          file: "a.ndjson", line: 12, offset: 2048, reason: .invalidJSON, detail: "at byte 8 of the line",
          raw: Array(#"{"a":1,}"#.utf8)), personalData),
    ]
    report.warnings = [
      WarningTally(
        kind: "unreadable-expiration", occurrences: 1,
        first: [
          WarningTally.Place(
            device: personalData.id("A1F0C9D2-0001"), file: "n.ndjson", line: 4,
            detail: "an expiration text was not understood")
        ]),
      WarningTally(kind: "link", occurrences: 2, first: []),
    ]
    report.unknownFields = [
      UnknownField(name: "extra", records: 2), UnknownField(name: "build", records: 1200),
    ]
    report.merges = [
      IdentityMerge(
        plan: 7, scenario: "mark-merged", words: "merged", state: "done", device: personalData.id("A1F0C9D2-0001"),
        loser: personalData.id("rec-7"), winner: personalData.id("rec-8"))
    ]
    report.ledger.outcomes = ["acknowledged": 2, "unknown": 1]
    report.ledger.possibleDuplicates = 100
    report.ledger.answers = AnswerTime.times(Array((1...100).reversed()))
    report.unsent = [
      UnsentEvents(status: "HOLD", events: 1200, reason: "a reason", setting: "Section.key", ends: "an end")
    ]
    report.stages = [
      StageDuration(name: "records and rules", seconds: 0.25), StageDuration(name: "upload", seconds: 1),
    ]
    report.notes = ["no file matches 'x/*.ndjson'"]
    return report
  }
}

extension RunSummary {
  static var fixture: RunSummary {
    var summary = RunSummary()
    summary.records.read = 1240
    summary.records.accepted = 1235
    summary.records.duplicates = 1
    summary.records.outOfWindow = 2
    summary.records.quarantined = 2
    summary.quarantineReasons = [.missingField: 1, .invalidJSON: 1]
    summary.eventsByType = ["17": 1200, "13": 3, "95": 1, "demo": 1]
    summary.sessionsStarted = 3
    summary.sessionsEnded = 2
    summary.campaignsSet = 4
    summary.campaignsExpired = 1
    summary.upload.chunks = 13
    summary.upload.eventsPosted = 1205
    summary.upload.requests = 14
    summary.upload.retries = 1
    summary.identity.checks = 2
    summary.identity.created = 1
    summary.identity.merged = 1
    summary.identity.auditRows = 1
    summary.store = ["SUCCESSFULLY_POSTED": 1205]
    summary.durationSeconds = 1.2504
    return summary
  }
}
