import TestSupport
import Testing

@Suite("A first job") struct InitTests {
  @Test("It runs by the command that is printed", arguments: [("engage", 6), ("deltadna", 6), ("unity", 6)])
  func runs(platform: String, events: Int) throws {
    let workspace = try Workspace([])
    let made = try workspace.run("init", "my first", "--platform", platform)
    #expect(made.code == 0, "\(made.messages)")
    #expect(made.messages.hasPrefix("Wrote my first/job.json\nWrote my first/config.json\nWrote my first/exports/20"))
    let next = try #require(made.messages.split(separator: "\n").last)
    #expect(next == "To try it: engage-batch run 'my first/job.json' --sandbox")
    let checked = try workspace.run("config", "check", "--job", "my first/job.json")
    #expect(checked.code == (platform == "engage" ? 78 : 0), "\(checked.messages)")
    let run = try workspace.shell("\(next.dropFirst("To try it: ".count)) --summary -")
    #expect(run.code == 0, "\(run.messages)")
    let summary = try Summary(run.output)
    #expect(summary["records.quarantined"] == 0 && summary["records.outOfWindow"] == 0)
    #expect(summary["upload.eventsPosted"] == events)
    #expect(summary["events.total"] == events)
  }

  /// Once, only runs knew that a sandbox needs no list.
  @Test("What a sandbox does not need to be told, nobody asks for", arguments: ["engage", "deltadna", "unity"])
  func sandbox(platform: String) throws {
    let workspace = try Workspace([])
    #expect(try workspace.run("init", "--platform", platform).code == 0)
    let doctor = try workspace.run("doctor", "--job", "job.json", "--sandbox")
    #expect(doctor.code == 0, "\(doctor.messages)")
    let prepared = try workspace.run("service", "prepare", "job.json", "--sandbox")
    #expect(prepared.code == 0, "\(prepared.messages)")
    #expect(try workspace.run("run", "job.json", "--sandbox").code == 0)
    guard platform == "engage" else { return }
    let resumed = try workspace.run("identity", "resume", "--job", "job.json", "--sandbox")
    #expect(resumed.code == 0, "\(resumed.messages)")
  }

  @Test("A run, the doctor, a preparation and a check of the configuration miss the same settings")
  func missing() throws {
    let workspace = try Workspace([])
    #expect(try workspace.run("init").code == 0)
    func names(_ arguments: String...) throws -> [String] {
      let finished = try workspace.run(arguments, environment: ["ENGAGE_CLIENT_ID": "client"])
      #expect(finished.code == 78, "\(arguments) \(finished.messages)")
      return finished.messages.split(separator: "\n").filter { $0.contains("is not set") }.map { line in
        line.split(separator: " ").first { $0.contains(".") && !$0.contains("json") }.map {
          String($0.filter { $0 != "'" })
        } ?? ""
      }
    }
    let missing = ["Connection.baseUrl", "Connection.secret", "Connection.refreshToken", "General.databaseListId"]
    #expect(try names("run", "job.json") == missing)
    #expect(try names("doctor", "--job", "job.json") == missing)
    #expect(try names("service", "prepare", "job.json") == missing)
    #expect(try names("config", "check", "--job", "job.json") == missing)
  }

  @Test(
    "The job has the name of its folder, as a file may have it",
    arguments: [("shop events/", "shop-events"), (".nightly", "nightly"), ("var/..", "here"), ("é", "first")])
  func names(folder: String, name: String) throws {
    let workspace = try Workspace([])
    try workspace.write("here/var/empty", "")
    let made = try workspace.shell("cd here && engage-batch init '\(folder)'")
    #expect(made.code == 0, "\(made.messages)")
    let job = try workspace.read("here/\(folder)/job.json")
    #expect(
      job.contains("\"name\": \"\(name)\",") && job.contains("\"store\": \"var/\(name).sqlite\","), "\(job)")
  }

  @Test("Files that are there stay, and then none is written")
  func overwritesNothing() throws {
    let workspace = try Workspace([])
    try workspace.write("config.json", "mine")
    let made = try workspace.run("init")
    #expect(made.code == 73)
    #expect(made.messages == "config.json: error: cannot be written: File exists\n")
    #expect(try workspace.read("config.json") == "mine")
    #expect(!workspace.exists("job.json") && !workspace.exists("exports"))
  }

  @Test("What is written is its owner's alone")
  func modes() throws {
    let workspace = try Workspace([])
    #expect(try workspace.run("init", "first").code == 0)
    let modes = try workspace.listing().map { $0.split(separator: " ")[1] }
    #expect(Set(modes) == ["40700", "100600"])
  }
}
