import BatchSandbox
import FoundationEssentials
import Glibc
import TestSupport
import Testing

/// Where data goes: never over what the same command reads or keeps, whole or not at all, and noticed when it does not arrive.
@Suite("Outputs of commands", .serialized) struct OutputTests {
  private static let options = [
    "--events-out", "--findings-out", "--decisions-out", "--summary", "--metrics", "--otlp", "--junit",
  ]

  /// A workspace with a store.
  private func workspace() throws -> Workspace {
    let workspace = try Workspace()
    #expect(try workspace.run("run", "jobs/nightly.json", "--no-upload").code == 0)
    return workspace
  }

  @Test(
    "An output that is the store, an input or a file of the configuration is refused, and nothing is touched",
    arguments: [
      ("var/nightly.sqlite", "the store"), ("var/nightly.sqlite-wal", "the store"), ("jobs/nightly.json", "the job"),
      ("configs/EngageConfig.plist", "a configuration file of the job"),
      ("samples/events/2026-01-15-android.ndjson", "an input"),
      ("configs/MobileDeepLinkingConfig.json", "the routes of the job"), ("var/nightly.sqlite.lock", "the store"),
      ("samples/identities/recipients.json", "the file that 'Sandbox.recipients' names in the configuration"),
      ("samples/tests/nightly.json", "a test file of the job"),
    ])
  func conflicts(path: String, words: String) throws {
    let workspace = try workspace()
    mkdir("\(workspace.path)/links", 0o700)
    symlink("\(workspace.path)/\(path)", "\(workspace.path)/links/soft")
    let isThere = workspace.exists(path)
    if isThere { link("\(workspace.path)/\(path)", "\(workspace.path)/links/hard") }
    func listings() throws -> [[String]] {
      try ["var", "jobs", "configs", "samples"].map { try workspace.listing($0) }
    }
    let before = try listings()
    let names = isThere ? [path, "./\(path)", "links/soft", "links/hard"] : [path, "links/soft"]
    // Whole, every option meets every name in every mode, and not only each of them one of the others.
    for (turn, option) in Self.options.enumerated() {
      for (place, name) in names.enumerated() where Sweep.isFull || place == turn % names.count {
        for (mode, more) in [["--dry-run"], ["--no-upload"]].enumerated() where Sweep.isFull || mode == path.count % 2 {
          let finished = try workspace.run(["run", "jobs/nightly.json", option, name] + more)
          #expect(finished.code == 64, "\(option) \(name): \(finished.messages)")
          #expect(finished.messages.contains("\(option): error: '\(name)' is \(words) ("), "\(finished.messages)")
        }
      }
    }
    #expect(try listings() == before)
    #expect(workspace.exists(path) == isThere)
  }

  @Test("Two outputs are not one file, also where it is not there yet; devices may be shared")
  func twoOutputs() throws {
    let workspace = try Workspace()
    symlink("one", "\(workspace.path)/soft")
    let refused = try workspace.run("run", "jobs/nightly.json", "--dry-run", "--events-out", "one", "--summary", "soft")
    #expect(refused.code == 64)
    #expect(refused.messages.contains("--summary: error: 'soft' is --events-out ('one')"), "\(refused.messages)")
    let shared = try workspace.run(
      "run", "jobs/nightly.json", "--dry-run", "--events-out", "/dev/null", "--summary", "/dev/null")
    #expect(shared.code == 0, "\(shared.messages)")
  }

  @Test("What is plain is not named as gzip", arguments: ["o.gz", "o.GZ"])
  func gzip(name: String) throws {
    let workspace = try Workspace()
    for option in Self.options {
      let refused = try workspace.run("run", "jobs/nightly.json", "--no-upload", option, name)
      #expect(refused.code == 64)
      #expect(
        refused.messages.hasSuffix(
          "\(option): error: '\(name)' is named like a gzip file, but the output is not compressed; "
            + "drop '.gz', or pass - and pipe the output into gzip\n"), "\(refused.messages)")
    }
    #expect(!workspace.exists(name) && !workspace.exists("var/nightly.sqlite"))
  }

  @Test("The report of a run and the page over all runs stay; another file may lie beside them")
  func reports() throws {
    let workspace = try Workspace()
    for _ in 0..<2 { #expect(try workspace.run("run", "jobs/nightly.json", "--no-upload").code == 0) }
    let folders = try FileManager.default.contentsOfDirectory(atPath: workspace.path + "/var/reports")
    let run = try #require(folders.first { $0.hasPrefix("nightly-") })
    let taken = [
      ("index.html", "the page of all runs"), ("\(run)/report.html", "the report of a run"),
      ("\(run)/summary.json", "the report of a run"),
    ]
    let before = try workspace.listing()
    for (name, words) in taken {
      let refused = try workspace.run("run", "jobs/nightly.json", "--dry-run", "--summary", "var/reports/\(name)")
      #expect(refused.code == 64)
      #expect(refused.messages.contains("'var/reports/\(name)' is \(words) ("), "\(refused.messages)")
    }
    #expect(try workspace.listing() == before)
    for name in ["newest.json", "\(run)/newest.json", "newest.json"] {
      let taken = try workspace.run("run", "jobs/nightly.json", "--dry-run", "--summary", "var/reports/\(name)")
      #expect(taken.code == 0, "\(taken.messages)")
    }
  }

  @Test("quarantine replay does not write events over its store either")
  func replay() throws {
    let workspace = try workspace()
    let before = try workspace.listing()
    let finished = try workspace.run(
      "quarantine", "replay", "--job", "jobs/nightly.json", "--events-out", "var/nightly.sqlite")
    #expect(finished.code == 64, "\(finished.messages)")
    #expect(try workspace.listing() == before)
  }

  @Test("A file that cannot be written whole leaves what stood there, and no draft")
  func whole() throws {
    let workspace = try Workspace()
    try workspace.write("out", "old")
    let before = try workspace.listing("").filter { !$0.hasPrefix("var") }
    let full = try workspace.shell(
      "ulimit -f 8; \(Workspace.noProfile); exec engage-batch run jobs/nightly.json --dry-run --events-out out",
      environment: [:])
    #expect(full.code == 73, "\(full.messages)")
    #expect(full.messages.contains("out: error: cannot be written: File too large"), "\(full.messages)")
    #expect(try workspace.read("out") == "old")
    #expect(try workspace.listing("").filter { !$0.hasPrefix("var") } == before)
  }

  @Test("A FIFO is written to directly, and one that nobody reads holds nothing up")
  func fifo() throws {
    let workspace = try Workspace()
    let finished = try workspace.shell(
      "mkfifo pipe; cat pipe > got & sleep 0.2; engage-batch run jobs/nightly.json --dry-run --events-out pipe; wait; "
        + "engage-batch run jobs/nightly.json --dry-run --events-out plain; cmp got plain && test -p pipe")
    #expect(finished.code == 0, "\(finished.messages)")
    let alone = try workspace.run("run", "jobs/nightly.json", "--dry-run", "--events-out", "pipe")
    #expect(alone.code == 73)
    #expect(alone.messages.contains("pipe: error: cannot be written: No such device or address"), "\(alone.messages)")
  }

  /// Metrics were renamed over whatever stood there: as root they took the place of a device.
  @Test(
    "What is not a file is never replaced, and what takes nothing is said",
    arguments: ["--events-out", "--summary", "--report", "--junit", "--metrics"])
  func notAFile(option: String) throws {
    let workspace = try Workspace()
    let finished = try workspace.shell(
      "mkfifo pipe; engage-batch run jobs/nightly.json --no-upload \(option) pipe; code=$?; test -p pipe && exit $code")
    #expect(finished.code == 73, "\(finished.messages)")
    #expect(finished.messages.contains("pipe: error: cannot "), "\(finished.messages)")
  }

  @Test(
    "A sandbox that could not keep its state, or whose plan has no end, does not start",
    arguments: [
      ("--state none/state.json", 73, "none/state.json: error: cannot be written: No such file or directory"),
      ("--state pipe", 73, "pipe: error: this is a FIFO, not a sandbox state file; name another file"),
      ("--state .", 73, ".: error: this is a folder, not a sandbox state file; name another file"),
      ("--faults /dev/zero", 74, "/dev/zero: error: cannot read the file: Invalid argument"),
    ])
  func sandboxFiles(option: String, code: Int32, words: String) throws {
    let finished = try Workspace([]).shell(
      "mkfifo pipe; timeout 20 engage-batch sandbox \(option); code=$?; test -p pipe && exit $code")
    #expect(finished.code == code)
    #expect(finished.messages == words + "\n")
  }

  @Test("/dev/stdout is stdout, also where that is a file to which a shell appends")
  func devStdout() throws {
    let workspace = try Workspace()
    let finished = try workspace.shell(
      "echo first > log; engage-batch run jobs/nightly.json --dry-run --summary /dev/stdout >> log; head -n 2 log")
    #expect(finished.lines.first == "first")
    #expect(finished.lines.count == 2)
  }

  @Test("With descriptors 0 to 2 closed no file takes their place")
  func closedDescriptors() throws {
    let workspace = try Workspace()
    let finished = try workspace.shell(
      "engage-batch run jobs/nightly.json --no-upload --events-out - --store s.sqlite <&- >&- 2>&-")
    #expect(finished.code == 0)
    #expect(try workspace.read("s.sqlite.lock") == "")
    #expect(try workspace.run("store", "status", "--store", "s.sqlite").code == 0)
  }

  @Test(
    "Data that does not reach stdout is noticed",
    arguments: [
      "store events --store var/nightly.sqlite", "store status --store var/nightly.sqlite --format json", "--help",
      "config schema", "config show", "quarantine list --store var/nightly.sqlite", "--version",
    ])
  func fullStdout(command: String) throws {
    let workspace = try workspace()
    let finished = try workspace.shell("engage-batch \(command) > /dev/full")
    #expect(finished.code == 73)
    #expect(finished.messages.contains("stdout: error: cannot be written: No space left on device"), "\(finished)")
  }

  @Test("A pipe that is closed ends quietly")
  func closedPipe() throws {
    let workspace = try workspace()
    for command in [
      "store events --store var/nightly.sqlite --format json", "run jobs/nightly.json --dry-run --events-out -",
    ] {
      for reset in ["", "trap '' PIPE; "] {
        let finished = try workspace.shell(
          "{ \(reset)sleep 0.2; engage-batch \(command) 2> words; echo $? > code; } | true; cat code")
        #expect(["0", "141"].contains(finished.lines.first), "\(finished)")
        #expect(try !workspace.read("words").contains("error"))
      }
    }
  }

  @Test(
    "Names of files reach no terminal as they are",
    arguments: [
      ["run", "NAME.json"], ["run", "jobs/own.json"], ["store", "status", "--store", "NAME"],
      ["run", "jobs/nightly.json", "--no-upload", "--store", "NAME"],
      ["run", "jobs/nightly.json", "--dry-run", "--events-out", "NAME/none"],
      ["run", "jobs/nightly.json", "--dry-run", "--events-out", "NAME", "--summary", "./NAME"],
      ["run", "jobs/nightly.json", "--dry-run", "--report", "NAME/none"], ["link", "app://x", "--routes", "NAME"],
      ["sandbox", "--faults", "NAME"], ["config", "show", "--file", "NAME"],
      ["run", "jobs/nightly.json", "--dry-run", "--explain", "@none/NAME"],
    ])
  func fileNames(command: [String]) throws {
    let workspace = try Workspace()
    let name = "a\u{1B}[31m\u{202E}\u{061C}\nFAKE: error"
    try workspace.write(name, "no store, and no configuration")
    try workspace.write("jobs/own.json", #"{"name": "own", "inputs": {"events": ["../none/a\u001b[31m\u202e*"]}}"#)
    let finished = try workspace.run(command.map { $0.replacing("NAME", with: name) })
    #expect(finished.code != 0)
    #expect(!finished.messages.isEmpty)
    for raw in ["\u{1B}", "\u{202E}", "\u{061C}", "\nFAKE"] {
      #expect(!finished.messages.contains(raw), "\(finished.messages)")
    }
  }

  @Test("A job whose name leads elsewhere is refused")
  func nameOfTheJob() throws {
    let workspace = try Workspace()
    for name in ["../own", "/tmp/own", "a/../../own"] {
      try workspace.write("jobs/own.json", #"{"name": "\#(name)", "inputs": {"events": ["../samples/events/*"]}}"#)
      let finished = try workspace.run("run", "jobs/own.json", "--no-upload")
      #expect(finished.code == 78)
      #expect(
        finished.messages.contains(
          "'name' must not begin with '/' or contain '..', because files in the job's folder are named after the job"))
    }
    #expect(!workspace.exists("own.sqlite"))
  }

  @Test("A file of a secret that others can read is told of in every run")
  func secretOfOthers() throws {
    let workspace = try Workspace()
    let path = try workspace.write("secret", "s3cret")
    for (mode, isReported) in [(0o644, true), (0o600, false)] as [(mode_t, Bool)] {
      chmod(path, mode)
      let finished = try workspace.run(
        "run", "jobs/nightly.json", "--no-upload", environment: ["ENGAGE_SECRET_FILE": "secret"])
      #expect(finished.code == 0)
      #expect(
        finished.messages.contains(
          "ENGAGE_SECRET_FILE: warning: other users can read the file 'secret', which contains 'Connection.secret'; "
            + "protect the file with chmod 600") == isReported)
    }
  }

  @Test("Core dumps are off unless they are asked for")
  func coreDumps() throws {
    let workspace = try Workspace([])
    for (environment, hard) in [([:], "0"), (["ENGAGE_CORE_DUMPS": "1"], "unlimited")] as [([String: String], String)] {
      let running = try workspace.start(
        program: "/bin/sh", ["-c", "ulimit -c unlimited; exec \(Checkout.binary) sandbox"], environment: environment)
      var words: [Substring] = []
      // The program is there, and has settled its limits, as soon as the shell's are no longer its own.
      for _ in 0..<500 where words.dropFirst(4).first != Substring(hard) || Self.name(running.process) != "engage-batch"
      {
        usleep(10_000)
        let lines = Self.text("/proc/\(running.process)/limits").split(separator: "\n")
        words = lines.first { $0.hasPrefix("Max core file size") }?.split(separator: " ") ?? []
      }
      #expect(words.dropFirst(4).prefix(2) == [Substring(hard), Substring(hard)])
      running.signal(SIGKILL)
      running.finish()
    }
  }

  /// A FIFO held every connection up, and a module was loaded.
  @Test(
    "What variables of the environment tell OpenSSL has no effect",
    arguments: ["OPENSSL_CONF", "OPENSSL_CONF_INCLUDE", "OPENSSL_MODULES", "OPENSSL_ENGINES", "GCONV_PATH"])
  func variablesOfLibraries(name: String) throws {
    let workspace = try Workspace()
    let finished = try workspace.shell(
      "mkfifo pipe; \(name)=pipe timeout 20 engage-batch run jobs/nightly.json --sandbox")
    #expect(finished.code == 0, "\(finished.messages)")
  }

  @Test("SIGHUP ends a run as SIGTERM does, unless it is ignored")
  func hangUp() throws {
    let workspace = try Workspace()
    var options = EngageSandboxOptions()
    options.server.faults.latencyMilliseconds = 100
    let slow = try Service(options)
    let running = try workspace.start(["run", "jobs/nightly.json"], environment: slow.environment)
    running.waitFor("Identity: reconciling")
    running.signal(SIGHUP)
    #expect(running.finish().code == 143)
    let ignoring = try workspace.start(
      program: "/bin/sh", ["-c", "trap '' HUP; exec \(Checkout.binary) run jobs/nightly.json"],
      environment: slow.environment)
    ignoring.waitFor("Identity: reconciling")
    ignoring.signal(SIGHUP)
    #expect(ignoring.finish().code == 0)
  }

  @Test("Too few descriptors are told of at the start")
  func fewDescriptors() throws {
    let workspace = try Workspace()
    let finished = try workspace.shell("ulimit -n 20; engage-batch run jobs/nightly.json --no-upload")
    #expect(finished.code == 74)
    #expect(
      finished.messages
        == "error: only 20 files may be open at once, but a run needs 64; raise the hard limit with 'ulimit -Hn 64'\n")
    #expect(!workspace.exists("var"))
  }

  private static func name(_ process: pid_t) -> String { text("/proc/\(process)/comm").filter { $0 != "\n" } }

  private static func text(_ path: String) -> String {
    guard let file = fopen(path, "r") else { return "" }
    defer { fclose(file) }
    var bytes = [UInt8](repeating: 0, count: 8192)
    return String(decoding: bytes[..<fread(&bytes, 1, bytes.count, file)], as: UTF8.self)
  }
}
