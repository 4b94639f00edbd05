import TestSupport
import Testing

/// Exit codes that need no service (reference command-line 4): each with its words, and nothing changed.
@Suite("Exit codes without a service") struct ExitCodeTests {
  struct Case: Sendable, CustomTestStringConvertible {
    var code: Int32
    var arguments: [String]
    /// Words that stand on stderr.
    var message: String
    /// A job written to `jobs/own.json`; nil writes none.
    var job: String?
    var testDescription: String { "\(code): \(arguments.joined(separator: " ")) \(job ?? "")" }

    init(_ code: Int32, _ arguments: String..., message: String, job: String? = nil) {
      self.code = code
      self.arguments = arguments
      self.message = message
      self.job = job
    }
  }

  static let cases: [Case] = [
    // Usage.
    Case(64, "run", message: "Give the job file, as the argument or with --job."),
    Case(64, "rum", "jobs/nightly.json", message: "rum"),
    Case(64, "run", "jobs/nightly.json", "--bogus", message: "Unknown option '--bogus'"),
    Case(
      64, "run", "jobs/nightly.json", "--set", "Upload",
      message:
        "The value 'Upload' is invalid for '--set <Section.key=value>': write the section, the key and the value, as in Upload.concurrency=4\n"
    ),
    Case(
      64, "backfill", "jobs/nightly.json", "--from", "2026-01-01", "--to", "2026-01-02", "--step", "1d",
      message:
        "Error: --step is '1d', which is not an ISO 8601 duration such as P1D or PT6H.\nUsage: engage-batch backfill "),
    Case(
      64, "post", "jobs/nightly.json", "--from", "2026-01-01",
      message: "Unknown option '--from'"),
    Case(64, "post", "jobs/nightly.json", "--explain", "d", message: "Unknown option '--explain'"),
    Case(
      66, "run", "jobs/own.json", "--sandbox", "--as-of", "2026-01-15T02:00:00Z",
      message: "/jobs/e-{dd}' for 2026-01-14 ('inputs' of the job)",
      job: #"{"name": "own", "inputs": {"events": ["e-{dd}"]}, "window": {"from": "yesterday", "to": "today"}}"#),
    Case(64, "run", "jobs/nightly.json", "--from", "yesterdy", message: "The value 'yesterdy' is invalid"),
    Case(64, "run", "jobs/nightly.json", "--progress", "loud", message: "The value 'loud' is invalid"),
    Case(64, "run", "jobs/nightly.json", "--max-quarantine", "-1", message: "--max-quarantine"),
    Case(64, "run", "jobs/nightly.json", "--events-out", "-", "--summary", "-", message: "can write to stdout"),
    Case(64, "expiration", message: "Missing expected argument"),
    Case(64, "link", message: "Missing expected argument '<url>'"),
    Case(64, "config", "explain", message: "Missing expected argument '<key>'"),
    // Input refused.
    Case(65, "validate", "jobs/nightly.json", message: "2 quarantined"),
    Case(65, "run", "jobs/nightly.json", "--dry-run", "--max-quarantine", "1", message: "2 quarantined"),
    // No input.
    Case(78, "run", "jobs/absent.json", "--sandbox", message: "jobs/absent.json: error: cannot be read"),
    Case(66, "post", "jobs/nightly.json", "--sandbox", message: "var/nightly.sandbox.sqlite: error: no such store"),
    Case(
      66, "run", "jobs/own.json", "--sandbox", message: "no input: nothing matches",
      job: #"{"name": "own", "inputs": {"events": ["absent/*.ndjson"], "deepLinks": ["absent.tsv"]}}"#),
    // Nothing can be written there.
    Case(73, "run", "jobs/nightly.json", "--sandbox", "--store", "/proc/none/a.sqlite", message: "/proc/none"),
    Case(73, "run", "jobs/nightly.json", "--dry-run", "--events-out", "/proc/none", message: "/proc/none"),
    Case(73, "run", "jobs/nightly.json", "--dry-run", "--events-out", "/dev/full", message: "No space left on device"),
    Case(73, "run", "jobs/nightly.json", "--dry-run", "--summary", "/dev/full", message: "No space left on device"),
    // Reading fails in the middle.
    Case(
      74, "run", "jobs/own.json", "--dry-run", message: "/proc/self/mem",
      job: #"{"name": "own", "inputs": {"events": ["/proc/self/mem"]}}"#),
    // Configuration.
    Case(78, "run", "jobs/nightly.json", message: "Connection.baseUrl is not set; set it, or ENGAGE_BASE_URL"),
    Case(78, "post", "jobs/nightly.json", message: "Connection.clientId is not set"),
    Case(
      78, "run", "jobs/nightly.json", "--sandbox", "--set", "Uplod.concurrency=2",
      message: "unknown section 'Uplod'; did you mean 'Upload'?"),
    Case(
      78, "run", "jobs/nightly.json", "--sandbox", "--set", "Upload.concurency=2",
      message: "did you mean 'Upload.concurrency'?"),
    Case(
      78, "run", "jobs/nightly.json", "--sandbox", "--set", "Upload.concurrency=99",
      message: "'Upload.concurrency' is 99, but must be between 1 and 8"),
    Case(
      78, "run", "jobs/nightly.json", "--sandbox", "--set", "Session.sessionLifecycleExpiration=soon",
      message: "Session.sessionLifecycleExpiration"),
    Case(78, "run", "jobs/own.json", "--sandbox", message: "jobs/own.json:1: error: not valid JSON", job: "{"),
    Case(78, "run", "jobs/own.json", "--sandbox", message: "the job names no inputs", job: #"{"name": "own"}"#),
    Case(
      78, "run", "jobs/own.json", "--sandbox", message: "name",
      job: #"{"inputs": {"events": ["../samples/events"]}}"#),
    Case(
      78, "run", "jobs/own.json", "--sandbox", message: "did you mean 'inputs'?",
      job: #"{"name": "own", "input": {"events": ["../samples/events"]}}"#),
    Case(
      78, "run", "jobs/own.json", "--sandbox", message: "absent.plist",
      job: #"{"name": "own", "configuration": ["absent.plist"], "inputs": {"events": ["../samples/events"]}}"#),
    Case(
      78, "run", "jobs/own.json", "--sandbox", message: "routes.json",
      job: #"{"name": "own", "deepLinkRoutes": "routes.json", "inputs": {"events": ["../samples/events"]}}"#),
    Case(
      78, "run", "jobs/own.json", "--sandbox", message: "not a readable binary property list: the file is truncated",
      job: "bplist00\u{1}\u{2}"),
    Case(78, "config", "check", "--job", "jobs/own.json", message: "not valid JSON", job: "{"),
    // The words of the system's error, with its domain and a stack of further errors, were shown.
    Case(
      78, "run", "jobs/nightly.json", "--sandbox", "--set", "Sandbox.recipients=/proc/self/mem",
      message: "/proc/self/mem: error: the file cannot be read; check its path"),
    Case(
      78, "run", "jobs/own.json", "--sandbox", "--set", "Sandbox.recipients=jobs/own.json",
      message: "jobs/own.json:1: error: unknown key 'name'; known keys: lists",
      job: #"{"name": "own", "inputs": {"events": ["../samples/events"]}}"#),
  ]

  @Test("Each says what is wrong and changes nothing", arguments: cases)
  func changesNothing(entry: Case) throws {
    let workspace = try Workspace()
    if let job = entry.job { try workspace.write("jobs/own.json", job) }
    let before = try workspace.listingWithoutReports()
    let finished = try workspace.run(entry.arguments)
    #expect(finished.code == entry.code)
    #expect((finished.messages + finished.output).contains(entry.message), "\(finished.messages)\(finished.output)")
    #expect(try workspace.listingWithoutReports() == before)
  }

  @Test("Environment variables that contradict each other are a configuration error")
  func environment() throws {
    let workspace = try Workspace()
    try workspace.write("secret.txt", "s")
    let before = try workspace.listingWithoutReports()
    for (variables, message) in [
      (
        ["ENGAGE_SECRET": "s", "ENGAGE_SECRET_FILE": "secret.txt"], "both ENGAGE_SECRET and ENGAGE_SECRET_FILE are set"
      ),
      (["ENGAGE_SECRET_FILE": "absent.txt"], "ENGAGE_SECRET_FILE"),
      (["ENGAGE_BASE_URL": "http://engage.example"], "http is allowed for loopback addresses only"),
      (["ENGAGE_BASE_URL": "ftp://127.0.0.1"], "ENGAGE_BASE_URL"),
    ] {
      let finished = try workspace.run("run", "jobs/nightly.json", "--no-upload", environment: variables)
      #expect(finished.code == 78)
      #expect(finished.messages.contains(message), "\(finished.messages)")
    }
    #expect(try workspace.listingWithoutReports() == before)
  }

  @Test("A file that is not a store is left as it is")
  func damagedStore() throws {
    let workspace = try Workspace()
    try workspace.write("var/nightly.sqlite", "these are not the bytes of a store")
    let finished = try workspace.run("run", "jobs/nightly.json", "--no-upload")
    #expect(finished.code == 78)
    #expect(finished.messages.contains("var/nightly.sqlite: error: the file is not an engage-batch store"))
    #expect(try workspace.read("var/nightly.sqlite") == "these are not the bytes of a store")
  }

  /// The same command, which ends the same way, was said to go on.
  @Test("A folder in place of a store is told with what to name, and no command that meets it again")
  func folderForAStore() throws {
    let workspace = try Workspace()
    let finished = try workspace.run("run", "jobs/nightly.json", "--no-upload", "--store", "jobs")
    #expect(finished.code == 73)
    #expect(
      finished.messages.contains(
        "jobs: error: the store is a folder, not a file; nothing was changed. "
          + "Name a file with the job's 'store' or with --store"
      ), "\(finished.messages)")
    #expect(!finished.messages.contains("To continue"), "\(finished.messages)")
  }

  @Test("A disk that is full ends the run with 74, and the next one goes on")
  func fullDisk() throws {
    let workspace = try Workspace()
    let limited = try workspace.start(
      program: "/bin/sh",
      [
        "-c", "ulimit -f 80; \(Workspace.noProfile); exec \"$0\" run jobs/nightly.json --sandbox --report reports",
        Checkout.binary,
      ]
    ).finish()
    #expect(limited.code == 74, "\(limited.messages)")
    let next = try workspace.run("run", "jobs/nightly.json", "--sandbox", "--summary", "-")
    #expect(next.code == 0, "\(next.messages)")
    let summary = try Summary(next.output)
    #expect(summary["store.SUCCESSFULLY_POSTED"] == 37)
  }

  @Test("More lines quarantined than allowed fail the run: everything is kept, nothing is sent until the next run")
  func maxQuarantine() throws {
    let workspace = try Workspace()
    let refused = try workspace.run("run", "jobs/nightly.json", "--sandbox", "--max-quarantine", "1", "--summary", "-")
    #expect(refused.code == 65)
    #expect(try Summary(refused.output)["upload.eventsPosted"] == 0)
    let taken = try workspace.run("run", "jobs/nightly.json", "--sandbox", "--max-quarantine", "2", "--summary", "-")
    #expect(taken.code == 0)
    #expect(try Summary(taken.output)["upload.eventsPosted"] == 37)
  }
}
