import TestSupport
import Testing

@Suite("Runs through maps") struct MappedRunTests {
  @Test(
    "The events are byte for byte those of the canonical lines, in one run and in parts",
    arguments: Sweep.cases(
      ["segment.ndjson", "ga4.ndjson", "mparticle.ndjson", "snowplow-tsv.tsv", "acoustic.ndjson"], short: 3))
  func canonicalLines(sample: String) throws {
    let workspace = try Workspace([])
    let preset = String(sample.prefix { $0 != "." })
    func job(_ name: String, _ entry: String) throws {
      try workspace.write(
        "\(name).json",
        #"""
        {"name": "mapped", "inputs": {"events": [\#(entry)]}, "asOf": "2026-02-01T00:00:00Z", "store": "\#(name).sqlite"}
        """#)
    }
    try workspace.write("in/\(sample)", try Checkout.text("samples/maps/\(sample)"))
    try job("foreign", #"{"path": "in/\#(sample)", "map": "\#(preset)"}"#)
    try job("own", #""lines.ndjson""#)
    let tried = try workspace.run("map", "try", preset, "in/\(sample)", "--limit", "1000")
    #expect(tried.code == 0, "\(tried.messages)")
    let lines = tried.lines.filter { $0.hasPrefix("  becomes   ") }.map { $0.dropFirst(12) + "\n" }
    try workspace.write("lines.ndjson", lines.joined())
    func events(_ name: String) throws -> String {
      let run = try workspace.run("run", "\(name).json", "--no-upload", "--events-out", "-")
      #expect(run.code == 0, "\(run.messages)")
      return run.output
    }
    let expected = try events("own")
    #expect(!expected.isEmpty)
    #expect(try events("foreign") == expected)
    for parts in [2, 3] {
      let split = try workspace.run("partition", "foreign.json", "--parts", "\(parts)", "--out", "parts-\(parts)")
      #expect(split.code == 0, "\(split.messages)")
      for part in 0..<parts {
        let decided = try workspace.run(
          "decide", "foreign.json", "--partition", "parts-\(parts)", "--part", "\(part)", "--out", "r-\(parts)/\(part)")
        #expect(decided.code == 0, "\(decided.messages)")
      }
      let collected = try workspace.run(
        ["collect", "foreign.json"] + (0..<parts).map { "r-\(parts)/\($0)" }
          + ["--store", "all-\(parts).sqlite", "--events-out", "all-\(parts).ndjson"])
      #expect(collected.code == 0, "\(collected.messages)")
      #expect(try workspace.read("all-\(parts).ndjson") == expected, "\(parts) parts")
    }
  }
  /// The map was that of a file among the job's inputs of that day alone; others were read as records of the project's own shape.
  @Test("A replay reads a line through its map although its file is of another day, or gone")
  func replayOfAnotherDay() throws {
    let workspace = try Workspace([])
    func job(from: String, to: String) throws {
      try workspace.write(
        "job.json",
        #"""
        {"name": "mapped", "inputs": {"events": [
          {"path": "exports/{yyyy}-{MM}-{dd}/*.json", "map": "m.json"}, {"path": "own/*.ndjson"}]},
         "window": {"from": "\#(from)", "to": "\#(to)"}, "asOf": "\#(to)", "store": "s.sqlite"}
        """#)
    }
    func map(_ event: String) throws {
      try workspace.write(
        "m.json",
        #"""
        {"fields": {"deviceId": "d", "timestamp": "t", "name": "e"}, "otherwise": "quarantine",
         "rules": [{"when": {"e": "\#(event)"}, "type": "namedEvent"}]}
        """#)
    }
    try workspace.write("exports/2026-01-14/a.json", #"{"d": "1", "t": "2026-01-14T08:00:00Z", "e": "buy"}"# + "\n")
    try workspace.write("exports/2026-01-15/a.json", #"{"d": "1", "t": "2026-01-15T08:00:00Z", "e": "sell"}"# + "\n")
    try map("sell")
    try job(from: "2026-01-14T00:00:00Z", to: "2026-01-15T00:00:00Z")
    let first = try workspace.run("run", "job.json", "--no-upload", "--summary", "-")
    #expect(try Summary(first.output)["quarantineReasons.no-rule"] == 1, "\(first)")
    try job(from: "2026-01-15T00:00:00Z", to: "2026-01-16T00:00:00Z")
    let other = try workspace.run("quarantine", "replay", "job.json")
    #expect(other.messages.contains("1 still quarantined"), "\(other)")
    #expect(try workspace.run("quarantine", "list", "job.json").output.contains("no-rule"))
    try map("buy")
    try workspace.remove("exports/2026-01-14")
    let replayed = try workspace.run("quarantine", "replay", "job.json")
    #expect(replayed.messages.contains("1 accepted"), "\(replayed)")
  }

  @Test("A map that changed is told once, because what it makes otherwise counts as new")
  func changedMap() throws {
    let workspace = try Workspace([])
    try workspace.write(
      "job.json",
      #"""
      {"name": "mapped", "inputs": {"events": [{"path": "a.json", "map": "m.json"}]},
       "asOf": "2026-02-01T00:00:00Z", "store": "s.sqlite"}
      """#)
    try workspace.write("a.json", #"{"d": "1", "t": "2026-01-14T08:00:00Z", "e": "buy", "p": 3}"# + "\n")
    func told(_ more: String) throws -> Bool {
      let fields = #""deviceId": "d", "timestamp": "t", "type": {"constant": "namedEvent"}, "name": "e""#
      try workspace.write("m.json", #"{"fields": {\#(fields)\#(more)}}"#)
      let run = try workspace.run("run", "job.json", "--no-upload")
      #expect(run.code == 0, "\(run)")
      return run.messages.contains("Maps: 'm.json' is not what it was in run ")
    }
    let more = #", "params.price": "p""#
    #expect(try ["", "", more, more].map(told) == [false, false, true, false])
  }
  /// Its lines were read as records each, one of which stood in a cell.
  @Test("A broken row of a table is not replayed, and keeps its reason")
  func brokenRow() throws {
    let workspace = try Workspace([])
    try workspace.write(
      "job.json",
      #"""
      {"name": "mapped", "inputs": {"events": [{"path": "a.csv", "map": "m.json"}]},
       "asOf": "2026-02-01T00:00:00Z", "store": "s.sqlite"}
      """#)
    try workspace.write(
      "m.json",
      #"{"form": "csv", "fields": {"deviceId": "d", "timestamp": "t", "type": {"constant": "namedEvent"}, "name": "e"}}"#
    )
    let record = #"{""d"":""9"",""t"":""2026-01-14T08:00:00Z"",""e"":""open""}"#
    try workspace.write("a.csv", "d,t,e\n1,2026-01-14T08:00:00Z,\"zz\n\(record)\nx\n")
    #expect(try workspace.run("run", "job.json", "--no-upload").code == 0)
    let listed = try workspace.run("quarantine", "list", "job.json").output
    #expect(listed.contains("invalid-row"))
    let replayed = try workspace.run("quarantine", "replay", "job.json")
    #expect(replayed.messages.contains("0 entries of the quarantine were tried"), "\(replayed)")
    #expect(try workspace.run("quarantine", "list", "job.json").output == listed)
  }
}
