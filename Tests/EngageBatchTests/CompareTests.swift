import BatchFoundation
import Testing

/// `compare`: what a job would do otherwise with other settings.
@Suite("Comparisons of settings") struct CompareTests {
  /// Two phones: one is away for seven minutes, the other is not.
  private func workspace() throws -> Workspace {
    let workspace = try Workspace([])
    func line(_ device: String, _ time: String, _ rest: String) -> String {
      #"{"deviceId":"\#(device)","timestamp":"2026-01-01T\#(time)Z","mobileUserId":"u",\#(rest)}"#
    }
    try workspace.write(
      "in.ndjson",
      [
        line("away", "08:00:00", #""type":"launch""#), line("away", "08:01:00", #""type":"background""#),
        line("away", "08:08:00", #""type":"foreground""#), line("away", "08:09:00", #""type":"background""#),
        line("there", "08:00:00", #""type":"launch""#), line("there", "08:01:00", #""type":"background""#),
      ].joined(separator: "\n") + "\n")
    try workspace.write("own.json", #"{"Session": {"sessionLifecycleExpiration": "5 minutes"}}"#)
    try workspace.write(
      "job.json",
      #"{"name": "own", "inputs": {"events": ["in.ndjson"]}, "asOf": "2026-01-02T00:00:00Z", "configuration": ["own.json"], "settings": {"Report": {"personalData": "clear"}}}"#
    )
    return workspace
  }

  private static let longer = ["--with", "Session.sessionLifecycleExpiration=10 minutes"]

  @Test(
    "Figures, events and the devices that change are shown; the store is not touched, and what it has counts for nothing"
  )
  func text() throws {
    let workspace = try workspace()
    #expect(try workspace.run("run", "job.json", "--no-upload").code == 0)
    let before = try workspace.listing()
    let finished = try workspace.run(["compare", "job.json"] + Self.longer)
    #expect(finished.code == 0, "\(finished.messages)")
    #expect(
      finished.lines.map { $0.split(separator: " ").joined(separator: " ") } == [
        "own: what would change, from its inputs alone, as of 2026-01-02T00:00:00.000Z",
        "Session.sessionLifecycleExpiration: 5 minutes -> 10 minutes",
        "In figures before after", "records accepted 6 6", "lines quarantined 0 0",
        "events 8 6 -2", "sessions started 3 2 -1", "sessions ended 3 2 -1", "campaigns set 0 0",
        "campaigns expired 0 0", "identity checks 0 0", "Events by type before after", "installed (code 12) 2 2",
        "session started (code 13) 3 2 -1", "session ended (code 14) 3 2 -1",
        "1 of 2 devices would have different events",
        "away: sessions 2 -> 1, session started (code 13) 2 -> 1, session ended (code 14) 2 -> 1",
      ])
    #expect(try workspace.listing() == before)
  }

  @Test("Another configuration takes the place of the job's; JSON and the page say the same")
  func against() throws {
    let workspace = try workspace()
    try workspace.write("other.json", #"{"Session": {"sessionLifecycleExpiration": "10 minutes"}}"#)
    let finished = try workspace.run(
      "compare", "job.json", "--against", "other.json", "--format", "json", "--html", "page.html")
    #expect(finished.code == 0, "\(finished.messages)")
    let document = try JSONNode.parse(Array(finished.output.utf8))
    #expect(document["changedDevices"]?.integer == 1)
    #expect(
      document["examples"]?.array?.first?.compactText
        == #"{"device":"away","changes":[{"name":"sessions","before":2,"after":1},{"name":"session started (code 13)","before":2,"after":1},{"name":"session ended (code 14)","before":2,"after":1}]}"#
    )
    let page = try workspace.read("page.html")
    #expect(page.contains("<td data-label=\"what differs\">sessions 2 -&gt; 1"))
    #expect(page.contains("something would change"))
  }

  @Test("Settings that change nothing change nothing")
  func same() throws {
    let workspace = try workspace()
    let finished = try workspace.run("compare", "job.json", "--with", "Upload.concurrency=1", "--html", "-")
    #expect(finished.code == 0)
    #expect(finished.output.contains("nothing would change"))
  }

  @Test("Without anything to try it is 64, and a setting that does not exist is 78")
  func wrong() throws {
    let workspace = try workspace()
    #expect(try workspace.run("compare", "job.json").code == 64)
    #expect(try workspace.run("compare", "job.json", "--with", "Session.none=1").code == 78)
  }

  @Test("A setting that the job's destination does not read is said to have none of an effect")
  func unread() throws {
    let workspace = try Workspace()
    func settings(_ job: String, _ setting: String) throws -> (hasEffect: Bool?, text: String) {
      let json = try workspace.run("compare", job, "--with", setting, "--format", "json")
      #expect(json.code == 0, "\(json.messages)")
      let text = try workspace.run("compare", job, "--with", setting)
      return (
        try JSONNode.parse(Array(json.output.utf8))["settings"]?.array?.first?["hasEffect"]?.bool,
        text.lines.count > 1 ? text.lines[1] : ""
      )
    }
    let session = "Session.sessionLifecycleExpiration=10 minutes"
    let ofGame = try settings("jobs/game.json", session)
    #expect(ofGame.hasEffect == false)
    #expect(
      ofGame.text
        == "  Session.sessionLifecycleExpiration: 30 minutes -> 10 minutes (no effect: jobs with this destination do not use it)"
    )
    #expect(try settings("jobs/nightly.json", session).hasEffect == true)
    #expect(try settings("jobs/nightly.json", "DeltaDNA.sessionTimeoutSeconds=1").hasEffect == false)
    #expect(try settings("jobs/game.json", "DeltaDNA.sessionTimeoutSeconds=1").hasEffect == true)
  }

  @Test("Devices have the names that listings of the job's store give them, also of the store that its sandbox filled")
  func names() throws {
    for sandbox in [[], ["--sandbox"]] {
      let workspace = try workspace()
      try workspace.write("job.json", workspace.read("job.json").replacing("clear", with: "hash"))
      #expect(try workspace.run(["run", "job.json", "--no-upload"] + sandbox).code == 0)
      let listed = try workspace.run(["store", "sessions", "--job", "job.json", "--format", "json"] + sandbox)
      let known = try JSONNode.parse(Array(listed.output.utf8)).array?.compactMap { $0["device"]?.string } ?? []
      let compared = try workspace.run(["compare", "job.json", "--format", "json"] + Self.longer)
      #expect(compared.code == 0, "\(compared.messages)")
      let example = try JSONNode.parse(Array(compared.output.utf8))["examples"]?.array?.first?["device"]?.string
      #expect(known.count == 2 && known.contains(example ?? ""), "\(listed.output) \(compared.output)")
    }
  }

  @Test("Of a game the events that the checks would quarantine are figures, and what only Engage has is left out")
  func figuresOfGames() throws {
    let finished = try Workspace().run(
      "compare", "jobs/game.json", "--with", "DeltaDNA.onInvalid=send", "--format", "json")
    #expect(finished.code == 0, "\(finished.messages)")
    let figures = try JSONNode.parse(Array(finished.output.utf8))["figures"]?.array ?? []
    #expect(
      figures.map { $0.compactText } == [
        #"{"name":"records accepted","before":20,"after":20}"#, #"{"name":"lines quarantined","before":0,"after":0}"#,
        #"{"name":"events","before":23,"after":24}"#, #"{"name":"events quarantined","before":1,"after":0}"#,
        #"{"name":"sessions started","before":4,"after":4}"#, #"{"name":"sessions ended","before":2,"after":2}"#,
      ])
  }

  @Test("Attributes alone are a difference too; games compare by their own sessions")
  func attributes() throws {
    let workspace = try Workspace()
    let finished = try workspace.run(
      "compare", "jobs/game.json", "--with", "DeltaDNA.clientVersion=9", "--with", "DeltaDNA.sessionTimeoutSeconds=1")
    #expect(finished.code == 0, "\(finished.messages)")
    #expect(finished.output.contains("would have different events"))
  }
}
