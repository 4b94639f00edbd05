import BatchFoundation
import BatchSandbox
import FoundationEssentials
import Testing

/// Runs that meet what earlier runs left: nothing is lost or hidden where they are joined.
@Suite("Runs that are joined") struct JoinedRunTests {
  private static func job(_ more: String = "") -> String {
    #"{"name": "j", "inputs": {"events": ["in"]}, "asOf": "2026-03-01T00:00:00Z", "store": "store.sqlite"\#(more)}"#
  }

  private static func event(_ device: String, _ time: String, _ name: String = "n") -> String {
    #"{"deviceId":"\#(device)","timestamp":"\#(time)","type":"namedEvent","name":"\#(name)"}"#
  }

  // MARK: - What waits is named

  @Test("Session events that wait for a mobile user id are announced before the run and named after it")
  func waitsForUser() throws {
    let workspace = try Workspace([])
    let service = try Service()
    try workspace.write("job.json", Self.job(#", "reports": "reports""#))
    try workspace.write("in/a.ndjson", Self.event("d", "2026-01-15T08:00:00Z") + "\n")
    let run = try workspace.run("run", "job.json", "--summary", "-", environment: service.environment)
    #expect(run.code == 0, "\(run.messages)")
    #expect(try Summary(run.output).text("store") == #"{"HOLD":2,"SUCCESSFULLY_POSTED":1}"#)
    let announced = try #require(
      run.messages.firstRange(of: "'identity' is not true, so the events 12, 13 and 14 of a device"))
    let delivery = try #require(run.messages.firstRange(of: "Delivery: sending"))
    #expect(announced.lowerBound < delivery.lowerBound)
    let words = "HOLD: session events of devices whose mobile user id is not known (the job's 'identity')"
    #expect(run.messages.contains("2  \(words)"), "\(run.messages)")
    #expect(
      run.messages.contains(
        "To do\n  - 2 events are not sent (HOLD): their devices have no mobile user ids. "
          + "The events are sent once records name the ids; "
          + "if none will, set the job's 'identity' to true and Recipient.enableAutoAnonymousTracking\n"),
      "\(run.messages)")
    let held = try workspace.run("store", "events", "--store", "store.sqlite", "--status", "HOLD")
    #expect(held.messages.contains("2 events \(words); ends with a record that names one"), "\(held.messages)")
    #expect(!held.messages.contains("no such event"), "\(held.messages)")
    let folder = try #require(try FileManager.default.contentsOfDirectory(atPath: workspace.path + "/reports").first)
    let report = try JSONNode.parse(Array(workspace.read("reports/\(folder)/report.json").utf8))
    let unsent = try #require(report["unsent"]?.array)
    #expect(unsent.count == 1)
    #expect(unsent.first?["status"]?.string == "HOLD")
    #expect(unsent.first?["events"]?.integer == 2)
    // The page of all runs has them, too.
    #expect(try workspace.run("run", "job.json", environment: service.environment).code == 0)
    #expect(
      try workspace.read("reports/index.html").contains(
        "<div class=\"tile\"><b class=\"attention\">2</b><span>not sent yet</span></div>"))
  }

  @Test("Events that are kept, failed or unknown are named with what ends it")
  func namesOthers() throws {
    let workspace = try Workspace()
    let run = try workspace.run("run", "jobs/nightly.json", "--no-upload")
    #expect(run.messages.contains("32  NOT_POSTED: queued: not sent yet, or every attempt failed"), "\(run.messages)")
    #expect(run.messages.contains("ends with the next run, or 'post'"), "\(run.messages)")
  }

  // MARK: - Commands are run as they are printed

  @Test(
    "The command that goes on after an interruption, and the one that sends what waits, are run as they are printed")
  func printedCommands() throws {
    let workspace = try Workspace()
    let service = try Service()
    let folder = "it's a $(folder)"
    try FileManager.default.createDirectory(atPath: workspace.path + "/\(folder)", withIntermediateDirectories: true)
    let kept = try workspace.run(
      "run", "jobs/nightly.json", "--no-upload", "--store", "\(folder)/s.sqlite", "--as-of", "2026-01-16T00:00:00Z",
      "--set", "Upload.maxEventsPerRequest=5", "--set", "Connection.secret=hidden")
    #expect(kept.code == 0, "\(kept.messages)")
    #expect(!kept.messages.contains("hidden"))
    let line = try #require(kept.messages.split(separator: "\n").first { $0.contains("engage-batch post") })
    let command = try #require(line.firstRange(of: "engage-batch post"))
    let end = try #require(line.firstRange(of: " (with the same --set Connection.secret"))
    let post = try workspace.shell(String(line[command.lowerBound..<end.lowerBound]), environment: service.environment)
    #expect(post.code == 0, "\(post.messages)")
    #expect(service.server.totals.eventsApplied == 37)
    #expect(service.server.totals.submissions == 8)
  }

  @Test(
    "73: an output that cannot be written does not take the end summary away",
    arguments: ["--events-out", "--summary", "--report"])
  func cannotWrite(option: String) throws {
    let workspace = try Workspace()
    let service = try Service()
    let run = try workspace.run(
      "run", "jobs/nightly.json", option, "/proc/none/x", environment: service.environment)
    #expect(run.code == 73, "\(run.messages)")
    #expect(run.messages.contains("37 events posted in 1 chunk"), "\(run.messages)")
    #expect(run.messages.contains("/proc/none"), "\(run.messages)")
    #expect(service.server.totals.eventsApplied == 37)
  }

  // MARK: - Backward runs

  @Test("78: a window before everything that the store has decided asks for the setting; a repeated window does not")
  func backward() throws {
    let workspace = try Workspace([])
    try workspace.write("job.json", Self.job())
    try workspace.write(
      "in/a.ndjson",
      [Self.event("d", "2026-01-10T08:00:00Z"), Self.event("d", "2026-02-10T08:00:00Z")].map { $0 + "\n" }.joined())
    func run(_ from: String, _ to: String, _ more: String...) throws -> Finished {
      try workspace.run(["run", "job.json", "--no-upload", "--from", from, "--to", to, "--summary", "-"] + more)
    }
    let february = try run("2026-02-01T00:00:00Z", "2026-03-01T00:00:00Z")
    #expect(february.code == 0, "\(february.messages)")
    let again = try run("2026-02-01T00:00:00Z", "2026-03-01T00:00:00Z")
    #expect(again.code == 0, "\(again.messages)")
    let january = try run("2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z")
    #expect(january.code == 78)
    let begin = "the store has processed only records from 2026-02-10T08:00:00.000Z onwards"
    #expect(january.messages.contains(begin), "\(january.messages)")
    #expect(january.messages.contains("--set Ingest.lateRecords=accept"), "\(january.messages)")
    let allowed = try run("2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z", "--set", "Ingest.lateRecords=accept")
    #expect(allowed.code == 0, "\(allowed.messages)")
    let later = try run("2026-02-01T00:00:00Z", "2026-03-01T00:00:00Z")
    #expect(later.code == 0, "\(later.messages)")
  }

  @Test("Late records are told of with their files and the command that decides them right, which is run as printed")
  func lateRecords() throws {
    let workspace = try Workspace([])
    try workspace.write("job.json", Self.job())
    try workspace.write("in/a.ndjson", Self.event("d", "2026-02-10T08:00:00Z") + "\n")
    #expect(try workspace.run("run", "job.json", "--no-upload").code == 0)
    try workspace.write("in/b.ndjson", Self.event("d", "2026-01-10T08:00:00Z") + "\n")
    let late = try workspace.run("run", "job.json", "--no-upload")
    #expect(late.code == 0)
    #expect(
      late.messages.contains("1 record falls in a period already processed for its device ('"), "\(late.messages)")
    #expect(late.messages.contains("in/b.ndjson'): its events are outside sessions and campaigns."))
    let line = try #require(late.messages.split(separator: "\n").first { $0.hasPrefix("Late: ") })
    let command = try #require(line.firstRange(of: "engage-batch rerun"))
    let rerun = try workspace.shell(String(line[command.lowerBound...]))
    #expect(rerun.code == 0, "\(rerun.messages)")
  }

  @Test(
    "78: records of many devices that go backwards without a window; the command that takes them in is run as printed")
  func backwardRecords() throws {
    let workspace = try Workspace([])
    try workspace.write("job.json", Self.job())
    func write(_ month: String) throws {
      let lines = (0..<120).map { Self.event("d\($0)", "2026-\(month)-10T08:00:00Z") + "\n" }
      try workspace.write("in/\(month).ndjson", lines.joined())
    }
    try write("02")
    #expect(try workspace.run("run", "job.json", "--no-upload").code == 0)
    try write("01")
    let refused = try workspace.run("run", "job.json", "--no-upload")
    #expect(refused.code == 78, "\(refused.messages)")
    #expect(refused.messages.contains("of 120 known devices examined, 120 have no records"), "\(refused.messages)")
    #expect(!refused.messages.contains("are safe in the store"), "\(refused.messages)")
    #expect(try workspace.run("store", "events", "--store", "store.sqlite").lines.count { $0.contains("2026-01") } == 0)
    let line = try #require(refused.messages.split(separator: "\n").first { $0.contains("this is intended: ") })
    let command = try #require(line.firstRange(of: "engage-batch run"))
    let allowed = try workspace.shell(String(line[command.lowerBound...]))
    #expect(allowed.code == 0, "\(allowed.messages)")
    #expect(
      allowed.messages.contains("120 records fall in periods already processed for their devices"),
      "\(allowed.messages)")
    #expect(
      try workspace.run("store", "events", "--store", "store.sqlite").lines.count { $0.contains("2026-01") } == 120)
  }

  // MARK: - Quarantine

  @Test("A line that was fixed in its file and taken in waits no more; one that is still bad does")
  func fixedLines() throws {
    let workspace = try Workspace([])
    try workspace.write("job.json", Self.job())
    let good = Self.event("d", "2026-01-15T08:00:00Z")
    try workspace.write("in/a.ndjson", "\(good)\nnot a record\n{\"half\":\n\(good.replacing("T08", with: "T09"))\n{]\n")
    #expect(try workspace.run("run", "job.json", "--no-upload").code == 0)
    func waiting(_ more: String...) throws -> [String] {
      let list = try workspace.run(["quarantine", "list", "--store", "store.sqlite", "--format", "json"] + more)
      return try JSONNode.parse(Array(list.output.utf8)).array?.map {
        "\($0["line"]?.integer ?? 0) \($0["resolution"]?.string ?? "")"
      } ?? []
    }
    #expect(try waiting() == ["2 ", "3 ", "5 "])
    // The third is fixed, the second is bad in another way, and the last moves on by that.
    try workspace.write(
      "in/a.ndjson",
      "\(good)\nstill not a record\n\(good.replacing("T08", with: "T10"))\n\(good.replacing("T08", with: "T09"))\n{]\n")
    let next = try workspace.run("run", "job.json", "--no-upload")
    #expect(next.code == 0)
    #expect(next.messages.contains("3 quarantined lines were replaced"), "\(next.messages)")
    #expect(try waiting() == ["2 ", "5 "])
    #expect(try waiting("--all") == ["2 replaced", "3 replaced", "5 replaced", "2 ", "5 "])
    // An export of another day under the same name settles nothing.
    let before = try waiting()
    try workspace.write(
      "in/a.ndjson",
      "\(Self.event("other", "2026-01-16T08:00:00Z", "longer than it was"))\n\(Self.event("other", "2026-01-16T09:00:00Z"))\n"
    )
    #expect(try workspace.run("run", "job.json", "--no-upload").code == 0)
    #expect(try waiting() == before)
  }

  @Test("Lines are dismissed by number, reason or file, and stay so when their file is read again")
  func dismissed() throws {
    let workspace = try Workspace()
    #expect(try workspace.run("run", "jobs/nightly.json", "--no-upload").code == 0)
    let store = ["--store", "var/nightly.sqlite"]
    func resolve(_ more: String...) throws -> Finished { try workspace.run(["quarantine", "resolve"] + store + more) }
    #expect(try resolve().code == 64)
    #expect(try resolve("--id", "99").code == 64)
    #expect(try resolve("--reason", "invalid-json").messages.contains("1 line was dismissed"))
    let list = try workspace.run(["quarantine", "list"] + store)
    #expect(list.lines.count == 2)
    let file = try #require(list.lines.last?.split(separator: "\t").last?.split(separator: ":").first)
    #expect(try resolve("--file", String(file)).code == 0)
    #expect(try workspace.run(["quarantine", "list"] + store).lines.count == 1)
    #expect(try workspace.run(["quarantine", "list", "--all"] + store).lines.count { $0.contains("dismissed") } == 2)
    let again = try workspace.run("run", "jobs/nightly.json", "--no-upload")
    #expect(!again.messages.contains("See why: engage-batch quarantine list"), "\(again.messages)")
    #expect(try workspace.run(["quarantine", "list"] + store).lines.count == 1)
  }

  // MARK: - Configuration, explanations, words

  @Test("config check finds what a run would refuse")
  func configCheck() throws {
    let workspace = try Workspace(["samples"])
    func check(_ members: String) throws -> Finished {
      try workspace.write("job.json", #"{"name": "j", \#(members)}"#)
      return try workspace.run("config", "check", "--real", "--job", "job.json")
    }
    let list = try check(#""inputs": {"events": ["samples/events"]}, "identity": true"#)
    #expect(list.code == 78)
    #expect(list.messages.contains("'General.databaseListId' is not set, but 'identity' is true"), "\(list.messages)")
    // Almost the loopback: one rule for both.
    let plain = try check(
      #""inputs": {"events": ["samples/events"]}, "settings": {"Connection": {"baseUrl": "http://127.0.0.01:9"}}"#)
    #expect(
      plain.code == 78 && plain.messages.contains("http is allowed for loopback addresses only"), "\(plain.messages)")
    let refused = try workspace.run("run", "job.json")
    #expect(refused.code == 78 && refused.messages == plain.messages, "\(refused.messages)")
    let folder = try check(#""inputs": {"events": ["samples/events"]}, "store": "samples""#)
    #expect(folder.code == 78)
    #expect(folder.messages.contains("'store' must name a file, but 'samples' is a folder"), "\(folder.messages)")
    let one = try check(#""inputs": {"events": ["samples/events", "absent/*"]}"#)
    #expect(one.code == 0, "\(one.messages)")
    #expect(one.messages.contains("absent/*"), "\(one.messages)")
    #expect(one.messages.contains("note: 'Connection.secret' is not set"), "\(one.messages)")
    let game = try check(#""inputs": {"events": ["samples/events"]}, "destination": "deltadna""#)
    #expect(game.code == 0, "\(game.messages)")
    #expect(game.messages.contains("note: 'DeltaDNA.environmentKey' is not set"), "\(game.messages)")
    let none = try check(#""inputs": {"events": ["absent/*"]}"#)
    #expect(none.code == 66)
    #expect(none.messages.contains("no input: nothing matches"), "\(none.messages)")
    let run = try workspace.run("run", "job.json", "--no-upload")
    #expect(run.code == 66)
    #expect(run.messages.contains("no input: nothing matches"), "\(run.messages)")
    try workspace.write("table.json", #"[{"sky": "b"}]"#)
    let table = try check(
      #""inputs": {"events": ["samples/events"]}, "settings": {"Augmentation": {"lookupTables": [{"file": "table.json", "keyAttribute": "place", "columns": ["sky"]}]}}"#
    )
    #expect(table.code == 78, "\(table.messages)")
    #expect(table.messages.contains("table.json"), "\(table.messages)")
  }

  @Test("--explain writes data to stdout, as text or JSON, and says so when there is nothing to explain")
  func explain() throws {
    let workspace = try Workspace()
    let device = "A1F0C9D2-0002"
    func explain(_ device: String, _ more: String...) throws -> Finished {
      try workspace.run(["run", "jobs/nightly.json", "--dry-run", "--explain", device] + more)
    }
    let json = try explain(device, "--format", "json")
    let document = try JSONNode.parse(Array(json.output.utf8))
    #expect(document["device"]?.string == device)
    #expect(document["steps"]?.array?.count ?? 0 > 3)
    #expect(
      document["steps"]?.array?.contains { $0["file"]?.string?.hasSuffix("deep-links/2026-01-15.ndjson") == true }
        == true)
    let unknown = try explain("A1F0C9D2-00022")
    #expect(unknown.output.contains("it is in neither the inputs nor the store; did you mean"), "\(unknown.output)")
    #expect(unknown.output.contains("'\(device)'"))
    #expect(try workspace.run("run", "jobs/nightly.json", "--no-upload").code == 0)
    let known = try explain(device)
    #expect(known.output.contains("its state after earlier runs"), "\(known.output)")
    #expect(known.output.contains("lifecycle") || known.output.contains("gap mode"))
  }

  @Test(
    "64: a command that does not exist is answered with the nearest one",
    arguments: [
      (["rnu", "job.json"], "did you mean 'run'?"), (["store", "statsu", "--store", "x"], "did you mean 'status'?"),
      (["quarantine", "lst"], "did you mean 'list'?"),
    ])
  func nearestCommand(arguments: [String], words: String) throws {
    let finished = try Workspace([]).run(arguments)
    #expect(finished.code == 64)
    #expect(finished.messages.contains(words), "\(finished.messages)")
  }

  @Test("69: delivery to a dead service says what is wrong and when it tries again")
  func deadService() throws {
    let workspace = try Workspace()
    var environment = try Service().environment
    environment["ENGAGE_BASE_URL"] = "http://127.0.0.1:1"
    try workspace.write(
      "jobs/plain.json",
      try workspace.read("jobs/nightly.json").replacing("\"identity\": true", with: "\"identity\": false"))
    let finished = try workspace.run(
      "run", "jobs/plain.json", "--set", "Networking.retryDelay=1s", environment: environment)
    #expect(finished.code == 69)
    #expect(finished.messages.contains("Delivery: not sent: "), "\(finished.messages)")
    #expect(finished.messages.contains("trying again"), "\(finished.messages)")
    #expect(
      finished.messages.contains("stopped early: the service could not be reached or kept failing, "),
      "\(finished.messages)")
  }

  @Test("A port that is taken is named with words of the system")
  func takenPort() throws {
    let service = try Service()
    let finished = try Workspace([]).run("sandbox", "--port", "\(service.server.port)")
    #expect(finished.code == 69)
    #expect(
      finished.messages
        == "error: cannot listen on port \(service.server.port) of 127.0.0.1: Address already in use; choose another with --port\n"
    )
  }
}
