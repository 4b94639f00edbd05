import BatchFoundation
import FoundationEssentials
import TestSupport
import Testing

/// A chain of nights in parts comes to what one process comes to night after night; with `ENGAGE_TORTURE=full` a month of them.
@Suite("Nights in parts") struct PartsNightsTests {
  private static let nights = ProcessInfo.processInfo.environment["ENGAGE_TORTURE"] == "full" ? 30 : 3

  /// The lines that each night brings: of its own, one in twenty comes a night later, and some come twice.
  static func deliveries(_ lines: [Recording.Line], nights count: Int, seed: UInt64) -> [[Recording.Line]] {
    var random = SplitMix64(seed: seed)
    var nights = [[Recording.Line]](repeating: [], count: count)
    for (place, line) in lines.enumerated() {
      let own = min(place * count / lines.count, count - 1)
      let later = min(own + 1, count - 1)
      nights[random.below(20) == 0 ? later : own].append(line)
      if random.below(25) == 0 { nights[later].append(line) }
    }
    return nights
  }

  /// Puts the lines in place of the inputs of the night before.
  static func write(_ lines: [Recording.Line], night: Int, to workspace: Workspace) throws {
    try workspace.remove("in")
    for kind in Recording.Line.Kind.allCases { try workspace.write("in/\(kind.rawValue)/none.ndjson", "") }
    for file in Recording.files(lines, seed: UInt64(night), count: 2) {
      try workspace.write("in/\(file.name)", file.text)
    }
  }

  /// A job without its inputs, and the lines of all nights.
  private func workspace(_ export: PartsTests.Export) throws -> (Workspace, [Recording.Line]) {
    let workspace = try PartsTests.workspace(export)
    let count = Self.nights * 10
    guard export.isGame else { return (workspace, Recording(seed: 41, devices: 20, perDevice: count).lines) }
    let lines = GameIdenticalOutputTests.lines(41, devices: 20, perDevice: count)
    return (workspace, lines.map { Recording.Line(kind: .events, milliseconds: $0.time, text: $0.text) })
  }

  @Test(
    "States, late lines and equal ones continue part by part",
    arguments: [
      (PartsTests.Export.engage, 2, "quarantine"), (.engage, 5, "accept"), (.game, 3, "quarantine"),
      (.game, 2, "accept"), (.unity, 2, "quarantine"),
    ])
  func chain(export: PartsTests.Export, parts: Int, late: String) throws {
    let (workspace, all) = try workspace(export)
    let lines = all.sorted { $0.milliseconds < $1.milliseconds }
    var expected: [String] = []
    var found: [String] = []
    var quarantined = 0
    for (night, own) in Self.deliveries(lines, nights: Self.nights, seed: 7).enumerated() {
      try Self.write(own, night: night, to: workspace)
      // Nothing is late within the reach of a rewind.
      let reach = late == "quarantine" ? "0 seconds" : "4 days"
      let lateLines = ["--set", "Ingest.lateRecords=\(late)", "--set", "Ingest.rewind=\(reach)"]
      let time = (own.map(\.milliseconds).max() ?? Recording.start) + 3_600_000
      let asOf = lateLines + ["--as-of", Instant(milliseconds: time).rfc3339]
      let run = try workspace.run(
        ["run", "job.json", "--no-upload", "--store", "whole.sqlite", "--events-out", "-", "--summary", "whole.json"]
          + asOf)
      #expect(run.code == 0, "\(run.messages)")
      expected += run.lines
      let after = night > 0 ? ["--after", "night\(night - 1)/parts"] : []
      let partition = try workspace.run(
        ["partition", "job.json", "--parts", "\(parts)", "--out", "night\(night)/parts"] + after + asOf)
      #expect(partition.code == 0, "\(partition.messages)")
      for part in 0..<parts {
        let state = night > 0 ? ["--state-in", "night\(night - 1)/\(part)"] : []
        let decided = try workspace.run(
          [
            "decide", "job.json", "--partition", "night\(night)/parts", "--part", "\(part)", "--out",
            "night\(night)/\(part)",
          ]
            + state + lateLines)
        #expect(decided.code == 0, "\(decided.messages)")
      }
      let collected = try workspace.run(
        ["collect", "job.json"] + (0..<parts).map { "night\(night)/\($0)" }
          + ["--store", "all.sqlite", "--events-out", "-", "--summary", "all.json"])
      #expect(collected.code == 0, "\(collected.messages)")
      found += collected.lines
      let (one, all) = (try Summary(workspace.read("whole.json")), try Summary(workspace.read("all.json")))
      for key in ["records", "quarantineReasons", "events", "sessions", "campaigns", "deltadna", "unity"] {
        #expect(all.text(key) == one.text(key), "night \(night), \(key)")
      }
      quarantined += one["quarantineReasons.late-record"]
    }
    #expect(expected.count > 80 * Self.nights)
    #expect(found == expected)
    #expect((quarantined > 0) == (late == "quarantine"))
  }
}
