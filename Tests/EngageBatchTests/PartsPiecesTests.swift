import TestSupport
import Testing

/// A partition that is made of pieces, a file each, is the one that one process makes (reference formats 5.5).
@Suite("Pieces of partitions") struct PartsPiecesTests {
  /// Writes `files.json` for all files of `in`, in the order of a run.
  ///
  /// - Returns: the commands that make the pieces, without `--out`.
  private func list(_ workspace: Workspace, unit: String = "bytes") throws -> [String] {
    let found = try workspace.shell(
      "find \"$PWD/in\" -type f | while read -r f; do echo \"$(\(unit == "bytes" ? "stat -c %s" : "awk 'END { print NR }'") \"$f\") $f\"; done"
    )
    let files = found.lines.map { line -> (path: String, kind: String, length: String) in
      let words = line.split(separator: " ", maxSplits: 1).map(String.init)
      let kind = ["events", "notifications", "deepLinks"].first { words[1].contains("/in/\($0)/") }
      return (words[1], kind ?? "events", words[0])
    }.sorted { $0.path.utf8.lexicographicallyPrecedes($1.path.utf8) }
    #expect(files.count > 1)
    let entries = files.map { #"{"path": "\#($0.path)", "kind": "\#($0.kind)", "\#(unit)": \#($0.length)}"# }
    try workspace.write("files.json", "[\(entries.joined(separator: ",\n"))]")
    return files.indices.map { "partition job.json --files files.json --only \($0) < '\(files[$0].path)'" }
  }

  private static let settings = "--set Ingest.maxLineBytes=2000"

  /// What comes of a partition: events, figures, and quarantine with its places.
  private func decided(_ partition: String, parts: Int, in workspace: Workspace) throws -> [String] {
    func run(_ line: String) throws -> String {
      let finished = try workspace.shell("engage-batch \(line)")
      #expect(finished.code == 0, "\(line): \(finished.messages)")
      return finished.output
    }
    for part in 0..<parts {
      _ = try run(
        "decide job.json --partition \(partition) --part \(part) --out \(partition)-results/\(part) \(Self.settings)")
    }
    let events = try run(
      "collect job.json \(partition)-results/* --store \(partition).sqlite --events-out - --summary \(partition).json")
    let lines = try run(
      "quarantine list --store \(partition).sqlite --format json --show-raw | tr '}' '\\n' "
        + "| sed 's/\"id\": *[0-9]*//; s/\"run\": *[^,]*//' | sort")
    let summary = try Summary(workspace.read("\(partition).json"))
    return [events, lines] + ["records", "quarantineReasons", "events"].map { summary.text($0) }
  }

  @Test(
    "Pieces of one file and of several come to what one process makes, whoever makes them and however often",
    arguments: [PartsTests.Export.engage, .game, .odd], Sweep.cases([1, 3], short: 1))
  func equal(export: PartsTests.Export, parts: Int) throws {
    let workspace = try PartsTests.workspace(export)
    func shell(_ line: String, words: String = "") throws {
      let finished = try workspace.shell("\(line) --parts \(parts) \(Self.settings)")
      #expect(finished.code == 0, "\(line): \(finished.messages)")
      #expect(finished.messages.contains(words), "\(finished.messages)")
    }
    // By a file, and by a pipe once more.
    let pieces = try list(workspace).map { $0.split(separator: " < ").map(String.init) }
    for (number, piece) in pieces.enumerated().reversed() {
      try shell("engage-batch \(piece[0]) --out pieces/\(number) < \(piece[1])")
      try shell("cat \(piece[1]) | engage-batch \(piece[0]) --out pieces/\(number)", words: "which already existed")
    }
    // The first of the list, and the others of a section of it.
    let (half, last) = (pieces.count / 2, pieces.count - 1)
    func files(_ range: ClosedRange<Int>) -> String { pieces[range].map { $0[1] }.joined(separator: " ") }
    let section = try entries(workspace)[half...].joined(separator: ",")
    try workspace.write("half.json", "{\"first\": \(half), \"files\": [\(section)]}")
    let partition = "engage-batch partition job.json"
    if half > 0 {
      try shell("cat \(files(0...half - 1)) | \(partition) --files files.json --only 0-\(half - 1) --out grouped/0")
    }
    try shell("cat \(files(half...last)) | \(partition) --files half.json --only \(half)-\(last) --out grouped/\(half)")

    try shell("\(partition) --out whole")
    let expected = try decided("whole", parts: parts, in: workspace)
    try workspace.remove("in")
    for name in ["pieces", "grouped"] {
      try shell("\(partition) --files files.json --pieces \(name) --out \(name)-joined")
      try shell("\(partition) --files files.json --pieces \(name) --out \(name)-joined", words: "which already existed")
      #expect(try decided("\(name)-joined", parts: parts, in: workspace) == expected, "\(name)")
    }
  }

  private func entries(_ workspace: Workspace) throws -> [String] {
    try workspace.read("files.json").dropFirst().dropLast().split(separator: ",\n").map(String.init)
  }

  @Test("Ranges of files come to what one process makes, with the places of their lines")
  func ranges() throws {
    let workspace = try PartsTests.workspace(.engage)
    let pieces = try list(workspace).map { $0.split(separator: " < ").map(String.init) }
    var entries: [String] = []
    for (piece, entry) in zip(pieces, try self.entries(workspace)) {
      let path = piece[1].replacing("'", with: "")
      guard !path.hasSuffix(".gz") else {
        entries.append(entry)
        continue
      }
      let text = try workspace.shell("cat \(piece[1])").output
      let head = entry.prefix { $0 != "}" }.split(separator: ", \"bytes\"")[0]
      var (from, before) = (0, 0)
      // Ranges end where a line does.
      let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
      for start in stride(from: 0, to: lines.count, by: 150) {
        let range = lines[start..<min(start + 150, lines.count)]
        let bytes = min(range.reduce(0) { $0 + $1.utf8.count + 1 }, text.utf8.count - from)
        guard bytes > 0 else { break }
        entries.append("\(head), \"bytes\": \(bytes), \"from\": \(from), \"linesBefore\": \(before)}")
        (from, before) = (from + bytes, before + range.count)
      }
    }
    #expect(entries.count > pieces.count + 3)
    try workspace.write("files.json", "[\(entries.joined(separator: ",\n"))]")
    func run(_ line: String) throws {
      let finished = try workspace.shell(line)
      #expect(finished.code == 0, "\(line): \(finished.messages)")
    }
    let partition = "engage-batch partition job.json --parts 2"
    for (number, entry) in entries.enumerated() {
      let path = entry.split(separator: "\"")[3]
      let from = entry.firstMatch(of: /"from": (\d+)/)?.output.1 ?? "0"
      let bytes = entry.firstMatch(of: /"bytes": (\d+)/)?.output.1 ?? "0"
      try run(
        "tail -c +$((\(from) + 1)) '\(path)' | head -c \(bytes) | \(partition) --files files.json --only \(number) --out pieces/\(number)"
      )
    }
    try run("\(partition) --files files.json --pieces pieces --out joined")
    try run("\(partition) --out whole")
    #expect(try decided("joined", parts: 2, in: workspace) == decided("whole", parts: 2, in: workspace))
    let list = try workspace.read("files.json")
    for (changed, words) in [
      (list.replacing("linesBefore", with: "before"), "has 'from', so it needs 'bytes' and 'linesBefore'"),
      (list.replacing(/"from": \d{4,}/, with: "\"from\": 7"), "ranges must follow each other without gaps"),
    ] {
      try workspace.write("files.json", changed)
      let refused = try workspace.shell("\(partition) --files files.json --only 0 --out x </dev/null")
      #expect(refused.code == 78 && refused.messages.contains(words), "\(refused.messages)")
    }
  }

  @Test("What stands behind damage of an archive is nothing to one process, to parts and to pieces")
  func behindDamage() throws {
    let workspace = try Workspace([])
    func line(_ name: String, _ minute: Int) -> String {
      #"{"deviceId":"d","timestamp":"2026-01-15T08:0\#(minute):00Z","type":"namedEvent","name":"\#(name)"}"# + "\n"
    }
    try workspace.write("job.json", #"{"name": "j", "inputs": {"events": ["in"]}, "asOf": "2026-01-18T00:00:00Z"}"#)
    try workspace.write("before", line("before", 1) + line("before", 2))
    try workspace.write("behind", line("behind", 3))
    func step(_ command: String) throws {
      let finished = try workspace.shell(command)
      #expect(finished.code == 0, "\(command): \(finished.messages)")
    }
    // The trailer of the first member is another one.
    try step("mkdir -p in/events && (gzip -nc before | head -c -8; printf 12345678; gzip -nc behind) > in/events/a.gz")
    try step("engage-batch run job.json --no-upload --store s.sqlite --events-out whole --summary whole.json")
    let whole = try workspace.read("whole")
    #expect(whole.contains("before") && !whole.contains("behind"))
    let expected = #"{"read":3,"accepted":2,"duplicates":0,"outOfWindow":0,"forgotten":0,"leftOut":0,"quarantined":1}"#
    #expect(try Summary(workspace.read("whole.json")).text("records") == expected)

    try step("engage-batch partition job.json --parts 2 --out parts")
    let bytes = try workspace.shell("stat -c %s in/events/a.gz").lines.first ?? ""
    try workspace.write(
      "files.json", #"[{"path": "\#(workspace.path)/in/events/a.gz", "kind": "events", "bytes": \#(bytes)}]"#)
    let list = "engage-batch partition job.json --parts 2 --files files.json"
    try step("\(list) --only 0 --out pieces/0 < in/events/a.gz")
    try step("\(list) --pieces pieces --out joined")
    for part in 0..<2 { try step("engage-batch decide job.json --partition joined --part \(part) --out r/\(part)") }
    try step("engage-batch collect job.json r/0 r/1 --store p.sqlite --events-out found --summary found.json")
    #expect(try workspace.read("found") == whole)
    #expect(try Summary(workspace.read("found.json")).text("records") == expected)
  }

  @Test("A stream that was cut or changed is no end: 74, and nothing is left")
  func cut() throws {
    let workspace = try PartsTests.workspace(.engage)
    for (unit, words) in [("bytes", /bytes arrived, but/), ("lines", /lines? arrived, but/)] {
      for (number, piece) in try list(workspace, unit: unit).enumerated() {
        let line = piece.split(separator: " < ")
        // A damaged archive has no lines that anybody could have counted.
        if unit == "lines", line[1].contains(".gz") { continue }
        for source in ["head -c -1 \(line[1])", "head -c 100 \(line[1])", "(cat \(line[1]); echo; echo x)", "true"] {
          // Without its line feed a line is whole.
          if unit == "lines", source.contains("-c -1") { continue }
          let run = try workspace.shell("\(source) | engage-batch \(line[0]) --parts 2 --out pieces/\(number)")
          #expect(run.code == 74, "\(source): \(run.messages)")
          #expect(run.messages.contains(words), "\(run.messages)")
          #expect(run.messages.contains("truncated or changed; nothing was kept"), "\(run.messages)")
          #expect(!workspace.exists("pieces/\(number)"))
        }
      }
    }
  }

  @Test("Pieces that do not belong together are refused with 78, missing ones with 66, damaged ones with 74")
  func refused() throws {
    let workspace = try PartsTests.workspace(.engage)
    func command(_ code: Int32, _ words: String, _ line: String) throws {
      let finished = try workspace.shell("engage-batch \(line)")
      #expect(finished.code == code, "\(line): \(finished.messages)")
      #expect(finished.messages.contains(words), "\(line): \(finished.messages)")
    }
    let pieces = try list(workspace)
    for (number, piece) in pieces.enumerated() {
      try command(0, "of file \(number)", "\(piece) --parts 2 --out p/\(number)")
    }
    let join = "partition job.json --parts 2 --files files.json --out whole --pieces"
    try command(64, "either --only or --pieces", "partition job.json --parts 2 --files files.json --out r")
    try command(
      64, "--after cannot be combined with --only",
      "partition job.json --parts 2 --files files.json --only 0 --after x --out r")
    try command(
      78, "but no file \(pieces.count)",
      "partition job.json --parts 2 --files files.json --only \(pieces.count) --out r")
    try command(78, "it is for 2 parts, not 3", "\(join) p".replacing("--parts 2", with: "--parts 3"))
    try command(
      78, "it was created with settings that the job no longer has", "\(join) p --set Ingest.maxLineBytes=2000")
    try command(78, "it already exists", "\(pieces[0]) --parts 3 --out p/0")
    _ = try workspace.shell("cp -r p swapped && mv swapped/0 x && mv swapped/1 swapped/0 && mv x swapped/1")
    try command(78, "it is for file 1 of the list, not 0", "\(join) swapped")
    _ = try workspace.shell("cp -r p less && rm -r less/1")
    try command(66, "the piece for 1 file of \(pieces.count) is missing: 1", "\(join) less")
    // What a part gets of a piece is proved by who decides the part, and nothing else of it.
    for (name, part, change) in [
      ("0/lines", 0, "printf x | dd of=damaged/0/lines conv=notrunc"), ("1/lines", 1, "truncate -s -1 damaged/1/lines"),
    ] {
      _ = try workspace.shell("rm -rf r damaged of && cp -r p damaged && \(change)")
      try command(0, "in 2 parts", "\(join.replacing("whole", with: "of")) damaged")
      let decide = "decide job.json --partition of --out r --part"
      try command(74, "damaged/\(name): error: the file was changed or damaged", "\(decide) \(part)")
      try command(0, "part \(1 - part) of 2", "\(decide) \(1 - part)")
      // A piece that was made anew of other lines is not the one that the partition means.
      _ = try workspace.shell("echo >> damaged/0/piece.json")
      try command(74, "damaged/0/piece.json: error: the file was changed or damaged", "\(decide) \(part)")
    }
    _ = try workspace.shell("rm -rf r")
    let list = try workspace.read("files.json")
    try workspace.write("section.json", "{\"first\": 1, \"files\": \(list)}")
    try command(78, "it is only a section of a list", "\(join) p".replacing("files.json", with: "section.json"))
    // One from file 0 was taken for the whole list, and what follows it was left out.
    try workspace.write("head.json", "{\"first\": 0, \"files\": \(list)}")
    try command(78, "it is only a section of a list", "\(join) p".replacing("files.json", with: "head.json"))
    let only = "partition job.json --parts 2 --out r --files"
    try command(78, "it lists files 1 to \(pieces.count), but no file 0", "\(only) section.json --only 0")
    try command(64, "'2-1' is invalid for '--only", "\(only) files.json --only 2-1")
    try workspace.write("files.json", list.replacing("\"bytes\": ", with: "\"bytes\": 1"))
    try command(78, "it was made from a different list of files", "\(join) p")
    for (text, words) in [
      ("{}", "neither a list of files"), (#"[{"path": "a", "kind": "events"}]"#, "has neither 'bytes' nor 'lines'"),
      (#"[{"path": "a", "kind": "other", "bytes": 1}]"#, "has an unknown 'kind'"),
      (
        #"[{"path": "b", "kind": "events", "bytes": 1}, {"path": "a", "kind": "events", "bytes": 1}]"#,
        "out of order"
      ),
      (
        #"[{"path": "a", "kind": "events", "bytes": 1}, {"path": "a", "kind": "events", "bytes": 1}]"#,
        "out of order"
      ),
    ] {
      try workspace.write("files.json", text)
      try command(78, words, "\(join) p")
    }
    try workspace.write("files.json", "[]")
    try command(66, "no input", "\(join) p")
    #expect(!workspace.exists("whole") && !workspace.exists("r"))
  }
}
