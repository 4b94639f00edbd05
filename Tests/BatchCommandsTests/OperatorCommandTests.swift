import ArgumentParser
import BatchFoundation
import BatchIngest
import BatchPipeline
import BatchReport
import BatchWire
import Engage
import EngageRules
import Testing

@testable import BatchCommands
@testable import BatchStore

@Suite struct OperatorCommandTests {
  @Test(arguments: [
    (["store", "events"], "Error: Give the store with --store FILE, or the job with --job JOB."),
    (["why", "7"], "Error: Give the store with --store FILE, or the job with --job JOB."),
    (["person", "export", "ada", "j"], "Error: Give the store with --store FILE, or the job with --job JOB."),
    (
      ["history", "j", "--store", "s"],
      "Error: Both a job (j) and --store s were given, and each names a store; leave out one."
    ),
    (["run", "j", "--job", "j"], "Error: Give the job either as the argument or with --job, not both."),
    (["run"], "Error: Give the job file, as the argument or with --job."),
    (["test"], "Error: Give the job files, as arguments or with --job."),
    (["store", "events", "--store", "s", "--status", "LOST"], "Error: The value 'LOST' is invalid for '--status"),
    (["store", "events", "--store", "s", "--limit", "0"], "Error: --limit must be at least 1."),
    (["store", "events", "--store", "s", "--id", "7"], "Error: The value '7' is invalid for '--id <id>'"),
    (["store", "requeue", "--store", "s"], "Error: Missing expected argument '--status <status>'"),
    (["store", "requeue", "--store", "s", "--status", "HOLD"], "Error: The value 'HOLD' is invalid for '--status"),
    (
      ["store", "requeue", "--store", "s", "--status", "UNKNOWN", "--chunk", "some"],
      "Error: The value 'some' is invalid for '--chunk <number|all>'"
    ),
    (["store", "purge", "--store", "s", "--days", "-1"], "Error: "),
    (["quarantine", "list", "--store", "s", "--reason", "bad"], "Error: The value 'bad' is invalid for '--reason"),
    (["quarantine", "replay", "--store", "s"], "Error: Give the job file, as the argument or with --job."),
    (["sandbox", "--port", "70000"], "Error: --port must be from 0 to 65535."),
    (["doctor"], "Error: Give the job file, as the argument or with --job."),
    (
      ["xmlapi", "getlists"],
      "Error: 'getlists' is not an operation of the XMLAPI; names are case-sensitive; did you mean 'GetLists'?"
    ),
    (["xmlapi", "GetLists", "--param", "VISIBILITY"], "Error: The value 'VISIBILITY' is invalid for '--param"),
    (["xmlapi", "GetLists", "--param", "A B=1"], "Error: 'A B' is not a valid parameter name."),
    (["run", "j", "--online-plan", "p"], "Error: --online-plan needs --dry-run."),
    (
      ["run", "j", "--plan", "p", "--dry-run"],
      "Error: --plan changes the service, so it cannot be combined with --dry-run or --no-upload."
    ),
    (["run", "j", "--explain", "@"], "Error: --explain @FILE needs a file name."),
  ])
  func refuses(arguments: [String], expected: String) {
    do {
      _ = try EngageBatch.parseAsRoot(arguments)
      Issue.record("accepted")
    } catch {
      let message = EngageBatch.fullMessage(for: error)
      #expect(message.hasPrefix(expected), "\(message)")
      #expect(EngageBatch.exitCode(for: error) == .validationFailure)
    }
  }

  @Test(
    "A job is the argument or --job alike",
    arguments: [
      "run", "post", "validate", "verify", "doctor", "test", "history", "report", "stream", "service prepare",
      "quarantine list", "quarantine replay", "store status", "store purge", "store rebind", "identity list",
      "config check", "partition --parts 2 --out d", "decide --partition p --part 0 --out d",
      "compare --with Session.sessionsEnabled=NO", "forget --device d", "rerun --from 2026-01-01 --to 2026-01-02",
      "backfill --from 2026-01-01 --to 2026-01-02",
    ])
  func takesJobs(words: String) {
    let words = words.split(separator: " ").map(String.init)
    for named in [["job.json"], ["--job", "job.json"]] {
      #expect(throws: Never.self) { try EngageBatch.parseAsRoot(words + named) }
    }
  }

  @Test func namesTheVersionsOfItsLibraries() {
    let lines = Versions.text.split(separator: "\n").map { $0.split(separator: " ")[0] }
    #expect(lines == ["engage-batch", "SQLite", "libcurl", "libxml2"])
    #expect(EngageBatch.configuration.version == Versions.text)
  }

  @Test func cutsNamedValuesAtTheFirstSign() {
    #expect(ColumnValue(argument: "a=b=c")?.name == "a")
    #expect(ColumnValue(argument: "a=b=c")?.value == "b=c")
    #expect(ColumnValue(argument: "a=")?.value == "")
    #expect(ColumnValue(argument: "=a") == nil)
    #expect(ColumnValue(argument: "a") == nil)
  }

  // MARK: Reports

  @Test func printsElementsAsObjects() throws {
    let element = try XMLDocument.parse(
      Array(
        """
        <RESULT><SUCCESS>true</SUCCESS><EMAIL/><COLUMNS><COLUMN><NAME>a</NAME><VALUE>1</VALUE></COLUMN></COLUMNS>\
        <X>1</X><X>2</X><FAILURES><FAILURE failure_type="permanent"/></FAILURES></RESULT>
        """.utf8))
    #expect(
      XMLAPIReport.node(element).compactText
        == #"{"SUCCESS":"true","EMAIL":"","COLUMNS":{"COLUMN":[{"NAME":"a","VALUE":"1"}]},"X":["1","2"],"#
        + #""FAILURES":{"FAILURE":[{"@failure_type":"permanent"}]}}"#)
  }

  @Test func endsByWhatIsKnownOfTheOperation() {
    #expect(XMLAPIReport("Logout", .answered(nil)).exit == .done)
    #expect(
      XMLAPIReport("Logout", .rejected(ServiceFault(id: 51, faultClass: nil, message: "no"))).exit == .inputRefused)
    #expect(XMLAPIReport("Logout", .refused(CallFault("401", stop: .credentials))).exit == .credentialsRefused)
    #expect(XMLAPIReport("Logout", .unknown(CallFault("status 503"))).exit == .serviceUnavailable)
  }

  @Test func endsWithTheFirstErrorOfTheDoctor() {
    var findings = DoctorFindings()
    findings.ok("version", "engage-batch 1")
    findings.warning("clock", "slow")
    #expect(findings.exit == .done)
    findings.error("credentials", "refused", setting: "Connection.secret", exit: .credentialsRefused)
    findings.error("list", "none", exit: .configuration)
    #expect(findings.exit == .credentialsRefused)
    #expect(
      findings.facts.lines.map(\.text) == [
        "ok: version: engage-batch 1", "warning: clock: slow", "error: credentials: refused (Connection.secret)",
        "error: list: none",
      ])
    #expect(findings.facts.document["good"]?.bool == false)
  }

  @Test func countsWhatAReplayDid() {
    var outcome = ReplayOutcome()
    outcome.counts.read = 3
    outcome.counts.accepted = 1
    outcome.counts.quarantined = 2
    outcome.counts.reasons = [.invalidJSON: 2]
    outcome.unavailable = 1
    outcome.events = 1
    #expect(
      QuarantineReplayCommand.words(outcome)
        == "3 quarantine entries tried: 1 accepted, 0 duplicates, 0 out of window, 2 still quarantined; "
        + "1 line is neither in the store nor in its file")
    #expect(
      QuarantineReplayCommand.figures(outcome).document.compactText
        == #"{"read":3,"accepted":1,"duplicates":0,"outOfWindow":0,"forgotten":0,"stillQuarantined":2,"#
        + #""quarantineReasons":{"invalid-json":2},"unavailable":1,"events":1,"late":0}"#)
  }

  @Test func showsLinesThatAreNoTextInBase64() {
    let line = QuarantinedLine(file: "f", line: 2, offset: 9, reason: .invalidUTF8, detail: "at byte 1", raw: [0xFF])
    let entry = StoredQuarantine(id: 4, run: RunID(number: 3), line: line, replayedRun: nil)
    #expect(
      QuarantineRow.cells(entry, FieldDictionary(), showsRaw: true).map { $0.compactText } == [
        "4", "3", "\"f\"", "2", "9", "\"invalid-utf8\"", "\"at byte 1\"", "null", "null", "null", "null", "\"/w==\"",
      ])
  }

  @Test func showsAnEmptyStore() throws {
    let facts = try StoreStatusCommand.facts(of: EventStore.temporary(format: .engage))
    #expect(
      facts.document.compactText
        == #"{"store":{},"events":0,"erased":0,"destination":null,"knownUntil":null,"rewind":{"nights":0,"records":0,"bytes":0,"corrections":0},"#
        + #""oldestPending":null,"devices":0,"heldDevices":0,"pendingChecks":0,"quarantine":{},"runs":0}"#)
    #expect(
      facts.lines.map(\.text) == [
        "0 events of 0 devices, 0 runs; 0 devices have held events",
        "destination: none yet; the first run with a known destination binds the store",
      ])
  }

  @Test func tellsWhyARunEndedEarlyFromItsRow() throws {
    let store = try EventStore.temporary(format: .engage)
    for (exit, counters) in [(78, #"{"stopped":"first\nsecond"}"#), (0, #"{"stopped":"after all"}"#), (70, "{}")] {
      let run = try store.runs.begin(job: "j", configurationDigest: "", started: .now, asOf: .now)
      try store.runs.finish(run, at: .now, exit: Int32(exit), counters: counters)
    }
    let place = try #require(HistoryRow.columns.firstIndex(of: "reason"))
    let reasons = try HistoryRow.all(of: store).map { $0.cells(.text, of: "engage")[place].string }
    #expect(reasons == ["first; second", nil, nil])
  }
}
