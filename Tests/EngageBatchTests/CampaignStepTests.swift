import BatchFoundation
import TestSupport
import Testing

/// The devices of a run and the steps of its campaigns, each device once.
@Suite("Devices and steps of campaigns") struct CampaignStepTests {
  private static let job = """
    {"name": "steps", "inputs": {"events": ["in/*.ndjson"]}, "asOf": "2026-01-20T00:00:00Z", "store": "store.sqlite"}
    """

  private static func push(_ device: String, _ time: String, _ type: String, _ campaign: String) -> String {
    PeopleTests.record(
      device, time, "u",
      #""type":"\#(type)","payload":{"CurrentCampaign":"\#(campaign)","CampaignValidFor":"10 days"}"#)
  }

  private static func goal(_ device: String, _ time: String) -> String {
    PeopleTests.record(device, time, "u", #""type":"goalCompleted","name":"buy""#)
  }

  private static func reach(_ summary: Summary, _ step: String) -> String {
    "\(summary["people.\(step).events"]) by \(summary["people.\(step).devices"])"
  }

  /// The steps of a campaign in report.json, such as `2 by 1` for two events of one device.
  private func steps(_ workspace: Workspace, _ campaign: String) throws -> [String] {
    let report = try workspace.run("report", "--store", "store.sqlite", "--format", "json").output
    let campaigns = try JSONNode.parse(Array(report.utf8))["activity"]?["campaigns"]?.array ?? []
    let steps = try #require(campaigns.first { $0["name"]?.string == campaign }?["steps"])
    return ["received", "opened", "sessions", "goals"].map { step in
      "\(steps[step]?["events"]?.integer ?? -1) by \(steps[step]?["devices"]?.integer ?? -1)"
    }
  }

  @Test("A device counts once for each step of each campaign, and as new only in the first run")
  func nights() throws {
    let workspace = try Workspace([])
    try workspace.write("job.json", Self.job)
    try workspace.write(
      "in/1.ndjson",
      Self.push("a", "10T08:00", "pushReceived", "spring") + Self.push("a", "10T08:01", "notificationOpened", "spring")
        + Self.push("a", "10T09:00", "notificationOpened", "spring") + Self.goal("a", "10T09:01")
        + Self.push("b", "10T08:00", "pushReceived", "spring") + Self.push("c", "10T08:00", "pushReceived", "summer")
        + PeopleTests.record("d", "10T08:00", "u"))
    let first = try workspace.run("run", "job.json", "--no-upload", "--summary", "-", "--metrics", "metrics")
    #expect(first.code == 0, "\(first.messages)")
    let summary = try Summary(first.output)
    #expect(summary["people.devices"] == 4 && summary["people.new"] == 4 && summary["people.returning"] == 0)
    // A notification that arrives is no use of the app.
    #expect(summary["people.used"] == 2 && summary["people.sessionsWithoutUse"] == 2)
    #expect(Self.reach(summary, "withoutCampaign.sessions") == "1 by 1")
    #expect(Self.reach(summary, "withoutCampaign.opened") == "0 by 0")
    #expect(["received", "opened", "goals"].map { Self.reach(summary, $0) } == ["3 by 3", "2 by 1", "1 by 1"])
    #expect(try steps(workspace, "spring") == ["2 by 2", "2 by 1", "3 by 2", "1 by 1"])
    #expect(try steps(workspace, "summer") == ["1 by 1", "0 by 0", "1 by 1", "0 by 0"])
    let firstPage = try workspace.run("report", "--store", "store.sqlite", "--format", "html").output
    for text in ["1 device (1 of 2, 50%)", "<th scope=\"row\">no campaign</th>", "of these, did not use the app"] {
      #expect(firstPage.contains(text), "\(firstPage)")
    }
    let metrics = try workspace.read("metrics")
    for line in [
      "new\"} 4", "returning\"} 0", "used\"} 2", "received\"} 3", "opened\"} 1", "sessions\"} 4",
      "sessionsWithoutUse\"} 2", "goals\"} 1",
    ] {
      #expect(metrics.contains("engage_batch_devices{job=\"steps\",did=\"\(line)\n"), "\(metrics)")
    }
    // Late: a second night with an opening of the first day, and one of its own.
    try workspace.write(
      "in/2.ndjson",
      Self.push("b", "10T08:05", "notificationOpened", "spring")
        + Self.push("b", "19T23:59", "notificationOpened", "spring")
        + PeopleTests.record("e", "19T23:00", "u"))
    let second = try workspace.run(
      "run", "job.json", "--no-upload", "--summary", "-", "--as-of", "2026-01-21T00:00:00Z")
    #expect(second.code == 0, "\(second.messages)")
    let next = try Summary(second.output)
    #expect(next["people.new"] == 1 && next["people.returning"] == 1 && next["people.used"] == 2)
    #expect(Self.reach(next, "opened") == "2 by 1")
    let page = try workspace.run("report", "--store", "store.sqlite", "--format", "html").output
    #expect(page.contains("<td class=\"number\" data-label=\"the night before\">4</td>"), "\(page)")
    #expect(
      page.contains(
        "<tr><th scope=\"row\">used the app</th><td class=\"number\" data-label=\"this run\">2</td>"
          + "<td class=\"number\" data-label=\"the night before\">2</td></tr>"), "\(page)")
  }

  @Test("The nights before are the windows before, each once, by the run that accepted most")
  func nightsBefore() throws {
    let workspace = try Workspace([])
    try workspace.write(
      "job.json",
      """
      {"name": "steps", "inputs": {"events": ["in/{dd}.ndjson"]}, "window": {"from": "yesterday", "to": "today"},
       "store": "store.sqlite"}
      """)
    func night(_ day: Int) throws -> JSONNode {
      let run = try workspace.run("run", "job.json", "--no-upload", "--as-of", "2026-01-\(day)T06:00:00Z")
      #expect(run.code == 0, "\(run.messages)")
      let report = try workspace.run("report", "--store", "store.sqlite", "--format", "json").output
      return try #require(try JSONNode.parse(Array(report.utf8))["peopleBefore"])
    }
    func before(_ node: JSONNode) -> String {
      "\(node["nights"]?.integer ?? 0): \(node["new"]?.integer ?? -1) new, \(node["returning"]?.integer ?? -1) returning"
    }
    for (day, devices) in [(10, 1..<4), (11, 1..<6), (12, 4..<12)] {
      try workspace.write(
        "in/\(day).ndjson", devices.map { PeopleTests.record("d\($0)", "\(day)T08:00", "u") }.joined())
    }
    #expect(try before(night(11)) == "0: -1 new, -1 returning")
    #expect(try before(night(12)) == "1: 3 new, 0 returning")
    // Nothing new, twice: no night of its own, and not before itself.
    for _ in 0..<2 { #expect(try before(night(12)) == "1: 3 new, 0 returning") }
    // A corrected line does not replace its night.
    let night11 = try workspace.read("in/11.ndjson")
    try workspace.write("in/11.ndjson", night11 + PeopleTests.record("d1", "11T20:00", "u"))
    #expect(try before(night(12)) == "1: 3 new, 0 returning")
    // 3 and 2 new devices; 0 and 3 returning ones: the median of two is their mean.
    let two = try night(13)
    #expect(two["nights"]?.integer == 2 && two["new"]?.double == 2.5 && two["returning"]?.double == 1.5, "\(two)")
  }

  @Test("Memory, threads and the order of lines change no figure", arguments: Sweep.cases([UInt64(31), 32], short: 1))
  func same(seed: UInt64) throws {
    let recording = Recording(seed: seed, devices: 40, perDevice: 60)
    let workspace = try Workspace(["configs"])
    try workspace.write("job.json", IdenticalOutputTests.job)
    var found: Set<String> = []
    for (number, settings) in [
      [], ["Ingest.memoryLimit=1 MiB"], ["Ingest.workers=1"], ["Ingest.workers=7", "Ingest.memoryLimit=1 MiB"],
    ].enumerated() {
      for file in Recording.files(recording.lines, seed: seed + UInt64(number), count: number + 1) {
        try workspace.write("in/\(file.name)", file.text)
      }
      let run = try workspace.run(
        ["run", "job.json", "--no-upload", "--summary", "-"] + settings.flatMap { ["--set", $0] })
      #expect(run.code == 0, "\(run.messages)")
      let summary = try Summary(run.output)
      #expect(summary["people.new"] == 40 && summary["people.returning"] == 0)
      // Every event is counted, so the events of a step are those of its code.
      for (step, code) in [("received", "48"), ("opened", "49"), ("sessions", "14"), ("goals", "16")] {
        #expect(summary["people.\(step).events"] == summary["events.byType.\(code)"], "\(step)")
      }
      found.insert(summary.text("people"))
      for folder in ["in", "var"] { try workspace.remove(folder) }
    }
    #expect(found.count == 1, "\(found)")
  }
}
