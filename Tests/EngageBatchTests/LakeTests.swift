import BatchFoundation
import FoundationEssentials
import TestSupport
import Testing

/// Events, findings and decisions go out as Parquet with the commands of docs/scale.md.
@Suite("Out to a lake") struct LakeTests {
  private func workspace() throws -> Workspace {
    let workspace = try Workspace()
    _ = try Tool.duckdb.script(in: workspace)
    return workspace
  }

  /// The commands of the page that write, in the order in which they stand there.
  private static func commands(_ prefix: String) throws -> [String] {
    try Checkout.text("docs/scale.md").split(separator: "\n").map(String.init).filter { $0.hasPrefix(prefix) }
  }

  private func shell(_ workspace: Workspace, _ line: String) throws -> String {
    let finished = try workspace.shell("export PATH=\"$PWD/bin:$PATH\"; \(line)")
    #expect(finished.code == 0, "\(line): \(finished.messages)")
    return finished.output
  }

  /// Rows by day and code, as `2026-01-15 12 3`.
  private func rows(_ table: String, _ workspace: Workspace) throws -> [String] {
    let query =
      "COPY (SELECT strftime(day::DATE, '%Y-%m-%d') || ' ' || code || ' ' || count(*) FROM "
      + "read_parquet('lake/\(table)/*/*/*/*.parquet', hive_partitioning = true, hive_types_autocast = false) "
      + "GROUP BY day, code ORDER BY 1) TO 'rows.csv' (FORMAT csv, HEADER false)"
    _ = try shell(workspace, "duckdb -c \"\(query)\"")
    return try workspace.read("rows.csv").split(separator: "\n").map(String.init)
  }

  /// The same of lines of JSON.
  private func counts(_ lines: String, code: String) throws -> [String] {
    var counts: [String: Int] = [:]
    for line in lines.split(separator: "\n") {
      let document = try JSONNode.parse(Array(line.utf8))
      let (time, code) = (document["eventTimestamp"]?.string ?? "", document[code]?.string ?? "")
      counts["\(time.prefix(10)) \(code)", default: 0] += 1
    }
    return counts.map { "\($0.key) \($0.value)" }.sorted()
  }

  @Test(
    "Events of a night stand in the lake by day and code, once however often they are written",
    .needs(.duckdb))
  func engage() throws {
    let workspace = try workspace()
    let made = try workspace.run("run", "jobs/backfill.json", "--dry-run", "--events-out", "events.ndjson")
    #expect(made.code == 0, "\(made.messages)")
    let command = try #require(try Self.commands("engage-batch run jobs/nightly.json --events-out - | duckdb").first)
      .replacing("jobs/nightly.json", with: "jobs/backfill.json --dry-run")
    #expect(try shell(workspace, Self.commands("mkdir -p lake")[0]) == "")
    for _ in 1...2 {
      _ = try shell(workspace, command)
      let rows = try rows("events", workspace)
      #expect(rows == (try counts(workspace.read("events.ndjson"), code: "eventTypeCode")))
      #expect(rows.count > 5)
    }
  }

  @Test(
    "Events, findings and decisions of a game stand in the lake by day and name",
    .needs(.duckdb))
  func game() throws {
    let workspace = try workspace()
    _ = try shell(workspace, Self.commands("mkdir -p lake")[0])
    let run = try #require(try Self.commands("engage-batch run jobs/game.json --events-out").first)
    _ = try shell(workspace, "\(run) --sandbox")
    for command in try Self.commands("duckdb -c") { _ = try shell(workspace, command) }
    for (table, code) in [("events", "eventName"), ("findings", "eventName"), ("decisions", "decisionPoint")] {
      let rows = try rows(table, workspace)
      #expect(rows == (try counts(workspace.read("\(table).ndjson"), code: code)), "\(table)")
      #expect(!rows.isEmpty)
    }
  }
}
