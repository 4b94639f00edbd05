import BatchFoundation
import Testing

@testable import BatchReport

@Suite struct TextSummaryTests {
  @Test func tellsTheWholeRun() {
    #expect(
      TextSummary(.fixture(), reportFolder: "var/reports/nightly-20260116T000000Z").lines == [
        "nightly: done with findings in 1.250 s",
        "  known      until 2026-01-16T00:00:00.000Z",
        "  records    1,240 read: 1,235 accepted, 1 duplicate, 2 out of window, 2 quarantined",
        "                    1  quarantined: invalid-json",
        "                    1  quarantined: missing-field",
        "  events     1,205 from these records",
        "                    3  13 session started",
        "                1,200  17 named event",
        "                    1  95 custom",
        "                    1  demo custom",
        "  sessions   3 started, 2 ended",
        "  campaigns  4 set, 1 expired",
        "  identity   2 checks; recipients: 1 created, 0 updated, 1 merged; 0 conflicts, 1 audit row",
        "  upload     1,205 events posted in 13 chunks, 14 requests, 1 retry",
        "                  100  possibly duplicated at the service",
        "  store      SUCCESSFULLY_POSTED 1,205",
        "                1,200  HOLD: a reason (Section.key); ends with an end",
        "  warnings   3; 'engage-batch explain KIND' explains each",
        "                    2  link",
        "                    1  unreadable-expiration",
        "  ignored    unknown fields: build (1,200), extra (2)",
        "  report     var/reports/nightly-20260116T000000Z/report.html",
        "To do",
        "  - 2 lines were quarantined. See why: engage-batch quarantine list --store var/nightly.sqlite",
        "  - 100 events may exist twice at the service, because the outcome of a request was unknown "
          + "and Upload.onUnknown is 'resend'. "
          + "See docs/failures.md",
      ])
  }

  @Test func aRunWithNothingToDoSaysNothingOfIt() {
    let report = RunReport(
      job: "empty", jobFile: "j", destination: "engage", startedAt: Instant(milliseconds: 0),
      asOf: Instant(milliseconds: 0))
    #expect(
      TextSummary(report).lines == [
        "empty: done in 0.000 s",
        "  records    0 read: 0 accepted, 0 duplicates, 0 out of window, 0 quarantined",
        "  events     0 from these records",
        "  sessions   0 started, 0 ended",
        "  upload     0 events posted in 0 chunks, 0 requests, 0 retries",
      ])
  }

  /// It said "-3 from these records", "-1 started" and "They became -3 events".
  @Test func whatANightTakesBackIsToldInWords() {
    var report = RunReport(
      job: "back", jobFile: "j", destination: "engage", startedAt: Instant(milliseconds: 0),
      asOf: Instant(milliseconds: 0))
    report.summary.records.read = 3
    report.summary.records.accepted = 3
    report.summary.eventsByType = ["13": -2, "14": -2, "17": 1]
    (report.summary.sessionsStarted, report.summary.sessionsEnded, report.summary.campaignsSet) = (-2, -1, -1)
    #expect(
      TextSummary(report).lines.prefix(7).suffix(5) == [
        "  events     3 fewer than before these records",
        "                    2  fewer: 13",
        "                    2  fewer: 14",
        "                    1  17",
        "  sessions   2 fewer started, 1 fewer ended",
      ], "\(TextSummary(report).lines)")
    #expect(
      RunStory.text(report).hasPrefix(
        "3 records were read and 3 accepted. They led to 3 fewer events: 2 fewer sessions began, 1 fewer ended, "
          + "and 1 fewer campaign was set."), "\(RunStory.text(report))")
  }

  @Test func aDryRunPromisesNothing() {
    var report = RunReport.fixture()
    report.mode = .dryRun
    report.summary.identity = RunSummary.Identity()
    report.summary.identity.checks = 2
    let lines = TextSummary(report).lines
    #expect(lines.first == "nightly: done with findings in 1.250 s (dry run: nothing was changed or sent)")
    #expect(lines.contains("  identity   2 checks would be performed"))
    #expect(!lines.contains { $0.hasPrefix("  upload") })
  }

  @Test func refusalsBeyondThoseThatAreNamedAreCounted() {
    var report = RunReport.fixture()
    let nobody = PersonalData(.omit, key: []).id("")
    report.summary.identity.refused = 60
    report.merges = (1...60).map {
      IdentityMerge(
        plan: $0, scenario: "set-up", words: "set up", state: "refused", device: nobody, loser: nobody, winner: nobody,
        reason: "no")
    }
    let lines = TextSummary(report).lines
    #expect(lines.count { $0.contains("a device: no") } == 20)
    #expect(lines.contains { $0.hasSuffix("  and 40 more: see 'identity list --open'") })
  }

  @Test func aFailedRunSaysWhyAndWhatIsLeft() {
    var report = RunReport.fixture()
    report.exit = .serviceUnavailable
    report.failure = "api.example.test: no connection"
    report.ledger = UploadLedger()
    report.ledger.stop = "the retry budget is used up"
    report.summary.records.quarantined = 0
    report.summary.upload.eventsPending = 1
    report.summary.upload.eventsFailed = 2
    report.summary.upload.eventsUnknown = 3
    report.stoppedPlans = 1
    report.invocation = RunInvocation(jobFile: "/my jobs/it's.json")
    report.invocation.store = "/var/it's.sqlite"
    report.invocation.asOf = Instant(milliseconds: 0)
    report.invocation.settings = ["Upload.onUnknown=hold", "General.name=$(x) \"y\""]
    report.invocation.secrets = ["Connection.secret"]
    let lines = TextSummary(report).lines
    #expect(
      lines.first == "nightly: failed: the service could not be reached or kept failing (exit code 69), after 1.250 s")
    #expect(lines[1] == "             api.example.test: no connection")
    #expect(lines.contains("             stopped early: the retry budget is used up"))
    #expect(
      Array(lines.drop { $0 != "To do" }) == [
        "To do",
        "  - The service could not be reached or kept failing. Nothing is lost: the next run continues where this one stopped",
        "  - 3 events are held as UNKNOWN, because it is unknown whether the service accepted them. To see which events to look up in the service: "
          + "engage-batch store events --status UNKNOWN --store var/nightly.sqlite",
        "  - 2 events could not be posted. Once the cause is fixed, requeue them for the next run: "
          + "engage-batch store requeue --status FAILED_POST --store var/nightly.sqlite",
        "  - 1 event is pending in the store. The next run sends it; to send now: "
          + "engage-batch post '/my jobs/it'\\''s.json' --store '/var/it'\\''s.sqlite' --as-of 1970-01-01T00:00:00.000Z "
          + "--set Upload.onUnknown=hold --set 'General.name=$(x) \"y\"' "
          + "(with the same --set Connection.secret as before, not shown here)",
        "  - 1 identity plan needs a decision: engage-batch identity list --open --store var/nightly.sqlite",
      ])
    // The to-do used to say that the next run sends what the service does not let in.
    report.exit = .credentialsRefused
    #expect(
      TextSummary(report).lines.contains {
        $0.hasPrefix(
          "  - 1 event is pending in the store. Correct the credentials (engage-batch doctor '/my jobs/it'\\''s.json'); "
            + "then the next run sends it; to send now: engage-batch post ")
      })
  }

  @Test("Events that nobody sends without a decision have advice; an outage does not advise to give any up")
  func adviceOnHeldEvents() {
    var report = RunReport.fixture()
    (report.unsent[0].advice, report.unsent[0].release) = ("someone is unknown", "to send them anyway: release")
    let words = "  - 1,200 events are not sent (HOLD): someone is unknown"
    #expect(TextSummary(report).lines.contains("\(words); to send them anyway: release"))
    report.exit = .serviceUnavailable
    #expect(TextSummary(report).lines.contains(words))
  }

  @Test("More than half of the records outside the window are worth a look")
  func outsideTheWindow() {
    var report = RunReport.fixture()
    (report.summary.records.read, report.summary.records.outOfWindow) = (1500, 750)
    #expect(!TextSummary(report).lines.contains { $0.contains("outside the window") })
    report.summary.records.outOfWindow = 751
    #expect(
      TextSummary(report).lines.contains(
        "  - 751 of 1,500 records are outside the window, so they were not processed. "
          + "If that is not intended, compare the job's window with the times of the export"))
    let first = Instant(milliseconds: 1_768_435_200_000)
    report.outOfWindow = first...first + Milliseconds(3_600_000)
    #expect(
      TextSummary(report).lines.contains {
        $0.contains("not processed: from 2026-01-15 00:00 to 2026-01-15 01:00. If that is not intended")
      })
    // Then the same is said of all of them.
    report.nothingUsable = true
    #expect(!TextSummary(report).lines.contains { $0.contains("outside the window") })
  }

  /// A cut archive was told as a line that was quarantined, and what to do about it was nowhere.
  @Test func filesThatAreCutOrOfAnotherFormAreNoLines() {
    var report = RunReport.fixture()
    report.summary.records.quarantined = 4
    report.summary.quarantineReasons = [.invalidJSON: 1, .damagedFile: 1, .otherForm: 2]
    report.quarantine.append(
      QuarantineSample(
        QuarantinedLine(
          file: "in/cut.ndjson.gz", line: 0, offset: 4096, reason: .damagedFile,
          detail: "the gzip data ends early: the file is truncated", raw: []), .fixture(.hash)))
    #expect(
      NextSteps.of(report).prefix(3) == [
        "1 file is truncated or damaged (in/cut.ndjson.gz: the gzip data ends early: the file is truncated). The complete lines before "
          + "the damage were read. To import the rest, deliver the whole file again and run the job again",
        "2 files do not have the form that their entries in the job expect, and were not read. Add maps of the files' "
          + "forms to their entries in the job (docs/maps.md)",
        "1 line was quarantined. See why: engage-batch quarantine list --store var/nightly.sqlite",
      ])
  }

  @Test func sentEventsThatLateRecordsChangeAreToBeLookedAt() {
    var report = RunReport.fixture()
    report.summary.rewind.corrections = 2
    let step =
      "2 events were sent before late records changed them, and sent events cannot be recalled. To compare the sent events with the correct ones: "
      + "engage-batch store corrections --store var/nightly.sqlite"
    #expect(NextSteps.of(report).contains(step))
    report.mode = .dryRun
    #expect(!NextSteps.of(report).contains(step))
  }

  @Test func unfinishedPlansAreNamed() {
    var report = RunReport.fixture()
    report.merges[0].state = "open"
    #expect(
      NextSteps.of(report).last
        == "1 identity plan is unfinished. The next run continues it; to continue now: "
        + "engage-batch identity resume --store var/nightly.sqlite --job jobs/nightly.json")
  }

  @Test func namesFromInputsCannotTakeOverATerminal() {
    var report = RunReport.fixture()
    report.job = "a\u{1B}[2J\nb\u{202E}"
    #expect(TextSummary(report).lines.first == #"a\u{1b}[2J\u{a}b\u{202e}: done with findings in 1.250 s"#)
  }

  /// They used to be ignored with a count among the warnings.
  @Test func recordsOfConsentAskForADecisionUntilItIsMade() {
    var report = RunReport.fixture()
    report.warnings = [WarningTally(kind: "ignored-consent", occurrences: 2, first: [])]
    let choice =
      "2 consent records were ignored, because the job does not specify how to treat such records. Set Recipient.consentRecords to 'apply' to send nothing from a device while it denies consent, or to 'ignore' to keep ignoring such records"
    #expect(report.consentChoice == choice)
    #expect(TextSummary(report).lines.contains { $0.hasSuffix(choice) })
    report.configuration.settings = [
      .init(name: "Recipient.consentRecords", value: "ignore", origin: "job j.json:1")
    ]
    #expect(report.consentChoice == nil)
  }
}
