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

  @Test(
    "Pieces come together byte for byte, whoever makes them and however often", arguments: PartsTests.Export.allCases,
    [1, 3])
  func equal(export: PartsTests.Export, parts: Int) throws {
    let workspace = try PartsTests.workspace(export)
    func command(_ line: String) throws {
      let finished = try workspace.shell("engage-batch \(line) --parts \(parts) \(Self.settings)")
      #expect(finished.code == 0, "\(line): \(finished.messages)")
    }
    try command("partition job.json --out whole")
    for (number, piece) in try list(workspace).enumerated().reversed() {
      // By a file, by a pipe, and twice.
      try command("\(piece) --out pieces/\(number)")
      let piped = piece.split(separator: " < ")
      let again = try workspace.shell(
        "cat \(piped[1]) | engage-batch \(piped[0]) --out pieces/\(number) --parts \(parts) \(Self.settings)")
      #expect(again.code == 0, "\(again.messages)")
      #expect(again.messages.contains("was there already"))
    }
    try workspace.remove("in")
    try command("partition job.json --files files.json --pieces pieces --out joined")
    let compared = try workspace.shell("diff -r whole joined")
    #expect(compared.code == 0, "\(compared.output)")
    try command("partition job.json --files files.json --pieces pieces --out joined")
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
    let expected = #"{"read":3,"accepted":2,"duplicates":0,"outOfWindow":0,"quarantined":1}"#
    #expect(try Summary(workspace.read("whole.json")).text("records") == expected)

    try step("engage-batch partition job.json --parts 2 --out parts")
    let bytes = try workspace.shell("stat -c %s in/events/a.gz").lines.first ?? ""
    try workspace.write(
      "files.json", #"[{"path": "\#(workspace.path)/in/events/a.gz", "kind": "events", "bytes": \#(bytes)}]"#)
    let list = "engage-batch partition job.json --parts 2 --files files.json"
    try step("\(list) --only 0 --out pieces/0 < in/events/a.gz")
    try step("\(list) --pieces pieces --out joined")
    try step("diff -r parts joined")
    for part in 0..<2 { try step("engage-batch decide job.json --partition joined --part \(part) --out r/\(part)") }
    try step("engage-batch collect job.json r/0 r/1 --store p.sqlite --events-out found --summary found.json")
    #expect(try workspace.read("found") == whole)
    #expect(try Summary(workspace.read("found.json")).text("records") == expected)
  }

  @Test("A stream that was cut or changed is no end: 74, and nothing is left")
  func cut() throws {
    let workspace = try PartsTests.workspace(.engage)
    for (unit, words) in [("bytes", "bytes came and"), ("lines", "lines came and")] {
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
          #expect(run.messages.contains("cut or changed; nothing was kept"), "\(run.messages)")
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
    try command(64, "--after belongs to", "partition job.json --parts 2 --files files.json --only 0 --after x --out r")
    try command(
      78, "and no file \(pieces.count)",
      "partition job.json --parts 2 --files files.json --only \(pieces.count) --out r")
    try command(78, "it is for 2 parts, and not for 3", "\(join) p".replacing("--parts 2", with: "--parts 3"))
    try command(78, "read with other settings", "\(join) p --set Ingest.maxLineBytes=2000")
    try command(78, "something else stands there", "\(pieces[0]) --parts 3 --out p/0")
    _ = try workspace.shell("cp -r p swapped && mv swapped/0 x && mv swapped/1 swapped/0 && mv x swapped/1")
    try command(78, "it is of file 1 of the list, and not of 0", "\(join) swapped")
    _ = try workspace.shell("cp -r p less && rm -r less/1")
    try command(66, "the piece of 1 file of \(pieces.count) is missing: 1", "\(join) less")
    _ = try workspace.shell("cp -r p changed && sed -i 's/D-5/D-6/' changed/0/lines")
    try command(74, "changed/0/lines: error: it is not as it was written", "\(join) changed")
    _ = try workspace.shell("cp -r p short && truncate -s -1 short/1/lines")
    try command(74, "short/1/lines: error: it is not as it was written", "\(join) short")
    let list = try workspace.read("files.json")
    try workspace.write("files.json", list + "\n")
    try command(78, "it is of a file of another list", "\(join) p")
    for (text, words) in [
      ("{}", "not a list of files"), (#"[{"path": "a", "kind": "events"}]"#, "has neither 'bytes' nor 'lines'"),
      (#"[{"path": "a", "kind": "other", "bytes": 1}]"#, "is of no kind of input"),
      (
        #"[{"path": "b", "kind": "events", "bytes": 1}, {"path": "a", "kind": "events", "bytes": 1}]"#,
        "not in the order"
      ),
      (
        #"[{"path": "a", "kind": "events", "bytes": 1}, {"path": "a", "kind": "events", "bytes": 1}]"#,
        "not in the order"
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
