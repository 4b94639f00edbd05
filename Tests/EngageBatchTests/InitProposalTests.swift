import TestSupport
import Testing

/// What an export is, and what reads it.
@Suite("A first job of an export") struct InitProposalTests {
  /// They were milliseconds of the year 2612.
  @Test(
    "A date in digits alone is one",
    arguments: [
      ("20260115080000", "yyyyMMddHHmmss", 14), ("202601150800", "yyyyMMddHHmm", 12),
    ])
  func dateInDigits(first: String, pattern: String, digits: Int) throws {
    let workspace = try Workspace([])
    let rows = (0..<4).map { "phone-\($0 % 2),\(first.dropLast(1))\(5 + $0),view,\($0)" }
    try workspace.write("in/shop.csv", (["device,time,event,n"] + rows).joined(separator: "\n"))
    let made = try workspace.run("init", "shop", "--from", "in/shop.csv")
    #expect(made.messages.contains("  timestamp: time, confidence high (\(pattern))\n"), "\(made.messages)")
    let run = try workspace.run("run", "shop/job.json", "--sandbox", "--summary", "-")
    #expect(try Summary(run.output)["records.accepted"] == 4, "\(run.output)")
  }

  private static let calls = (0..<15).map {
    $0 % 5 == 4
      ? #"{"type":"track","event":"Viewed","timestamp":"2026-01-15T08:\#(10 + $0):00Z"}"#
      : #"{"type":"track","event":"Viewed","anonymousId":"a","messageId":"\#($0)","timestamp":"2026-01-15T08:\#(10 + $0):00Z"}"#
  }

  /// A few bad lines hid it, and so did the brackets around them.
  @Test(
    "A preset that reads most of an export is proposed with what it does not take, also in an array",
    arguments: [false, true])
  func mostOfAnExport(isArray: Bool) throws {
    let workspace = try Workspace([])
    try workspace.write(
      "in.json",
      isArray ? "[" + Self.calls.joined(separator: ",\n") + "]" : Self.calls.joined(separator: "\n") + "\n")
    let made = try workspace.run("init", "shop", "--from", "in.json")
    #expect(
      made.messages.hasPrefix(
        "in.json: \(isArray ? "a JSON array; " : "")the preset 'segment' reads 12 of 15 records as events (see docs/maps.md)\n"
          + "  3 rejected: missing-field: field 'deviceId' is missing: the map 'segment' reads the field from "),
      "\(made.messages)")
    if isArray {
      #expect(
        try workspace.read("shop/map.json") == """
          {
            "form": "json",
            "each": "batch",
            "include": ["segment"]
          }

          """)
    }
    let run = try workspace.run("run", "shop/job.json", "--sandbox", "--summary", "-")
    let summary = try Summary(run.output)
    #expect(summary["records.accepted"] == 12 && summary["records.quarantined"] == 3, "\(run.output)")
  }

  /// The better name won, and half of the rows were refused.
  @Test("A device is read of a column that is always there")
  func deviceThatIsAlwaysThere() throws {
    let workspace = try Workspace([])
    let rows = (0..<10).map { "\($0 % 2 == 0 ? "aaaaaaaa-\($0)" : ""),phone-\($0 % 3),2026-01-15T08:0\($0):00Z,view" }
    try workspace.write("in.csv", (["device_id,handset,time,event"] + rows).joined(separator: "\n"))
    let made = try workspace.run("init", "shop", "--from", "in.csv")
    #expect(
      made.messages.contains("  deviceId: handset, confidence medium ('device_id' is in 5 of 10 records)\n"),
      "\(made.messages)")
  }

  /// Nothing was written.
  @Test("Where one field is not found, an incomplete map is proposed that says what is to be filled in")
  func mapIsBegun() throws {
    let workspace = try Workspace([])
    let rows = (0..<4).map { "q\($0),2026-01-15T08:0\($0):00Z,view" }
    try workspace.write("in.csv", (["box,time,event"] + rows).joined(separator: "\n"))
    let made = try workspace.run("init", "shop", "--from", "in.csv")
    #expect(made.code == 65)
    #expect(
      made.messages == """
        in.csv: a CSV table; no preset reads it; based on 4 records, an incomplete map is proposed:
          timestamp: time, confidence high
          name: event, confidence high
          params: all other members
        Wrote shop/job.json
        Wrote shop/config.json
        Wrote shop/map.json
        in.csv: error: nothing looks like deviceId; fill in the empty values in shop/map.json (docs/exports.md)

        """)
    let map = try workspace.read("shop/map.json")
    #expect(
      map.contains("  // Fill in or check: deviceId. The columns, each with an example value:\n  //   box: q0\n"),
      "\(map)")
    let checked = try workspace.run("config", "check", "--job", "shop/job.json")
    #expect(checked.code == 78 && checked.messages.contains("deviceId' is empty"), "\(checked.messages)")
    try workspace.write("shop/map.json", map.replacing(#""deviceId": """#, with: #""deviceId": "box""#))
    let run = try workspace.run("run", "shop/job.json", "--sandbox", "--summary", "-")
    #expect(try Summary(run.output)["records.accepted"] == 4, "\(run.output)")
  }

  @Test(
    "Documents in one line, UTF-16 and lines that end with a carriage return are told as what they are",
    arguments: [
      (
        Array(
          #"{"device":"d","time":"2026-01-15T08:00:00Z","event":"a"}{"device":"d","time":1768464060,"event":"b"}"#.utf8),
        0,
        "in.json: several JSON documents on one line; no preset reads it; based on 2 records, a map is proposed:\n"
      ),
      ([0xFF, 0xFE, 0x61, 0, 0x0A, 0], 65, "in.json: error: the file has neither JSON objects nor a table"),
      (
        Array("device,time,event\rd,2026-01-15T08:00:00Z,a\rd,2026-01-15T08:01:00Z,b\r".utf8), 65,
        "in.json: error: text with bare carriage returns, which are not accepted as line endings; convert the file: tr "
      ),
    ])
  func otherForms(bytes: [UInt8], code: Int32, words: String) throws {
    let workspace = try Workspace([])
    try workspace.write("in.json", bytes)
    let made = try workspace.run("init", "shop", "--from", "in.json")
    #expect(made.code == code && made.messages.hasPrefix(words), "\(made.messages)")
  }
}
