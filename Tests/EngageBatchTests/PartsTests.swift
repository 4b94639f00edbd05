import BatchFoundation
import TestSupport
import Testing

/// A run in parts comes to what one process comes to (reference formats 5), however many parts there are.
@Suite("Runs in parts") struct PartsTests {
  enum Export: String {
    case engage, checked, game, unity, odd

    var isGame: Bool { self == .game || self == .unity }
    /// Where a summary has the platform's own figures; nil where it has none.
    var figures: String? {
      switch self {
      case .engage, .odd: nil
      case .checked: "engage"
      case .game: "deltadna"
      case .unity: "unity"
      }
    }
  }

  static let cases =
    Sweep.cases([Export.engage, .game, .odd].flatMap { export in [1, 2, 3, 7].map { (export, $0) } }, short: 5)
    + [(.checked, 3), (.unity, 3)]

  /// Lines that hide their device, or look as if they had another one.
  static let odd: [(name: String, text: String)] = [
    (
      "in/events/mark.ndjson",
      "\u{FEFF}" + #"{"deviceId":"a","timestamp":"2026-01-15T08:00:00Z","type":"launch","mobileUserId":"u"}"#
        + "\r\n\r\n  "
        + #"{"\u0064eviceId":"\u0061","timestamp":"2026-01-15T08:01:00Z","type":"namedEvent","name":"E"}"# + "  \r\n"
    ),
    (
      "in/events/nested/raw.ndjson",
      #"{"eventTypeCode":"17","eventTimestamp":"2026-01-15T08:02:00.000Z","attributes":"#
        + #"[{"name":"Device Id","value":"a"},{"name":"x","value":"deviceId"}]}"# + "\n"
        + #"{"params":{"deviceId":"b"},"deviceId":"a","timestamp":1768464180,"type":"namedEvent","name":"N"}"# + "\n"
    ),
    ("in/events/words.ndjson", "nonsense\n{\"deviceId\":\"\"}\n[]\n\n{\"deviceId\":\"a\",\"deviceId\":\"b\"}\n"),
    (
      "in/deepLinks/links.tsv",
      "2026-01-15T08:04:00Z\ta\tplayer://test/1?CurrentCampaign=c\n"
        + #"{"deviceId":"b ","timestamp":"2026-01-15T08:05:00Z","url":"player://test/2"}"# + "\n2026-01-15\tno\n"
    ),
    ("in/notifications/none.ndjson", ""),
  ]

  static func workspace(_ export: Export) throws -> Workspace {
    let workspace = try Workspace(["configs"])
    switch export {
    case .engage, .checked:
      let settings = #""settings": {"General": {"eventSchema": "schema.json"}}, "inputs""#
      try workspace.write(
        "job.json",
        export == .engage ? IdenticalOutputTests.job : IdenticalOutputTests.job.replacing("\"inputs\"", with: settings))
      // Takes few of the events, and names one that never comes.
      try workspace.write("schema.json", #"{"events": [{"name": "12"}, {"name": "13"}, {"name": "17 never"}]}"#)
      for file in Recording.files(Recording(seed: 31, devices: 30, perDevice: 40).lines, seed: 31, count: 3) {
        try workspace.write("in/\(file.name)", file.text)
      }
      // A file whose second half is gone: the lines before it count, and the damage is quarantined once.
      let cut = try workspace.shell(
        "mkdir -p in/events/z && gzip -c in/events/0.ndjson | head -c 3000 > in/events/z/cut.ndjson.gz")
      #expect(cut.code == 0, "\(cut.messages)")
    case .game, .unity:
      let job = GameIdenticalOutputTests.job
      try workspace.write("job.json", export == .unity ? job.replacing("deltadna", with: "unity") : job)
      try workspace.write("schema.json", GameIdenticalOutputTests.schema)
      try workspace.write("configuration.json", GameIdenticalOutputTests.configuration)
      let lines = GameIdenticalOutputTests.lines(7, devices: 12, perDevice: 40).map(\.text) + ["{", "nonsense"]
      try workspace.write("in/a.ndjson", lines[..<300].joined(separator: "\n"))
      try workspace.write("in/b.ndjson", lines[250...].joined(separator: "\n"))
    case .odd:
      try workspace.write("job.json", IdenticalOutputTests.job)
      for file in odd { try workspace.write(file.name, file.text) }
      // Too long for the limit below, and invalid UTF-8.
      let long =
        #"{"deviceId":"a","timestamp":"2026-01-15T08:09:00Z","type":"namedEvent","name":""#
        + String(repeating: "l", count: 3000) + "\"}\n"
      try workspace.write(
        "in/events/bytes.ndjson", Array(long.utf8) + Array(#"{"deviceId":"a"#.utf8) + [0xFF, 0x22, 0x7D, 0x0A])
    }
    return workspace
  }

  /// What a store says, in a form that does not know in which order parts came.
  private struct Content: Equatable {
    var events: String
    var figures: [String: String]
    var quarantine: [String]
    /// Findings, coverage and campaigns of a game's report.
    var tables: String
  }

  private static let settings = ["--set", "Ingest.maxLineBytes=2000"]

  private func content(_ workspace: Workspace, store: String, events: String, summary: String) throws -> Content {
    let figures = try Summary(workspace.read(summary))
    let keys = [
      "records", "quarantineReasons", "events", "sessions", "campaigns", "identity", "store", "deltadna", "unity",
      "engage",
    ]
    let quarantined = try workspace.run("quarantine", "list", "--store", store, "--format", "json", "--show-raw")
    #expect(quarantined.code == 0, "\(quarantined.messages)")
    let report = try workspace.run("report", "--store", store, "--format", "json")
    #expect(report.code == 0, "\(report.messages)")
    return Content(
      events: try workspace.read(events),
      figures: Dictionary(uniqueKeysWithValues: keys.map { ($0, figures.text($0)) }),
      quarantine: try (JSONNode.parse(Array(quarantined.output.utf8)).array ?? []).map { line in
        ["file", "line", "offset", "reason", "detail", "raw", "rawBase64"].map { line[$0]?.text() ?? "" }
          .joined(separator: " ")
      }.sorted(), tables: try JSONNode.parse(Array(report.output.utf8))["platform"]?.text() ?? "")
  }

  private func whole(_ workspace: Workspace) throws -> Content {
    let run = try workspace.run(
      [
        "run", "job.json", "--no-upload", "--store", "whole/s.sqlite", "--events-out", "whole.ndjson", "--summary",
        "whole.json",
      ]
        + Self.settings)
    #expect(run.code == 0, "\(run.messages)")
    return try content(workspace, store: "whole/s.sqlite", events: "whole.ndjson", summary: "whole.json")
  }

  @Test("Events, figures and quarantine are those of one process", arguments: cases)
  func equal(export: Export, parts: Int) throws {
    let workspace = try Self.workspace(export)
    let expected = try whole(workspace)
    #expect(expected.quarantine.count > 1)
    let partition = try workspace.run(
      ["partition", "job.json", "--parts", "\(parts)", "--out", "parts"] + Self.settings)
    #expect(partition.code == 0, "\(partition.messages)")
    // Decided elsewhere, where the exports are not at hand.
    try workspace.remove("in")
    for part in 0..<parts {
      let decided = try workspace.run(
        ["decide", "job.json", "--partition", "parts", "--part", "\(part)", "--out", "results/\(part)"] + Self.settings)
      #expect(decided.code == 0, "\(decided.messages)")
    }
    let collected = try workspace.run(
      ["collect", "job.json"] + (0..<parts).reversed().map { "results/\($0)" }
        + ["--store", "all.sqlite", "--events-out", "all.ndjson", "--summary", "all.json"])
    #expect(collected.code == 0, "\(collected.messages)")
    let found = try content(workspace, store: "all.sqlite", events: "all.ndjson", summary: "all.json")
    #expect(found.events == expected.events)
    #expect(found.figures == expected.figures)
    #expect(found.quarantine == expected.quarantine)
    #expect(found.tables == expected.tables)
    // Under another name they were compared by nothing.
    for name in ["deltadna", "unity", "engage"] {
      #expect((found.figures[name] != "null") == (name == export.figures), "\(name)")
    }
    if export.isGame { for word in ["findings", "responses", "unmet"] { #expect(found.tables.contains(word)) } }
    if export == .checked { #expect(found.tables.contains(#""event": "14""#) && found.tables.contains("17 never")) }
  }

  @Test("What does not belong together is refused with 78, what was damaged with 74")
  func refused() throws {
    let workspace = try Self.workspace(.odd)
    func command(_ code: Int32, _ words: String, _ line: String) throws {
      let finished = try workspace.shell("engage-batch \(line)")
      #expect(finished.code == code, "\(line): \(finished.messages)")
      #expect(finished.messages.contains(words), "\(line): \(finished.messages)")
    }
    let decide = "decide job.json --partition two --part 1"
    try command(0, "in 2 parts", "partition job.json --parts 2 --out two")
    try command(0, "which already existed", "partition job.json --parts 2 --out two")
    try command(78, "it already exists", "partition job.json --parts 3 --out two")
    try command(78, "but no part 2", "decide job.json --partition two --part 2 --out r")
    try command(0, "part 1 of 2", "\(decide) --out first/1")
    try command(0, "part 0 of 2", "decide job.json --partition two --part 0 --out first/0")
    // The same decision once more, and another one in its place.
    try command(0, "which already existed", "\(decide) --out first/1")
    try command(78, "it already exists", "\(decide) --out first/0")
    try command(78, "the partition does not continue another", "\(decide) --state-in first/1 --out r")
    try command(
      78, "it has 2 parts, but the new partition would have 3", "partition job.json --parts 3 --after two --out three")
    try command(0, "in 2 parts", "partition job.json --parts 2 --after two --out next")
    let next = "decide job.json --partition next --part 1"
    try command(78, "--state-in must name", "\(next) --out r")
    try command(78, "it is for part 0, not 1", "\(next) --state-in first/0 --out r")
    try command(0, "part 1 of 2", "\(next) --state-in first/1 --out second/1")
    try command(0, "in 2 parts", "partition job.json --parts 2 --after next --out last")
    try command(
      78, "it is not from the partition that this part continues",
      "decide job.json --partition last --part 1 --state-in first/1 --out r")
    try command(0, "in 3 parts", "partition job.json --parts 3 --out three")
    try command(0, "part 1 of 3", "decide job.json --partition three --part 1 --out third/1")
    try command(78, "its partition has 3 parts, not 2", "\(next) --state-in third/1 --out r")
    // A state and a result that were cut.
    _ = try workspace.shell("cp -r first short && truncate -s -1 short/0/store.sqlite short/1/store.sqlite")
    try command(
      74, "short/1/store.sqlite: error: the file was changed or damaged", "\(next) --state-in short/1 --out r")
    try command(
      74, "short/0/store.sqlite: error: the file was changed or damaged", "collect job.json short/0 --store s")
    // Another platform.
    try workspace.write(
      "game.json", #"{"name": "same", "destination": "deltadna", "inputs": {"events": ["in"]}, "store": "game.sqlite"}"#
    )
    try command(78, "it is for 'engage', but the job is not", "decide game.json --partition two --part 0 --out r")
    try command(78, "it is for 'engage', but the job is not", "partition game.json --parts 2 --after two --out r")
    try command(78, "it is for 'engage', but the job is not", "collect game.json first/0")
    // Other settings, another job.
    try command(
      0, "part 1 of 2",
      "decide job.json --partition two --part 1 --out other/1 --set 'Session.sessionLifecycleExpiration=9 minutes'")
    try command(78, "processed with different settings", "collect job.json first/0 other/1")
    try command(78, "it does not belong to the same partition as the others", "collect job.json first/0 second/1")
    try workspace.write("job2.json", IdenticalOutputTests.job.replacing("\"same\"", with: "\"second\""))
    try command(78, "it is for the job 'same', not 'second'", "decide job2.json --partition two --part 0 --out r")
    // One byte is another, and one is missing.
    let part = try workspace.read("two/part-00001")
    try workspace.write("two/part-00001", part.replacing("CurrentCampaign", with: "CurrentKampaign"))
    try command(74, "the file was changed or damaged", "\(decide) --out r")
    try workspace.write("two/part-00001", Array(part.utf8.dropLast()))
    try command(74, "the file was changed or damaged", "\(decide) --out r")
    #expect(!workspace.exists("r"))
    try workspace.remove("two/part-00001")
    // A manifest or a result that is missing ended with 66, a part's file with 78.
    try command(66, "two/part-00001: error: cannot be read: No such file", "\(decide) --out r")
    _ = try workspace.shell("cp -r first lost && rm lost/0/store.sqlite")
    try command(66, "lost/0/store.sqlite: error: cannot be read: No such file", "collect job.json lost/0 --store s")
    // A store is for runs or for parts.
    try command(66, "1 part of 2 is missing: 1; decide and collect", "collect job.json first/0 --store all.sqlite")
    // It was headed as if there was no input.
    try command(66, ": 1 part is missing (exit code 66), after ", "collect job.json first/0 --store all.sqlite")
    try command(66, "1 part of 2 is missing: 1", "post job.json --sandbox --store all.sqlite")
    try command(78, "this store collects parts", "run job.json --no-upload --store all.sqlite")
    try command(78, "this store collects parts", "run job.json --dry-run --store all.sqlite")
    try command(78, "this store collects parts", "quarantine replay --job job.json --store all.sqlite")
    try command(0, "records", "run job.json --no-upload --store run.sqlite")
    try command(78, "it has device states", "collect job.json first/0 --store run.sqlite")
  }

  @Test("Parts collected twice, in two commands and after kills are there once")
  func collectedOnce() throws {
    let workspace = try Self.workspace(.engage)
    #expect(try workspace.run("partition", "job.json", "--parts", "3", "--out", "parts").code == 0)
    for part in 0..<3 {
      let arguments = ["decide", "job.json", "--partition", "parts", "--part", "\(part)", "--out", "r/\(part)"]
      // Kills leave nothing that looks like a result, and two at once give one.
      for point in ["before-local-commit:1", "after-local-commit:1"] {
        #expect(try workspace.run(arguments, environment: ["ENGAGE_CRASH_AT": point]).code == 137)
      }
      #expect(!workspace.exists("r/\(part)"))
      let twins = try [workspace.start(arguments), workspace.start(arguments)].map { $0.finish() }
      #expect(twins.map(\.code) == [0, 0], "\(twins.map(\.messages))")
    }
    let folders = ["r/0", "r/1", "r/2"]
    let expected = try workspace.run(
      ["collect", "job.json", "--store", "once.sqlite", "--events-out", "-", "--summary", "once.json"] + folders)
    let events = try Summary(workspace.read("once.json"))["events.total"]
    #expect(expected.code == 0, "\(expected.messages)")
    #expect(expected.lines.count > 500)
    // A repeated command writes the whole, and says that it added nothing: history had all events twice.
    let again = try workspace.run(
      ["collect", "job.json", "--store", "once.sqlite", "--events-out", "-", "--summary", "again.json"] + folders)
    #expect(again.code == 0 && again.output == expected.output)
    #expect(again.messages.contains("Known: 3 parts were collected before; nothing was added"))
    let figures = try Summary(workspace.read("again.json"))
    #expect(figures["records.accepted"] == 0 && figures["events.total"] == 0 && figures["sessions.started"] == 0)
    #expect(figures["records.duplicates"] > 0)
    let history = try workspace.run("history", "--store", "once.sqlite", "--format", "json")
    let rows = try JSONNode.parse(Array(history.output.utf8)).array ?? []
    #expect(rows.map { $0["events"]?.integer } == [Int64(events), 0], "\(history.output)")
    // Where the run that brought the last part was killed, the next one has the figures.
    let brought = try workspace.run(
      ["collect", "job.json", "--store", "late.sqlite"] + folders,
      environment: ["ENGAGE_CRASH_AT": "after-local-commit:3"])
    #expect(brought.code == 137, "\(brought.messages)")
    let told = try workspace.run(["collect", "job.json", "--store", "late.sqlite", "--summary", "-"] + folders)
    #expect(try Summary(told.output)["events.total"] == events, "\(told.messages)")
    for point in ["before-local-commit:1", "after-local-commit:1", "before-local-commit:3", "after-local-commit:2"] {
      let killed = try workspace.run(
        ["collect", "job.json", "--store", "kills.sqlite"] + folders, environment: ["ENGAGE_CRASH_AT": point])
      #expect(killed.code == 137 || killed.code == 0, "\(killed.messages)")
    }
    #expect(try workspace.run(["collect", "job.json", "--store", "kills.sqlite"] + folders).code == 0)
    let listings = try ["once", "kills"].map { store in
      try workspace.run("store", "events", "--store", "\(store).sqlite", "--limit", "10000", "--format", "json").output
        .replacing(/"(id|device)": ?"[^"]*"/, with: "")
    }
    #expect(listings[0] == listings[1])
  }

  /// History had the events of the first part twice.
  @Test("Figures are those of the parts that came, and lines of earlier parts are duplicates")
  func collectedInTwo() throws {
    let workspace = try Self.workspace(.engage)
    #expect(try workspace.run("partition", "job.json", "--parts", "2", "--out", "parts").code == 0)
    for part in ["0", "1"] {
      let decided = try workspace.run("decide", "job.json", "--partition", "parts", "--part", part, "--out", part)
      #expect(decided.code == 0, "\(decided.messages)")
    }
    func collect(_ parts: String..., store: String, code: Int32 = 0) throws -> (figures: Summary, messages: String) {
      let collected = try workspace.run(["collect", "job.json"] + parts + ["--store", store, "--summary", "-"])
      #expect(collected.code == code, "\(collected.messages)")
      return (try Summary(collected.output), collected.messages)
    }
    let whole = try collect("0", "1", store: "once.sqlite").figures
    let first = try collect("0", store: "two.sqlite", code: 66).figures
    let (second, messages) = try collect("0", "1", store: "two.sqlite")
    #expect(messages.contains("Known: 1 part was collected before\n"), "\(messages)")
    for figure in ["events.total", "records.accepted", "sessions.started", "campaigns.set"] {
      #expect(first[figure] > 0 && second[figure] > 0, "\(figure)")
      #expect(first[figure] + second[figure] == whole[figure], "\(figure)")
    }
    #expect(second["records.read"] == whole["records.read"])
    #expect(second["records.duplicates"] == whole["records.duplicates"] + first["records.accepted"])
    #expect(second.text("store") == whole.text("store"))
    let history = try workspace.run("history", "--store", "two.sqlite", "--format", "json")
    let rows = try JSONNode.parse(Array(history.output.utf8)).array ?? []
    #expect(rows.map { $0["events"]?.integer } == [Int64(first["events.total"]), Int64(second["events.total"])])
  }

  @Test("Folders may come before --job, and nobody is told to send while parts are missing")
  func namedBehind() throws {
    let workspace = try Workspace()
    #expect(try workspace.run("partition", "jobs/backfill.json", "--parts", "2", "--out", "p").code == 0)
    for part in ["0", "1"] {
      let decided = try workspace.run("decide", "jobs/backfill.json", "--partition", "p", "--part", part, "--out", part)
      #expect(decided.code == 0, "\(decided.messages)")
    }
    let half = try workspace.run("collect", "1", "--job", "jobs/backfill.json", "--store", "all.sqlite")
    #expect(half.code == 66 && half.messages.contains("1 part of 2 is missing: 0"), "\(half.messages)")
    #expect(!half.messages.contains("The next run sends"))
    let whole = try workspace.run("collect", "0", "1", "--job", "jobs/backfill.json", "--store", "all.sqlite")
    #expect(whole.code == 0 && whole.messages.contains("37 events are pending in the store"), "\(whole.messages)")
    #expect(try workspace.run("collect", "jobs/backfill.json", "--store", "all.sqlite").code == 64)
  }
}
