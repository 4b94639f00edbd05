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
  private static func call(_ time: String, _ id: String, _ more: Int) -> String {
    #"{"type":"track","event":"Sold","anonymousId":"d","userId":"u","messageId":"\#(id)","timestamp":"2026-01-15T\#(time)Z","properties":{"n":\#(more)}}"#
      + "\n"
  }

  @Test("A call that came twice counts once, in one run, across runs and in parts; one of another day is told")
  func recordIDs() throws {
    let workspace = try Workspace([])
    func job(_ name: String) throws {
      try workspace.write(
        "\(name).json",
        #"""
        {"name": "mapped", "inputs": {"events": [{"path": "in/*.ndjson", "map": "segment"}]}, "asOf": "2026-02-01T00:00:00Z",
         "store": "\#(name).sqlite"}
        """#)
    }
    func records(_ name: String) throws -> [String] {
      let run = try workspace.run(
        "run", "\(name).json", "--no-upload", "--summary", "-", "--events-out", "\(name).out")
      let summary = try Summary(run.output)
      return ["accepted", "duplicates"].map { "\($0) \(summary["records.\($0)"])" }
        + ["again \(run.messages.contains("1  record-id-again") ? 1 : 0)"]
    }
    try job("job")
    try workspace.write("in/b.ndjson", Self.call("08:00:00.480", "m", 1) + Self.call("09:30:00", "o", 1))
    #expect(try records("job") == ["accepted 2", "duplicates 0", "again 0"])
    // The first in order, but read later.
    try workspace.write("in/a.ndjson", Self.call("08:00:00.210", "m", 2) + Self.call("11:00:00", "m", 3))
    #expect(try records("job") == ["accepted 1", "duplicates 3", "again 1"])
    #expect(try records("job") == ["accepted 0", "duplicates 4", "again 0"])
    try job("whole")
    #expect(try records("whole") == ["accepted 3", "duplicates 1", "again 1"])
    let expected = try workspace.read("whole.out")
    let split = try workspace.run("partition", "whole.json", "--parts", "2", "--out", "parts")
    #expect(split.code == 0, "\(split.messages)")
    for part in 0..<2 {
      let decided = try workspace.run(
        "decide", "whole.json", "--partition", "parts", "--part", "\(part)", "--out", "r/\(part)")
      #expect(decided.code == 0, "\(decided.messages)")
    }
    let collected = try workspace.run(
      "collect", "whole.json", "r/0", "r/1", "--store", "all.sqlite", "--events-out", "all.out")
    #expect(collected.code == 0, "\(collected.messages)")
    #expect(try workspace.read("all.out") == expected)
    let again = try workspace.run("collect", "whole.json", "r/0", "r/1", "--store", "all.sqlite")
    #expect(again.code == 0, "\(again.messages)")
  }

  @Test("Ids that name nobody count as empty, and one warning a device says so")
  func unlikelyIDs() throws {
    let workspace = try Workspace([])
    try workspace.write(
      "job.json",
      #"{"name": "n", "inputs": {"events": ["in.ndjson"]}, "asOf": "2026-02-01T00:00:00Z", "store": "s.sqlite"}"#)
    let ids = ["null", "NULL", "undefined", #"\\N"#, "(null)", "  ", "00000000-0000-0000-0000-000000000000", "u"]
    var lines = ids.enumerated().flatMap { number, id in
      (0..<2).map { minute in
        #"{"deviceId":"d\#(number)","timestamp":"2026-01-15T08:0\#(minute):00Z","type":"namedEvent","name":"a","mobileUserId":"\#(id)","anonymousId":"\#(id)"}"#
      }
    }
    lines.append(#"{"deviceId":"undefined","timestamp":"2026-01-15T08:00:00Z","type":"namedEvent","name":"a"}"#)
    lines.append(#"{"deviceId":"e","timestamp":"2026-01-15T08:00:00Z","type":"identify","ids":{"c":"NULL"}}"#)
    try workspace.write("in.ndjson", lines.map { $0 + "\n" }.joined())
    let run = try workspace.run(
      "run", "job.json", "--dry-run", "--events-out", "events.ndjson", "--summary", "-")
    #expect(run.code == 0, "\(run.messages)")
    let summary = try Summary(run.output)
    #expect(run.messages.contains("9  unlikely-id"))
    #expect(summary["records.accepted"] == 18)
    let events = try workspace.read("events.ndjson")
    #expect(events.split(separator: "\n").count { $0.contains(#"{"name":"Primary User Id","value":""}"#) } == 15)
    #expect(events.contains(#"{"name":"Device Id","value":"undefined"}"#))
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
    try workspace.write(
      "exports/2026-01-14/a.json",
      #"{"d": "1", "t": "2026-01-14T08:00:00Z", "e": "buy"}"# + "\n"
        + #"{"d": "1", "t": "2026-01-14T09:00:00Z", "e": "sell"}"# + "\n")
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
      return run.messages.contains("Maps: 'm.json' has changed since run ")
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
    try workspace.write("a.csv", "d,t,e\n0,2026-01-14T07:00:00Z,view\n1,2026-01-14T08:00:00Z,\"zz\n\(record)\nx\n")
    #expect(try workspace.run("run", "job.json", "--no-upload").code == 0)
    func broken() throws -> [String] {
      try workspace.run("quarantine", "list", "job.json", "--all").lines.filter { $0.contains("invalid-row") }
    }
    let listed = try broken()
    #expect(listed.count == 2)
    // The last line is a row with too few fields, which another map might read.
    let replayed = try workspace.run("quarantine", "replay", "job.json")
    #expect(replayed.messages.contains("1 quarantine entry tried: 0 accepted"), "\(replayed)")
    #expect(try broken() == listed)
  }

  /// Validates a job of one export.
  private func validate(_ file: String, _ text: String, _ entry: String, _ files: [String: String] = [:]) throws
    -> (lines: [String], messages: String, code: Int32)
  {
    let workspace = try Workspace([])
    try workspace.write(file, text)
    for (name, text) in files { try workspace.write(name, text) }
    try workspace.write(
      "job.json",
      #"{"name": "t", "inputs": {"events": [\#(entry)]}, "asOf": "2026-02-01T00:00:00Z", "store": "s.sqlite"}"#)
    let run = try workspace.run("validate", "job.json")
    return (run.lines.map { $0.replacing("\(workspace.path)/", with: "") }, run.messages, run.code)
  }

  private static let table = #"""
    {"form": "csv", "fields": {"deviceId": "id", "timestamp": "at", "name": {"constant": "n"},
     "params.note": "note", "params.sum": {"path": "sum", "as": "number"}}, "rules": [{"type": "namedEvent"}]}
    """#

  @Test("Rows that cannot be read as they stand are told with their lines, and take no others")
  func damagedTable() throws {
    let rows = """
      id,at,note,sum
      a,2026-01-15 08:00:00,"he said \\"hi\\", and left",1
      b,2026-01-15 08:00:01,x\\ty,"1,5"
      c,2026-01-15 08:00:02
      d,2026-01-15,z,4

      """
    let found = try validate("t.csv", rows, #"{"path": "t.csv", "map": "m.json"}"#, ["m.json": Self.table])
    #expect(found.code == 65)
    #expect(
      found.lines == [
        #"t.csv:2: invalid-row: text after a closing quote; if backslashes escape quotes, write "escape": "\\" in the map, or for Spark "escape": "\\\"""#,
        "t.csv:5: invalid-timestamp: field 'timestamp': '2026-01-15' is not a time: the map 'm.json' reads the field from 'at'",
        #"t.csv:3: warning: not-a-number: 'sum' is not a number and is kept as text; for a decimal comma, write "decimal": "," in the map"#,
        #"t.csv:3: warning: unread-escape: fields of the file contain '\t', '\n' or '\\', kept as written; write "escape": "\\" in the map if they are escapes, or "" if they are text"#,
        "t.csv:4: warning: short-row: the row has 2 of 4 columns",
      ])
  }

  @Test("A row that no rule takes is told with its fields, and a record before 2008 with what it perhaps is")
  func shortRowsAndOldTimes() throws {
    let row = Array(repeating: "", count: 108).joined(separator: "\t")
    let short = try validate("r.tsv", "app" + row + "\n", #"{"path": "r.tsv", "map": "snowplow-tsv"}"#)
    #expect(short.lines.count == 1)
    #expect(short.lines[0].hasPrefix("r.tsv:1: no-rule: no rule of the map 'snowplow-tsv' matches the record"))
    #expect(short.lines[0].hasSuffix(": the row has 108 of 131 columns"), "\(short.lines)")
    func record(_ time: String) -> String {
      #"{"deviceId":"d","timestamp":\#(time),"type":"namedEvent","name":"n","mobileUserId":"u"}"# + "\n"
    }
    let old = try validate(
      "o.ndjson", ["790156800.5", "46037.33", "20260115", "0", #""2008-01-01T00:00:00Z""#].map(record).joined(),
      #""o.ndjson""#)
    #expect(old.code == 0)
    #expect(
      old.lines == [
        "o.ndjson:1: warning: past-record: before 2008; perhaps seconds since 2001: 2026-01-15",
        "o.ndjson:2: warning: past-record: before 2008; perhaps days of a spreadsheet: 2026-01-15",
        "o.ndjson:3: warning: past-record: before 2008; perhaps yyyyMMdd: 2026-01-15",
        "o.ndjson:4: warning: past-record: before 2008",
      ])
    #expect(old.messages.contains("warning: 4 records are dated before 2008"), "\(old.messages)")
  }

  @Test("A record inside its line, in lines that hold two, and in a folder with files of its writer")
  func placesOfRecords() throws {
    let line = #"{"emitted":1,"data":{"deviceId":"d","timestamp":"2026-01-15T08:00:00Z","type":"launch"}}"#
    let entry = #"{"path": "a.ndjson", "record": "data"}"#
    #expect(try validate("a.ndjson", line + "\n", entry).lines == [])
    #expect(
      try validate("a.ndjson", "{}\n" + line + "\n", entry).lines
        == ["a.ndjson:1: missing-field: the line has no 'data', which must contain the record"])
    let wrong = try validate("a.ndjson", line, #"{"path": "a.ndjson", "record": "data."}"#)
    #expect(wrong.code == 78)
    #expect(
      wrong.messages.contains("'record' in an entry of 'inputs.events' is 'data.', which is not a path"),
      "\(wrong.messages)")
    let own = #"{"deviceId":"d","timestamp":"2026-01-15T08:00:00Z","type":"launch"}"#
    let two = try validate("a.ndjson", own + "\n" + own + own + "\n", #""a.ndjson""#)
    #expect(
      two.lines == [
        #"a.ndjson:2: invalid-json: at byte 68 of the line: another document begins there; a map with "form": "json" reads both"#
      ])
    let folder = try validate(
      "out/part-0.json", own + "\n", #""out""#, ["out/_SUCCESS": "", "out/.part-0.json.crc": "crc"])
    #expect(folder.code == 0 && folder.lines == [])
    #expect(folder.messages.contains("skipped 2 names"), "\(folder.messages)")
    let none = try validate("out/_SUCCESS", "", #""out""#)
    #expect(none.code == 66)
    #expect(
      none.messages.contains("out/_SUCCESS', whose name begins with '_' or '.'"), "\(none.messages)")
  }
}
