import BatchFoundation
import FoundationEssentials
import Glibc
import TestSupport
import Testing

/// What a run tells schedulers and collectors.
@Suite("Logs and metrics of a run") struct LogTests {
  static let run = ["run", "jobs/nightly.json", "--sandbox"]

  @Test("With --quiet a run that ends well says nothing")
  func quietSuccess() throws {
    let workspace = try Workspace()
    let run = try workspace.run(Self.run + ["--quiet", "--summary", "-"])
    #expect(run.code == 0)
    #expect(run.messages == "")
    #expect(try Summary(run.output)["records.read"] == 36)
  }

  @Test("With --quiet a run that fails says everything, in order")
  func quietFailure() throws {
    let workspace = try Workspace()
    let run = try workspace.run(Self.run + ["--quiet", "--max-quarantine", "0"])
    #expect(run.code == 65)
    let words = ["Sandbox: listening on", "nightly: ", "  records    36 read", "To do"]
    let places = words.map { run.messages.firstRange(of: $0)?.lowerBound }
    #expect(places.allSatisfy { $0 != nil })
    #expect(places.compactMap { $0 } == places.compactMap { $0 }.sorted())
    let unread = try workspace.run("run", "jobs/absent.json", "--quiet")
    #expect(unread.code == 78)
    #expect(unread.messages.hasPrefix("jobs/absent.json: error: cannot be read: "))
  }

  @Test("A log in JSON is an object a line, the last one with the figures")
  func json() throws {
    let workspace = try Workspace()
    try workspace.write("samples/events/2026-01-15-more.ndjson", "")
    let run = try workspace.run(
      Self.run + ["--log-format", "json", "--set", "Connection.secret=s", "--summary", "summary.json"])
    #expect(run.code == 0)
    let lines = try run.messages.split(separator: "\n").map { try JSONNode.parse(Array($0.utf8)) }
    for line in lines {
      #expect(line.members?.prefix(3).map(\.key) == ["time", "level", "message"])
      #expect(line["time"]?.string?.utf8.count == 24)
    }
    #expect(lines.first?["level"]?.string == "warning")
    #expect(lines.dropFirst().allSatisfy { $0["level"]?.string == "info" })
    #expect(lines.last?["message"]?.string?.hasPrefix("nightly: done with findings in ") == true)
    #expect(lines.last?["summary"]?["records"]?["read"]?.integer == 36)
    #expect(lines.dropLast().allSatisfy { $0["summary"] == nil })
    #expect(lines.last?["job"]?.string == "nightly" && lines.last?["exit"]?.integer == 0)
    #expect(lines.last?["run"]?.integer == 1)
  }

  @Test(
    "However a run ends, the last line of a log in JSON has its exit code",
    arguments: [
      (["jobs/absent.json"], 78, nil, "ended with exit code 78, configuration error"),
      (["jobs/nightly.json", "--max-quarantine", "0"], 65, "nightly", "nightly: the input was refused (exit code 65)"),
      (["gone.json"], 66, "gone", "gone: ended with exit code 66, no input"),
    ] as [([String], Int64, String?, String)])
  func jsonOfAFailure(arguments: [String], exit: Int64, job: String?, words: String) throws {
    let workspace = try Workspace()
    try workspace.write("gone.json", #"{"name": "gone", "inputs": {"events": ["gone/*.ndjson"]}}"#)
    let run = try workspace.run(["run"] + arguments + ["--sandbox", "--log-format", "json"])
    #expect(run.code == Int32(exit))
    let last = try JSONNode.parse(Array((run.messages.split(separator: "\n").last ?? "").utf8))
    #expect(last["message"]?.string?.hasPrefix(words) == true, "\(run.messages)")
    #expect(last["level"]?.string == "error" && last["exit"]?.integer == exit && last["job"]?.string == job)
  }

  @Test("With --log-times each line begins with the time")
  func times() throws {
    let workspace = try Workspace()
    let run = try workspace.run("validate", "jobs/game.json", "--log-times")
    for line in run.messages.split(separator: "\n") {
      #expect(line.firstMatch(of: #/^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d\d\dZ /#) != nil, "\(line)")
    }
  }

  /// The lines of the file that hold figures, without times and the duration.
  static func figures(_ text: String) -> [String] {
    text.split(separator: "\n").map(String.init).filter {
      !$0.hasPrefix("#") && !$0.contains("_seconds{")
    }
  }

  /// The lines of a night's state, of which one is 1.
  private static func night(_ state: String) -> String {
    ["done", "done with findings", "missed", "no input", "refused", "failed"].map {
      #"engage_batch_night{job="nightly",state="\#($0)"} \#($0 == state ? 1 : 0)"#
    }.joined(separator: "\n")
  }

  @Test("The figures for Prometheus are those of the run, and whole")
  func metrics() throws {
    let workspace = try Workspace()
    #expect(try workspace.run(Self.run + ["--metrics", "m.prom"]).code == 0)
    let text = try workspace.read("m.prom")
    #expect(
      Self.figures(text).joined(separator: "\n") == """
        engage_batch_run_exit_code{job="nightly"} 0
        \(Self.night("done with findings"))
        engage_batch_run_records{job="nightly",result="accepted"} 33
        engage_batch_run_records{job="nightly",result="duplicate"} 1
        engage_batch_run_records{job="nightly",result="out_of_window"} 0
        engage_batch_run_records{job="nightly",result="forgotten"} 0
        engage_batch_run_records{job="nightly",result="quarantined"} 2
        engage_batch_run_quarantined{job="nightly",reason="invalid-json"} 1
        engage_batch_run_quarantined{job="nightly",reason="invalid-timestamp"} 1
        engage_batch_run_events{job="nightly",code="12"} 3
        engage_batch_run_events{job="nightly",code="13"} 10
        engage_batch_run_events{job="nightly",code="14"} 7
        engage_batch_run_events{job="nightly",code="15"} 1
        engage_batch_run_events{job="nightly",code="16"} 2
        engage_batch_run_events{job="nightly",code="17"} 8
        engage_batch_run_events{job="nightly",code="48"} 4
        engage_batch_run_events{job="nightly",code="49"} 1
        engage_batch_run_events{job="nightly",code="95"} 1
        engage_batch_devices{job="nightly",did="new"} 5
        engage_batch_devices{job="nightly",did="returning"} 0
        engage_batch_devices{job="nightly",did="used"} 5
        engage_batch_devices{job="nightly",did="received"} 3
        engage_batch_devices{job="nightly",did="opened"} 1
        engage_batch_devices{job="nightly",did="sessions"} 5
        engage_batch_devices{job="nightly",did="sessionsWithoutUse"} 0
        engage_batch_devices{job="nightly",did="goals"} 2
        engage_batch_run_uploaded_events{job="nightly",outcome="posted"} 37
        engage_batch_run_uploaded_events{job="nightly",outcome="failed"} 0
        engage_batch_run_uploaded_events{job="nightly",outcome="pending"} 0
        engage_batch_run_uploaded_events{job="nightly",outcome="unknown"} 0
        engage_batch_run_requests{job="nightly",attempt="first"} 1
        engage_batch_run_requests{job="nightly",attempt="repeated"} 0
        engage_batch_run_identities{job="nightly",result="checked"} 3
        engage_batch_run_identities{job="nightly",result="created"} 5
        engage_batch_run_identities{job="nightly",result="updated"} 2
        engage_batch_run_identities{job="nightly",result="merged"} 2
        engage_batch_run_identities{job="nightly",result="conflict"} 0
        engage_batch_run_identities{job="nightly",result="refused"} 0
        engage_batch_run_warnings{job="nightly",kind="unreadable-expiration"} 1
        engage_batch_missed_windows{job="nightly"} 0
        engage_batch_run_possible_duplicates{job="nightly"} 0
        engage_batch_store_events{job="nightly",status="SUCCESSFULLY_POSTED"} 37
        """)
    for line in text.split(separator: "\n") where !line.hasPrefix("#") {
      let name = line.prefix { $0 != "{" }
      #expect(text.contains("# HELP \(name) ") && text.contains("# TYPE \(name) gauge\n"), "\(name)")
    }
  }

  @Test("A run that fails keeps when the last one ended well, and the file its rights")
  func metricsOfFailures() throws {
    let workspace = try Workspace()
    #expect(try workspace.run(Self.run + ["--metrics", "m.prom"]).code == 0)
    let success = try #require(try Self.success(workspace))
    chmod(workspace.path + "/m.prom", 0o644)
    try workspace.remove("samples")
    #expect(try workspace.run("run", "jobs/nightly.json", "--no-upload", "--metrics", "m.prom").code == 78)
    #expect(try Self.success(workspace) == success)
    let job = #"{"name": "nightly", "inputs": {"events": ["none"]}}"#
    try workspace.write("jobs/none.json", job)
    #expect(try workspace.run("run", "jobs/none.json", "--no-upload", "--metrics", "m.prom").code == 66)
    #expect(try Self.success(workspace) == success)
    #expect(
      Self.figures(try workspace.read("m.prom")).joined(separator: "\n") == """
        engage_batch_run_exit_code{job="nightly"} 66
        \(Self.night("no input"))
        engage_batch_missed_windows{job="nightly"} 0
        """)
    #expect(try workspace.listing().contains { $0.hasPrefix("m.prom 100644 ") })
  }

  @Test("Where metrics cannot be written the work is kept, and said once", arguments: [[], ["--max-quarantine", "0"]])
  func unwritable(options: [String]) throws {
    let workspace = try Workspace()
    let run = try workspace.run(Self.run + ["--metrics", "none/m.prom"] + options)
    #expect(run.code == (options.isEmpty ? 73 : 65))
    let words = "none/m.prom: error: cannot be written: No such file or directory"
    #expect(run.messages.split(separator: words, omittingEmptySubsequences: false).count == 2, "\(run.messages)")
    #expect(run.messages.contains("  records    36 read"))
  }

  private static func success(_ workspace: Workspace) throws -> Substring? {
    try workspace.read("m.prom").split(separator: "\n").first {
      $0.hasPrefix("engage_batch_last_success_time_seconds{")
    }
    .map { $0 }
  }
}
