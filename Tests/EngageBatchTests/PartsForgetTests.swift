import FoundationEssentials
import Testing

/// People are removed from results of parts, whose states the next night continues.
@Suite("Forgetting in parts") struct PartsForgetTests {
  private static func line(_ device: String, _ user: String, _ day: Int, _ rest: String) -> String {
    #"{"deviceId":"\#(device)","timestamp":"2026-01-\#(day)T08:00:00Z","mobileUserId":"\#(user)",\#(rest)}"# + "\n"
  }

  private static func records(_ day: Int) -> String {
    ["phone-ada-1", "phone-bob-1", "phone-eve-1"].map { device in
      line(device, "user-\(device.dropFirst(6))", day, #""type":"namedEvent","name":"on \#(day)""#)
    }.joined()
  }

  private struct Command {
    let workspace: Workspace

    @discardableResult
    func callAsFunction(_ line: String, code: Int32 = 0) throws -> String {
      let run = try workspace.run(line.split(separator: " ").map(String.init))
      #expect(run.code == code, "\(line): \(run.messages)")
      return run.output + run.messages
    }
  }

  /// One night in two parts, decided and collected.
  private func night() throws -> (workspace: Workspace, command: Command) {
    let workspace = try Workspace([])
    try workspace.write("in.ndjson", Self.records(15))
    try workspace.write(
      "job.json",
      #"{"name": "parts", "inputs": {"events": ["in.ndjson"]}, "store": "all.sqlite", "asOf": "2026-01-20T00:00:00Z"}"#)
    let command = Command(workspace: workspace)
    try command("partition job.json --parts 2 --out first")
    for part in 0..<2 { try command("decide job.json --partition first --part \(part) --out r/\(part)") }
    try command("collect job.json r/0 r/1")
    return (workspace, command)
  }

  private func files(_ workspace: Workspace, _ folder: String) throws -> [String] {
    try workspace.shell("find \(folder) -mindepth 1 | sort").output.split(separator: "\n").map(String.init)
  }

  /// How many files of a folder have the bytes somewhere.
  private func traces(_ text: String, _ workspace: Workspace, _ folder: String) throws -> Int {
    try workspace.shell("grep -rlaF \(text) \(folder) | wc -l").output.split(separator: "\n").first
      .flatMap { Int($0.filter(\.isNumber)) } ?? 0
  }

  @Test("No byte of them is left in store or results, the chain goes on, and later records are refused")
  func forgotten() throws {
    let (workspace, command) = try night()
    let before = try files(workspace, "r")
    #expect(try traces("phone-ada-1", workspace, "r") == 1)
    let tried = try command("forget job.json --mobile-user-id user-ada-1 --result r/0 --result r/1 --dry-run")
    #expect(tried.contains("devices\t1\tr/"), "\(tried)")
    #expect(try traces("phone-ada-1", workspace, "r") == 1)

    try command("forget job.json --mobile-user-id user-ada-1 --result r/0 --result r/1")
    for text in ["phone-ada-1", "user-ada-1"] {
      #expect(try traces(text, workspace, "r") == 0, "\(text)")
      #expect(try traces(text, workspace, "all.sqlite") == 0, "\(text)")
    }
    #expect(try traces("phone-bob-1", workspace, "r") == 1)
    // Nothing but the two results, as before.
    #expect(try files(workspace, "r") == before)
    let again = try command("forget job.json --mobile-user-id user-ada-1 --result r/0 --result r/1")
    #expect(again.contains("r/0 has no data for these ids"), "\(again)")

    try workspace.write("in.ndjson", Self.records(16))
    try command("partition job.json --parts 2 --after first --out second --as-of 2026-01-21T00:00:00Z")
    for part in 0..<2 {
      try command("decide job.json --partition second --part \(part) --state-in r/\(part) --out s/\(part)")
    }
    try command("collect job.json s/0 s/1 --events-out second.ndjson --summary second.json")
    let summary = try Summary(workspace.read("second.json"))
    #expect(summary["records.forgotten"] == 1)
    #expect(summary["records.accepted"] == 2)
    #expect(!(try workspace.read("second.ndjson")).contains("phone-ada-1"))
  }

  @Test("A device that only the job's store knows by the id goes from the results too")
  func foundElsewhere() throws {
    let workspace = try Workspace([])
    let name = #""type":"namedEvent","name":"a""#
    try workspace.write("in.ndjson", Self.line("phone-ada-1", "user-ada-1", 15, name))
    try workspace.write(
      "job.json",
      #"{"name": "parts", "identity": true, "inputs": {"events": ["in.ndjson"]}, "store": "all.sqlite", "asOf": "2026-01-20T00:00:00Z"}"#
    )
    let command = Command(workspace: workspace)
    try command("partition job.json --parts 1 --out first")
    try command("decide job.json --partition first --part 0 --out r/0")
    try command("collect job.json r/0")
    // The next night she has another id, and that is all that the states know.
    try workspace.write("in.ndjson", Self.line("phone-ada-1", "user-ada-2", 16, name))
    try command("partition job.json --parts 1 --after first --out second --as-of 2026-01-21T00:00:00Z")
    try command("decide job.json --partition second --part 0 --state-in r/0 --out s/0")
    try command("forget job.json --mobile-user-id user-ada-1 --result s/0")
    for text in ["phone-ada-1", "user-ada-2"] { #expect(try traces(text, workspace, "s") == 0, "\(text)") }
  }

  @Test("A result that is not as it was written is refused, and all stay as they are")
  func damaged() throws {
    let (workspace, command) = try night()
    #expect(try workspace.shell("printf x >> r/1/store.sqlite").code == 0)
    try command("forget job.json --device phone-ada-1 --result r/0 --result r/1", code: 74)
    #expect(try traces("phone-ada-1", workspace, "r") == 1)
    try command("forget job.json --device phone-ada-1 --result nowhere", code: 66)
  }
}
