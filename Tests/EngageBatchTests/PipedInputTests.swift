import FoundationEssentials
import TestSupport
import Testing

/// Inputs that are no files of text: pipes are read, the rest is refused by name.
@Suite("Piped and foreign inputs") struct PipedInputTests {
  private static func job(_ input: String) -> String {
    #"{"name": "piped", "inputs": {"events": ["\#(input)"]}, "asOf": "2026-02-01T00:00:00Z", "store": "var/p.sqlite"}"#
  }

  private static func record(_ second: Int) -> String {
    #"{"deviceId":"d\#(second % 3)","timestamp":"2026-01-01T00:00:\#(second)Z","type":"namedEvent","name":"N","mobileUserId":"u"}"#
  }

  private static let lines = (10..<60).map(record) + ["nonsense"] + [record(10)]

  private func workspace() throws -> Workspace {
    let workspace = try Workspace([])
    try workspace.write("lines.ndjson", Self.lines.joined(separator: "\n") + "\n")
    try workspace.write("file.json", Self.job("lines.ndjson"))
    try workspace.write("stdin.json", Self.job("-"))
    try workspace.write("pipe.json", Self.job("pipe"))
    return workspace
  }

  @Test(
    "Standard input and named pipes give what a file gives",
    arguments: [
      ("cat lines.ndjson | engage-batch run stdin.json", "/dev/stdin"),
      ("(head -20 lines.ndjson; sleep 0.3; tail -n +21 lines.ndjson) | engage-batch run stdin.json", "/dev/stdin"),
      ("engage-batch run stdin.json < lines.ndjson", "/dev/stdin"),
      ("mkfifo pipe; (sleep 0.3; cat lines.ndjson > pipe) & engage-batch run pipe.json", "pipe"),
    ])
  func pipes(command: String, name: String) throws {
    let workspace = try workspace()
    let expected = try workspace.run("run", "file.json", "--dry-run", "--events-out", "-")
    #expect(expected.lines.count == 56)
    let found = try workspace.shell("\(command) --no-upload --events-out - --summary figures.json")
    #expect(found.code == 0, "\(found.messages)")
    #expect(found.output == expected.output)
    let figures = try Summary(workspace.read("figures.json"))
    #expect([figures["records.read"], figures["records.duplicates"], figures["records.quarantined"]] == [52, 1, 1])
    let quarantined = try workspace.run("quarantine", "list", "--store", "var/p.sqlite", "--format", "json")
    #expect(quarantined.output.contains("\(name)\""), "\(quarantined.output)")
    #expect(quarantined.output.replacing(" ", with: "").contains("\"line\":51"))
    // As many requests as of a file.
    let status = try workspace.run("store", "status", "--store", "var/p.sqlite")
    #expect(status.output.contains("1 request") || status.output.contains("NOT_POSTED"), "\(status.output)")
  }

  @Test("Several files are read at once, each by one thread: pipes that are filled last first come to their end")
  func atOnce() throws {
    let workspace = try workspace()
    try workspace.write("both.json", Self.job("first\", \"second"))
    let expected = try workspace.run("run", "file.json", "--dry-run", "--events-out", "-")
    let found = try workspace.shell(
      """
      mkfifo first second
      (tail -n +21 lines.ndjson > second; head -20 lines.ndjson > first) &
      timeout 60 engage-batch run both.json --no-upload --set Ingest.workers=2 --events-out -
      """)
    #expect(found.code == 0, "\(found.messages)")
    #expect(found.output == expected.output)
  }

  @Test("A pipe that somebody has to read twice is refused")
  func twice() throws {
    let workspace = try workspace()
    for (words, reader) in [
      ("run stdin.json --no-upload --set Ingest.lateRecords=quarantine", "Ingest.lateRecords with 'quarantine'"),
      ("compare stdin.json --with 'Session.sessionLifecycleExpiration=10 minutes'", "a comparison"),
      (
        "backfill stdin.json --from 2026-01-01T00:00:00Z --to 2026-01-02T00:00:00Z --no-upload", "a backfill"
      ),
    ] {
      let found = try workspace.shell("cat lines.ndjson | engage-batch \(words)")
      #expect(found.code == 78, "\(words)")
      let error = "/dev/stdin: error: a pipe can be read only once, but \(reader) reads inputs more than once"
      #expect(found.messages.contains(error))
    }
  }

  @Test("Standard input that is neither file nor pipe, files of other forms and addresses are refused by name")
  func refused() throws {
    let workspace = try workspace()
    let none = try workspace.run("run", "stdin.json", "--no-upload")
    #expect(none.code == 66)
    #expect(none.messages.contains("/dev/stdin: error: not a file, folder or pipe"))
    try workspace.write("lines.parquet", "PAR1....PAR1")
    try workspace.write("parquet.json", Self.job("lines.parquet"))
    let parquet = try workspace.run("run", "parquet.json", "--no-upload")
    #expect(parquet.code == 66)
    #expect(
      parquet.messages.contains(
        "lines.parquet: error: a Parquet file, but inputs must be text; convert it to lines of JSON"))
    #expect(!workspace.exists("var/p.sqlite"))
    let piped = try workspace.shell("cat lines.parquet | engage-batch run stdin.json --no-upload")
    #expect(piped.code == 66)
    #expect(piped.messages.contains("/dev/stdin: error: a Parquet file"))
    try workspace.write("book.xlsx", "PK\u{3}\u{4}" + String(repeating: "\0", count: 26) + "[Content_Types].xml")
    #expect(
      try workspace.run("init", "made", "--from", "book.xlsx").messages.contains(
        "book.xlsx: error: an Excel workbook, but inputs must be text; save each sheet as CSV UTF-8"))
    for (address, remedy) in [
      (
        "gs://exports/a.ndjson",
        "has the unsupported scheme 'gs://'; copy the file to a local path, or use '-' and pipe the file in: gcloud storage cat "
      ),
      ("HTTPS://host/a.ndjson", "has the unsupported scheme 'HTTPS://'; write the scheme in lower case"),
      ("hdfs://host/a", "pipe the file in: PROGRAM "),
      ("s3://exports/key?X-Amz-Signature=secret", "contains credentials, which would appear in reports"),
    ] {
      try workspace.write("address.json", Self.job(address))
      let found = try workspace.run("run", "address.json", "--no-upload")
      #expect(found.code == 78, "\(address)")
      #expect(found.messages.contains("address.json:1: error: 'inputs.events[0]' "), "\(found.messages)")
      #expect(found.messages.contains(remedy), "\(found.messages)")
      #expect(!found.messages.contains("secret"))
    }
  }

  @Test("A stream of ungrouped devices ends with 65, and refused lines are named")
  func stream() throws {
    let workspace = try workspace()
    let found = try workspace.shell("engage-batch stream --as-of 2026-02-01T00:00:00Z < lines.ndjson")
    #expect(found.code == 65)
    #expect(found.messages.contains("stdin:51: invalid-json: at byte 1 of the line\n"))
    #expect(
      found.messages.contains("stdin:4: error: a device whose records began at line 1 has more records here, after"))
    let grouped = try workspace.shell(
      "sort -t '\"' -k 4,4 -s lines.ndjson | grep -v nonsense | engage-batch stream --as-of 2026-02-01T00:00:00Z")
    #expect(grouped.code == 0, "\(grouped.messages)")
    #expect(grouped.lines.count == 56)
  }

  @Test("Parquet comes in through DuckDB, as docs/maps.md has it", .needs(.duckdb))
  func parquet() throws {
    let workspace = try Workspace([])
    let duckDB = try Tool.duckdb.script(in: workspace)
    let map =
      #"{"fields": {"deviceId": "device", "timestamp": "at", "type": {"constant": "namedEvent"}, "name": "what"}}"#
    try workspace.write("my-map.json", map)
    try workspace.write(
      "job.json",
      #"{"name": "piped", "inputs": {"events": [{"path": "-", "map": "my-map.json"}]}, "store": "var/p.sqlite"}"#)
    let rows =
      "SELECT 'd' AS device, TIMESTAMP '2026-01-15 08:00:00.5' + INTERVAL (i) SECOND AS at, 'Opened' AS what FROM range(9) t(i)"
    let made = try workspace.shell(
      """
      \(duckDB) -c "COPY (\(rows)) TO 'events.parquet' (FORMAT parquet)"
      """)
    #expect(made.code == 0, "\(made.messages)")
    let commands = try Checkout.text("docs/maps.md").split(separator: "\n").filter { $0.hasPrefix("duckdb -c") }
    #expect(commands.count == 1)
    for command in commands {
      let run = try workspace.shell("\(duckDB)\(command.dropFirst(6)) --dry-run --summary -")
      #expect(run.code == 0, "\(run.messages)")
      #expect(try Summary(run.output)["records.accepted"] == 9, "\(run.output)")
    }
  }
}
