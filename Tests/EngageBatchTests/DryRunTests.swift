import BatchSandbox
import FoundationEssentials
import TestSupport
import Testing

@Suite("Dry runs") struct DryRunTests {
  @Test("They change nothing, with and without a store", arguments: ["run", "validate"], [false, true])
  func changeNothing(command: String, hasStore: Bool) throws {
    let workspace = try Workspace()
    let service = try Service()
    if hasStore {
      #expect(try workspace.run("run", "jobs/nightly.json", environment: service.environment).code == 0)
    }
    let connections = service.server.totals.connections
    let before = try workspace.listingWithoutReports()
    let arguments = command == "run" ? ["run", "jobs/nightly.json", "--dry-run"] : ["validate", "jobs/nightly.json"]
    let finished = try workspace.run(arguments + ["--events-out", "-"], environment: service.environment)
    #expect(finished.code == (command == "run" ? 0 : 65))
    #expect(finished.lines.count == (hasStore ? 0 : 37))
    #expect(try workspace.listingWithoutReports() == before)
    #expect(service.server.totals.connections == connections)
  }

  @Test("They open no socket and make no file")
  func systemCalls() throws {
    let workspace = try Workspace()
    let finished = try workspace.start(
      program: "/usr/bin/strace",
      [
        "-f", "-qq", "-e", "trace=socket,connect,bind,openat,mkdir,mkdirat,unlink,unlinkat,rename,renameat2,ftruncate",
        "-o", "trace.txt", Checkout.binary, "run", "jobs/nightly.json", "--dry-run", "--sandbox", "--events-out", "-",
      ]
    ).finish()
    // Where a container forbids it, it has to be allowed: `--cap-add SYS_PTRACE`.
    try #require(finished.code == 0, "\(finished.messages)")
    let calls = try workspace.read("trace.txt").split(separator: "\n")
    let lines = calls.filter { !$0.contains("= -1 ENOENT") && !$0.contains("= -1 EEXIST") }
    #expect(lines.filter { $0.contains("socket(") || $0.contains("connect(") || $0.contains("bind(") } == [])
    // A spool for what does not fit into memory has no name, or one that is gone at once.
    // Nor is the profile counted that a measurement of coverage writes.
    let changes = lines.filter { line in
      ["O_CREAT", "mkdir", "unlink", "rename"].contains { line.contains($0) } && !line.contains("/tmp")
        && !line.contains("/var") && !line.contains(".profraw")
    }
    #expect(changes == [])
  }

  @Test("They count the events that a run would hold, with the reason")
  func held() throws {
    let workspace = try Workspace([])
    try workspace.write(
      "job.json",
      #"{"name": "n", "asOf": "2026-01-05T10:05:10Z", "inputs": {"events": ["in.ndjson"]}, "settings": {"Recipient": {"enableAutoAnonymousTracking": false}}}"#
    )
    try workspace.write(
      "in.ndjson",
      [
        #"{"deviceId":"a","timestamp":"2026-01-05T08:00:00Z","type":"location","latitude":1,"longitude":1}"#,
        #"{"deviceId":"a","timestamp":"2026-01-05T10:05:00Z","type":"namedEvent","name":"x","mobileUserId":"m"}"#,
        #"{"deviceId":"b","timestamp":"2026-01-05T09:05:00Z","type":"launch"}"#,
      ].joined(separator: "\n"))
    let run = try workspace.run("run", "job.json", "--dry-run")
    #expect(run.code == 0)
    for line in [
      "  held       2 events until a record names the device's mobile user id\n",
      "  held       2 events until a location or placemark arrives or Augmentation.augmentationTimeout is over\n",
    ] { #expect(run.messages.contains(line), "\(run.messages)") }
  }

  @Test("They print what a run without identity checks sends, byte for byte")
  func printWhatIsSent() throws {
    let workspace = try Workspace()
    let service = try Service()
    let settings = ["--set", "Recipient.enableAutoAnonymousTracking=false"]
    let job = try workspace.read("jobs/nightly.json").replacing("\"identity\": true", with: "\"identity\": false")
    try workspace.write("jobs/events.json", job)
    let dry = try workspace.run(["run", "jobs/events.json", "--dry-run", "--events-out", "-"] + settings)
    #expect(dry.code == 0, "\(dry.messages)")
    let real = try workspace.run(
      ["run", "jobs/events.json", "--events-out", "-"] + settings, environment: service.environment)
    #expect(real.code == 0, "\(real.messages)")
    #expect(dry.output == real.output)
    #expect(dry.lines.count == 29)
    #expect(service.events == dry.lines.sortedByBytes)
  }

  @Test("--explain tells of a device's records with file and line")
  func explain() throws {
    let workspace = try Workspace()
    let finished = try workspace.run("run", "jobs/nightly.json", "--dry-run", "--explain", "A1F0C9D2-0002")
    #expect(finished.code == 0)
    #expect(finished.output.contains("samples/deep-links/2026-01-15.ndjson:1"))
    #expect(!finished.output.contains("samples/events/2026-01-15-android.ndjson:1:"))
  }
}
