import BatchFoundation
import BatchSandbox
import FoundationEssentials
import LoopbackServer
import Testing

/// A store belongs to one destination (reference decisions 31).
@Suite("Stores and their destinations") struct StoreDestinationTests {
  @Test("78: a store whose events went to one address is not used for another, and both are named")
  func otherAddress() throws {
    let workspace = try Workspace()
    let (first, second) = (try Service(), try Service())
    #expect(try workspace.run("run", "jobs/nightly.json", environment: first.environment).code == 0)
    // Runs that are refused leave a report.
    func kept() throws -> Int { try workspace.listing("var").count { !$0.hasPrefix("reports") } }
    let before = try kept()
    for command in [
      ["run", "jobs/nightly.json"], ["run", "jobs/nightly.json", "--dry-run"],
      ["run", "jobs/nightly.json", "--no-upload"], ["validate", "jobs/nightly.json"], ["post", "jobs/nightly.json"],
      ["run", "jobs/nightly.json", "--sandbox", "--store", "var/nightly.sqlite"],
      ["identity", "resume", "--store", "var/nightly.sqlite", "--job", "jobs/nightly.json"],
      ["doctor", "--job", "jobs/nightly.json"],
    ] {
      let refused = try workspace.run(command, environment: second.environment)
      #expect(refused.code == 78, "\(command): \(refused.messages)")
      #expect(refused.messages.contains(first.server.baseURL), "\(refused.messages)")
      let given = command.contains("--sandbox") ? "engage at the sandbox" : second.server.baseURL
      #expect(refused.messages.contains(given), "\(refused.messages)")
    }
    #expect(second.server.totals.eventsApplied == 0)
    #expect(second.server.totals.operations["AddRecipient"] == nil)
    #expect(try kept() == before)
  }

  @Test("78: another list at the same address is another destination")
  func otherList() throws {
    let workspace = try Workspace()
    let service = try Service()
    #expect(try workspace.run("run", "jobs/nightly.json", environment: service.environment).code == 0)
    let refused = try workspace.run(
      "run", "jobs/nightly.json", "--set", "General.databaseListId=7", environment: service.environment)
    #expect(refused.code == 78)
    #expect(refused.messages.contains("list 100001, but this command is for"), "\(refused.messages)")
    #expect(refused.messages.contains("list 7;"), "\(refused.messages)")
  }

  @Test("78: a store whose events went to one Collect is not used for another, and both are named")
  func otherCollect() throws {
    let workspace = try Workspace()
    let (first, second) = (try Self.collect(), try Self.collect())
    func run(_ server: LoopbackServer) throws -> Finished {
      try workspace.run(
        "run", "jobs/game.json", "--set", "DeltaDNA.collectURL=http://127.0.0.1:\(server.port)/collect/api", "--set",
        "DeltaDNA.environmentKey=key", "--set", "DeltaDNA.oldestEvent=3650 days", "--set",
        "DeltaDNA.sessionConfiguration=",
        "--summary", "-")
    }
    let sent = try run(first)
    #expect(sent.code == 0, "\(sent.messages)")
    #expect(try Summary(sent.output)["upload.eventsPosted"] > 0)
    let refused = try run(second)
    #expect(refused.code == 78, "\(refused.messages)")
    for server in [first, second] {
      #expect(refused.messages.contains("127.0.0.1:\(server.port)"), "\(refused.messages)")
    }
    #expect(second.arrivals.isEmpty)
  }

  /// Takes everything.
  private static func collect() throws -> LoopbackServer {
    try LoopbackServer { connection in
      while connection.readRequest() != nil { connection.answer(204) }
    }
  }

  @Test("An address in another spelling is the same destination")
  func spelling() throws {
    let workspace = try Workspace()
    let service = try Service()
    #expect(try workspace.run("run", "jobs/nightly.json", environment: service.environment).code == 0)
    var environment = service.environment
    environment["ENGAGE_BASE_URL"] = "HTTP://127.0.0.1:\(service.server.port)//"
    let again = try workspace.run("run", "jobs/nightly.json", environment: environment)
    #expect(again.code == 0, "\(again.messages)")
  }

  @Test(
    "What was kept without an address is bound by the first run that knows one; a slip before anything went is put right"
  )
  func boundLate() throws {
    let workspace = try Workspace()
    let service = try Service()
    #expect(try workspace.run("run", "jobs/nightly.json", "--no-upload").code == 0)
    func destination() throws -> String? {
      let status = try workspace.run("store", "status", "--store", "var/nightly.sqlite", "--format", "json")
      return try Summary(status.output).document["destination"]?.string
    }
    #expect(try destination() == "engage, list 100001")
    var slip = service.environment
    slip["ENGAGE_BASE_URL"] = "http://127.0.0.1:1"
    let failed = try workspace.run(["post", "jobs/nightly.json"] + ServiceExitCodeTests.hasty, environment: slip)
    #expect(failed.code == 69)
    #expect(try destination() == "engage at http://127.0.0.1:1, list 100001")
    let sent = try workspace.run("post", "jobs/nightly.json", environment: service.environment)
    #expect(sent.code == 0, "\(sent.messages)")
    #expect(try destination() == "engage at \(service.server.baseURL), list 100001")
    #expect(service.server.totals.eventsApplied == 37)
  }

  @Test("A store is moved on purpose: what was posted is not sent again, and the next run goes to the new address")
  func rebind() throws {
    let workspace = try Workspace()
    let (first, second) = (try Service(), try Service())
    #expect(try workspace.run("run", "jobs/nightly.json", environment: first.environment).code == 0)
    let refused = try workspace.run("run", "jobs/nightly.json", environment: second.environment)
    // The command that the refusal prints is run as it is printed.
    let remedy = "to bind this store to that destination: "
    let command = try #require(refused.messages.split(separator: remedy).last).split(separator: "\n")[0]
    let moved = try workspace.shell(String(command), environment: second.environment)
    #expect(moved.code == 0, "\(moved.messages)")
    #expect(moved.messages.contains("belonged to engage at \(first.server.baseURL), list 100001"))
    #expect(moved.messages.contains("now belongs to engage at \(second.server.baseURL), list 100001"))
    #expect(
      moved.messages.contains(
        "37 posted events will not be sent again; 0 pending events are to be sent to the new destination"))
    let next = try workspace.run("run", "jobs/nightly.json", environment: second.environment)
    #expect(next.code == 0, "\(next.messages)")
    #expect(second.server.totals.eventsApplied == 0)
    #expect(try workspace.run("run", "jobs/nightly.json", environment: first.environment).code == 78)
    let unknown = try workspace.run("store", "rebind", "--store", "var/nightly.sqlite", "--job", "jobs/nightly.json")
    #expect(unknown.code == 78)
    #expect(unknown.messages.contains("has no address to which the store could be bound"))
  }

  @Test("The store of a sandbox is moved by its own name, and takes the sandbox's runs")
  func rebindSandbox() throws {
    let workspace = try Workspace()
    #expect(try workspace.run("run", "jobs/nightly.json", "--sandbox").code == 0)
    let list = ["--set", "General.databaseListId=7"]
    #expect(try workspace.run(["run", "jobs/nightly.json", "--sandbox"] + list).code == 78)
    let moved = try workspace.run(["store", "rebind", "jobs/nightly.json", "--sandbox"] + list)
    #expect(moved.code == 0, "\(moved.messages)")
    #expect(
      moved.messages.hasPrefix(
        "the store belonged to engage at the sandbox, list 100001 and now belongs to engage at the sandbox, list 7\n"),
      "\(moved.messages)")
    let next = try workspace.run(["run", "jobs/nightly.json", "--sandbox"] + list)
    #expect(next.code == 0, "\(next.messages)")
  }

  @Test("The sandbox has a store of its own: the real run afterwards sends everything")
  func sandboxHasItsOwn() throws {
    let workspace = try Workspace()
    let demo = try workspace.run("run", "jobs/nightly.json", "--sandbox", "--summary", "-")
    #expect(demo.code == 0, "\(demo.messages)")
    #expect(!workspace.exists("var/nightly.sqlite"))
    #expect(workspace.exists("var/nightly.sandbox.sqlite"))
    #expect(demo.messages.contains("quarantine list --store \(workspace.path)/var/nightly.sandbox.sqlite"))
    let service = try Service()
    let real = try workspace.run("run", "jobs/nightly.json", environment: service.environment)
    #expect(real.code == 0, "\(real.messages)")
    #expect(service.server.totals.eventsApplied == 37)
    let again = try workspace.run("run", "jobs/nightly.json", "--sandbox", "--summary", "-")
    #expect(try Summary(again.output)["records.duplicates"] == 34)
    let dry = try workspace.run("run", "jobs/nightly.json", "--sandbox", "--dry-run", "--summary", "-")
    #expect(try Summary(dry.output)["records.duplicates"] == 34)
  }

  @Test("A repeated run finds the recipients of the sandbox that an earlier one left; a store that is gone begins anew")
  func sandboxKeepsItsState() throws {
    let workspace = try Workspace()
    #expect(try workspace.run("run", "jobs/nightly.json", "--sandbox").code == 0)
    let more =
      #"{"deviceId":"A1F0C9D2-0001","timestamp":"2026-01-15T23:59:00Z","type":"identify","ids":{"customer_id":"c-1001"}}"#
    try workspace.write("samples/events/more.ndjson", more + "\n")
    let next = try workspace.run("run", "jobs/nightly.json", "--sandbox", "--summary", "-")
    #expect(next.code == 0, "\(next.messages)")
    let summary = try Summary(next.output)
    #expect(summary["identity.checks"] == 1)
    #expect(summary["identity.created"] == 0)
    #expect(summary["identity.conflicts"] == 0)
    try workspace.remove("var/nightly.sandbox.sqlite")
    let anew = try workspace.run("run", "jobs/nightly.json", "--sandbox", "--summary", "-")
    #expect(anew.code == 0, "\(anew.messages)")
    #expect(try Summary(anew.output)["identity.created"] == 5)
  }

  @Test("With --store the sandbox uses that store", arguments: [["--no-upload"], []])
  func sandboxWithStore(upload: [String]) throws {
    let workspace = try Workspace()
    let run = try workspace.run(["run", "jobs/nightly.json", "--sandbox", "--store", "mine"] + upload)
    #expect(run.code == 0, "\(run.messages)")
    #expect(workspace.exists("mine"))
    #expect(!workspace.exists("var/nightly.sqlite"))
    #expect(!workspace.exists("var/nightly.sandbox.sqlite"))
    let post = try workspace.run("post", "jobs/nightly.json", "--sandbox", "--store", "mine")
    #expect(post.code == 0, "\(post.messages)")
    let status = try workspace.run("store", "status", "--store", "mine", "--format", "json")
    #expect(status.output.contains(#""SUCCESSFULLY_POSTED": 37"#))
  }
}
