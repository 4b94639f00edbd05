import BatchFoundation
import FoundationEssentials
import TestSupport
import Testing

/// Data goes to stdout and words for people to stderr, for the commands that only look.
@Suite("Commands that look") struct CommandTests {
  @Test("config show has the value of every layer, and no secret")
  func show() throws {
    let workspace = try Workspace()
    let found = try workspace.run(
      "config", "show", "--job", "jobs/backfill.json", "--set", "Upload.concurrency=5",
      environment: ["ENGAGE_SECRET": "canary-secret", "ENGAGE_LIST_ID": "4711"])
    #expect(found.code == 0, "\(found.messages)")
    #expect(found.lines.contains("Upload.concurrency = 5"))
    #expect(found.lines.contains("Upload.onUnknown = hold"))
    #expect(found.lines.contains("General.databaseListId = 4711"))
    #expect(found.lines.contains("Connection.secret = <redacted>"))
    #expect(!(found.output + found.messages).contains("canary-secret"))
    let json = try workspace.run("config", "show", "--job", "jobs/backfill.json", "--format", "json")
    #expect(try JSONNode.parse(Array(json.output.utf8)).members?.isEmpty == false)
  }

  @Test("config explain has the whole chain with file and line")
  func explain() throws {
    let workspace = try Workspace()
    let found = try workspace.run(
      "config", "explain", "Upload.concurrency", "--job", "jobs/backfill.json", "--set", "Upload.concurrency=5")
    #expect(found.code == 0, "\(found.messages)")
    #expect(found.output.contains("jobs/backfill.json:7"), "\(found.output)")
    #expect(found.output.contains("--set"))
    let secret = try workspace.run(
      "config", "explain", "Connection.secret", "--job", "jobs/backfill.json",
      environment: ["ENGAGE_SECRET": "canary-secret"])
    #expect(secret.code == 0)
    #expect(secret.output.contains("<redacted>"))
    #expect(!(secret.output + secret.messages).contains("canary-secret"))
  }

  @Test("config check names file, line and the nearest key")
  func check() throws {
    let workspace = try Workspace()
    try workspace.write("bad.json", "{\n  \"Session\": {\"sessionLifecycleExpiraton\": \"5 minutes\"}\n}\n")
    let found = try workspace.run("config", "check", "--file", "bad.json")
    #expect(found.code == 78)
    #expect((found.output + found.messages).contains("bad.json:2"))
    #expect((found.output + found.messages).contains("did you mean 'Session.sessionLifecycleExpiration'?"))
    #expect(try workspace.run("config", "check", "--job", "jobs/nightly.json").code == 0)
  }

  @Test("config schema prints what is shipped")
  func schema() throws {
    let workspace = try Workspace()
    let found = try workspace.run("config", "schema")
    #expect(found.code == 0)
    #expect(found.output == (try workspace.read("configs/EngageConfig.schema.json")))
  }

  @Test("expiration prints the expiry")
  func expiration() throws {
    let workspace = try Workspace([])
    let found = try workspace.run("expiration", "1 day 12 hours", "--from", "2026-01-15T08:00:00Z")
    #expect(found.code == 0, "\(found.messages)")
    #expect(found.output.contains("2026-01-16T20:00:00"), "\(found.output)")
  }

  @Test("link prints which route matched")
  func link() throws {
    let workspace = try Workspace()
    let found = try workspace.run(
      "link", "player://test/5?CurrentCampaign=spring", "--routes", "configs/MobileDeepLinkingConfig.json")
    #expect(found.code == 0, "\(found.messages)")
    #expect(found.output.contains("spring"), "\(found.output)")
  }

  @Test("Help and version", arguments: [["--help"], ["--version"], ["help", "run"], ["run", "--help"]])
  func help(arguments: [String]) throws {
    let found = try Workspace([]).run(arguments)
    #expect(found.code == 0)
    #expect(!found.output.isEmpty)
    #expect(found.messages.isEmpty)
  }

  @Test("A pipe that nobody reads any more does not bring the program down without a word")
  func closedPipe() throws {
    let workspace = try Workspace()
    let found = try workspace.start(
      program: "/bin/bash",
      ["-c", "\"$0\" run jobs/nightly.json --dry-run --events-out - | true; echo ${PIPESTATUS[0]}", Checkout.binary]
    ).finish()
    #expect(["73\n", "0\n"].contains(found.output), "\(found.output)\(found.messages)")
  }
}
