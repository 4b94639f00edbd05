import TestSupport
import Testing

/// What earlier nights read stands in files that the results of later ones share, so a night costs what it brings (reference formats 5.2).
@Suite("What parts know of earlier nights") struct PartsKnownTests {
  private static let devices = 40
  private static let perDevice = 100

  private static func line(_ number: Int, day: Int) -> String {
    let (device, minute) = (number % devices, number / devices)
    return #"{"deviceId":"phone-\#(device)","timestamp":"2026-01-\#(10 + day)T0\#(minute / 60):"#
      + #"\#(minute % 60 < 10 ? "0" : "")\#(minute % 60):00Z","type":"namedEvent","name":"n\#(number)"}"# + "\n"
  }

  private func command(_ workspace: Workspace, _ line: String, code: Int32 = 0) throws -> String {
    let finished = try workspace.shell("engage-batch \(line)")
    #expect(finished.code == code, "\(line): \(finished.messages)")
    return finished.messages
  }

  /// A night of two parts whose lines are those of its day, and what else comes.
  private func night(_ day: Int, besides lines: String = "", in workspace: Workspace) throws {
    try workspace.write(
      "in.ndjson", (0..<Self.devices * Self.perDevice).map { Self.line($0, day: day) }.joined() + lines)
    let after = day > 1 ? "--after \(day - 1)/p" : ""
    _ = try command(
      workspace, "partition job.json --parts 2 \(after) --out \(day)/p --as-of 2026-01-\(11 + day)T00:00:00Z")
    for part in 0..<2 { try decide(part, day, in: workspace) }
    _ = try command(workspace, "collect job.json \(day)/0 \(day)/1 --summary \(day).json")
  }

  private func decide(_ part: Int, _ day: Int, in workspace: Workspace) throws {
    let state = day > 1 ? "--state-in \(day - 1)/\(part)" : ""
    _ = try command(
      workspace, "decide job.json --partition \(day)/p --part \(part) \(state) --out \(day)/\(part)")
  }

  private func workspace() throws -> Workspace {
    let workspace = try Workspace([])
    try workspace.write(
      "job.json",
      #"{"name": "j", "settings": {"Ingest": {"rewind": "0 seconds", "lateRecords": "accept"}}, "#
        + #""inputs": {"events": ["in.ndjson"]}, "store": "all.sqlite"}"#)
    return workspace
  }

  @Test(
    "A night's result grows with no night, its files are those of the nights before, and lines of all of them are known"
  )
  func growth() throws {
    let workspace = try workspace()
    func bytes(_ day: Int) throws -> Int {
      let count = try workspace.shell("cat \(day)/?/store.sqlite | wc -c").output
      return try #require(Int(count.prefix { $0.isNumber }))
    }
    for day in 1...6 { try night(day, in: workspace) }
    #expect(Double(try bytes(6)) <= 1.1 * Double(try bytes(1)))
    // The same file by other names; the last one holds what the night before read.
    let names = try workspace.shell("ls 6/0; for n in 2 3 4 5; do stat -c %i $n/0/known-000001; done | sort -u | wc -l")
    #expect(
      names.output
        == (1...5).map { "known-00000\($0)\n" }.joined() + "result.json\nstore.sqlite\n1\n", "\(names.output)")
    try workspace.remove("1")
    try night(7, besides: (1...6).map { Self.line($0 * 7, day: $0) }.joined(), in: workspace)
    let summary = try Summary(workspace.read("7.json"))
    #expect(summary["records.duplicates"] == 6)
    #expect(summary["records.accepted"] == Self.devices * Self.perDevice)
    // A person who is forgotten takes no lines along.
    _ = try command(workspace, "forget job.json --device phone-1 --result 7/0 --result 7/1")
    try night(8, besides: Self.line(2, day: 1) + Self.line(2, day: 7), in: workspace)
    #expect(try Summary(workspace.read("8.json"))["records.duplicates"] == 2)
  }

  @Test("A file that lacks, or is not as it was written, ends the decision that needs it")
  func damaged() throws {
    let workspace = try workspace()
    for day in 1...2 { try night(day, in: workspace) }
    try workspace.write("in.ndjson", (0..<80).map { Self.line($0, day: 1) + Self.line($0, day: 3) }.joined())
    _ = try command(workspace, "partition job.json --parts 2 --after 2/p --out 3/p --as-of 2026-01-14T00:00:00Z")
    let decide = "decide job.json --partition 3/p --part 0 --state-in 2/0 --out 3/0"
    // A copy is as good as the file.
    #expect(try workspace.shell("cp -r 2/0 kept && printf x | dd of=2/0/known-000001 conv=notrunc 2>&1").code == 0)
    let changed = try command(workspace, decide, code: 74)
    #expect(changed.contains("/2/0/known-000001: error: the file was changed or damaged"), "\(changed)")
    try workspace.remove("2/0/known-000001")
    let lost = try command(workspace, decide, code: 74)
    #expect(lost.contains("/2/0/known-000001: error: cannot open: No such file or directory"), "\(lost)")
    #expect(try workspace.shell("cp kept/known-000001 2/0/").code == 0)
    #expect(try command(workspace, decide).contains("records"))
    #expect(!workspace.exists("3/0/known-000003"))
  }
}
