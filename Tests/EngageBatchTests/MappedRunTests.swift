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
}
