import BatchFoundation
import Testing

/// What a store knows of earlier nights is given up on request, and lines of that time are never taken twice.
@Suite("Retention") struct RetentionTests {
  private static func line(_ device: String, _ day: Int, _ rest: String = #""type":"namedEvent","name":"x""#) -> String
  {
    #"{"deviceId":"\#(device)","timestamp":"2026-01-\#(day)T08:00:00Z","mobileUserId":"u-\#(device)",\#(rest)}"# + "\n"
  }

  private struct Job {
    let workspace: Workspace

    init(settings: String = "{}") throws {
      workspace = try Workspace([])
      try workspace.write(
        "job.json",
        #"""
        {"name": "kept", "inputs": {"events": ["in.ndjson"]}, "asOf": "2026-01-25T00:00:00Z", "store": "store.sqlite",
         "settings": \#(settings)}
        """#)
    }

    /// A run over lines, with its figures.
    func run(_ lines: [String]) throws -> (summary: Summary, messages: String) {
      try workspace.write("in.ndjson", lines.joined())
      let run = try workspace.run("run", "job.json", "--no-upload", "--summary", "-")
      #expect(run.code == 0, "\(run.messages)")
      return (try Summary(run.output), run.messages)
    }

    func purge(_ arguments: String...) throws -> Summary {
      let purge = try workspace.run(
        ["store", "purge", "--store", "store.sqlite", "--as-of", "2026-01-25T12:00:00Z", "--format", "json"] + arguments
      )
      #expect(purge.code == 0, "\(purge.messages)")
      return try Summary(purge.output)
    }
  }

  @Test("Digests and idle devices go by the settings, and older lines are skipped and counted")
  func givesUpWhatIsOld() throws {
    let job = try Job(
      settings: #"{"LocalEventStore": {"expireDigestsAfterNumDays": 5, "expireDevicesAfterNumDays": 7}}"#)
    try job.workspace.write(
      "config.json", #"{"LocalEventStore": {"expireDigestsAfterNumDays": 5, "expireDevicesAfterNumDays": 7}}"#)
    let lines = [Self.line("old", 15), Self.line("idle", 16), Self.line("new", 24)]
    #expect(try job.run(lines).summary["records.accepted"] == 3)
    #expect(try job.workspace.run("store", "purge").code == 64)
    let purged = try job.purge("--file", "config.json")
    // Lines before the 20th, and devices whose last record was before the 18th.
    #expect(purged["digests"] == 2)
    #expect(purged["devices"] == 2)

    // The export comes once more, with a line of the time that is forgotten and one of the time that is known.
    let again = try job.run(lines + [Self.line("old", 17), Self.line("old", 23)])
    #expect(again.summary["records.read"] == 5)
    #expect(again.summary["records.duplicates"] == 1)
    #expect(again.summary["records.outOfWindow"] == 3)
    #expect(again.summary["records.accepted"] == 1)
    #expect(
      again.messages.contains("3 lines before 2026-01-20T00:00:00.000Z counted as out of window"),
      "\(again.messages)")
    // What is given up later moves the time on, and never back.
    #expect(try job.purge("--digest-days", "1")["digests"] == 1)
    #expect(try job.purge("--digest-days", "9")["digests"] == 0)
    #expect(try job.run(lines + [Self.line("fresh", 22)]).summary["records.outOfWindow"] == 3)
  }

  @Test("By default nothing of it goes")
  func keepsAll() throws {
    let job = try Job()
    let lines = [Self.line("old", 15), Self.line("new", 24)]
    _ = try job.run(lines)
    let purged = try job.purge()
    #expect(purged["digests"] == 0)
    #expect(purged["devices"] == 0)
    #expect(try job.run(lines).summary["records.duplicates"] == 2)
  }

  @Test("A device for which something is due stays, and ends its session in the next run")
  func staysForWhatIsDue() throws {
    let job = try Job()
    // Away at the end of the known time: the session has not ended yet.
    let away = Self.line("d", 24, #""type":"launch""#) + Self.line("d", 24, #""type":"background""#)
    try job.workspace.write("in.ndjson", away)
    let run = try job.workspace.run("run", "job.json", "--no-upload", "--as-of", "2026-01-24T08:10:00Z")
    #expect(run.code == 0, "\(run.messages)")
    #expect(try job.purge("--device-days", "1", "--as-of", "2026-03-01T00:00:00Z")["devices"] == 0)
    #expect(try job.run([]).summary["sessions.ended"] == 1)
    #expect(try job.purge("--device-days", "1", "--as-of", "2026-03-01T00:00:00Z")["devices"] == 1)
  }

  @Test("A store is made smaller on request, and says by how much")
  func shrinks() throws {
    let job = try Job()
    _ = try job.run((0..<4000).map { Self.line("device \($0)", 15) })
    let purged = try job.purge("--device-days", "1", "--digest-days", "1", "--shrink")
    #expect(purged["devices"] == 4000)
    #expect(purged["digests"] == 4000)
    #expect(purged["freedBytes"] > 100_000)
    #expect(try job.purge("--shrink")["freedBytes"] == 0)
  }
}
