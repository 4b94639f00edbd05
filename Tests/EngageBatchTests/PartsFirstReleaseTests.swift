import BatchFoundation
import FoundationEssentials
import TestSupport
import Testing

/// Partitions, pieces and results that the first release left, with SHA-256 where there are sums now (reference formats 5.3).
@Suite("Parts of the first release") struct PartsFirstReleaseTests {
  private let workspace: Workspace

  init() throws { workspace = try PartsTests.workspace(.engage) }

  @discardableResult
  private func command(_ code: Int32, _ words: String, _ line: String) throws -> [String] {
    let finished = try workspace.shell("engage-batch \(line)")
    #expect(finished.code == code, "\(line): \(finished.messages)")
    #expect(finished.messages.contains(words), "\(line): \(finished.messages)")
    return finished.lines
  }

  /// Writes a document as the first release would have written it.
  ///
  /// - Parameter files: what it proves, piece by piece.
  private func age(_ document: String, _ files: [[UInt8]]) throws {
    var text = try workspace.read(document)
    for bytes in files {
      let sum = Hexadecimal.text(of: CopySum.hash(bytes))
      let digest = Hexadecimal.text(of: SHA256.hash(bytes))
      for (new, old) in [("sum", "sha256"), ("storeSum", "storeDigest")] {
        text = text.replacing("\"\(new)\" : \"\(sum)\"", with: "\"\(old)\" : \"\(digest)\"")
      }
      #expect(!text.contains(sum) && text.contains(digest), "\(document)")
    }
    #expect(text.contains("\"format\" : 2"))
    try workspace.write(document, text.replacing("\"format\" : 2", with: "\"format\" : 1"))
  }

  private func bytes(_ path: String) throws -> [UInt8] {
    Array(try Data(contentsOf: URL(filePath: "\(workspace.path)/\(path)")))
  }

  private func nights(_ folder: String, isAged: Bool) throws -> [String] {
    var events: [String] = []
    for night in 1...2 {
      try workspace.write(
        "in/events/night.ndjson",
        (0..<20).map {
          #"{"deviceId":"D-\#($0)","timestamp":"2026-01-1\#(5 + night)T08:00:00Z","type":"namedEvent","name":"n"}"#
            + "\n"
        }.joined())
      let place = "\(folder)/\(night)"
      let after = night > 1 ? "--after \(folder)/1/p" : ""
      try command(0, "", "partition job.json --parts 2 --out \(place)/p \(after)")
      if isAged {
        try age("\(place)/p/manifest.json", [try bytes("\(place)/p/part-00000"), try bytes("\(place)/p/part-00001")])
      }
      for part in 0..<2 {
        let state = night > 1 ? "--state-in \(folder)/1/\(part)" : ""
        try command(0, "", "decide job.json --partition \(place)/p --part \(part) --out \(place)/\(part) \(state)")
        if isAged { try age("\(place)/\(part)/result.json", [try bytes("\(place)/\(part)/store.sqlite")]) }
      }
      events += try command(
        0, "", "collect job.json \(place)/0 \(place)/1 --store \(folder).sqlite --events-out - --summary \(place).json")
    }
    return events
  }

  @Test("A night of the first release is decided, collected and continued")
  func nights() throws {
    let expected = try nights("new", isAged: false)
    #expect(expected.count > 100)
    #expect(try nights("aged", isAged: true) == expected)
    // What was changed is still found.
    _ = try workspace.shell("printf x | dd of=aged/2/p/part-00001 conv=notrunc; printf x >> aged/2/0/store.sqlite")
    try command(
      74, "part-00001: error: it is not as it was written",
      "decide job.json --partition aged/2/p --part 1 --state-in aged/1/1 --out r")
    try command(
      74, "aged/2/0/store.sqlite: error: it is not as it was written", "collect job.json aged/2/0 --store x.sqlite")
    // People go from a result of the first release, too, which is one of this release then.
    try command(0, "", "forget job.json --device D-1 --store aged.sqlite --result aged/2/1")
    #expect(try workspace.read("aged/2/1/result.json").contains("\"storeSum\""))
    #expect(try !workspace.read("aged/2/1/result.json").contains("\"storeDigest\""))
  }

  @Test("Pieces of the first release are put together and decided")
  func pieces() throws {
    let file = "\(workspace.path)/in/events/0.ndjson"
    let size = try bytes("in/events/0.ndjson").count
    try workspace.write("files.json", #"[{"path": "\#(file)", "kind": "events", "bytes": \#(size)}]"#)
    try command(0, "", "partition job.json --parts 2 --files files.json --only 0 --out p/0 < '\(file)'")
    let lines = try bytes("p/0/lines")
    func decided(_ folder: String) throws -> [String] {
      try command(0, "", "partition job.json --parts 2 --files files.json --pieces p --out \(folder)")
      for part in 0..<2 {
        try command(0, "", "decide job.json --partition \(folder) --part \(part) --out \(folder)-r/\(part)")
      }
      return try command(0, "", "collect job.json \(folder)-r/0 \(folder)-r/1 --store \(folder).sqlite --events-out -")
    }
    let expected = try decided("new")
    #expect(expected.count > 20)
    // Where the lines of the first part end, its piece says.
    let piece = try JSONNode.parse(Array(workspace.read("p/0/piece.json").utf8))
    let counts = (piece["parts"]?.array ?? []).compactMap { Int($0["bytes"]?.text() ?? "") }
    try #require(counts.count == 2 && counts[0] + counts[1] == lines.count)
    try age("p/0/piece.json", [Array(lines[..<counts[0]]), Array(lines[counts[0]...])])
    #expect(try decided("aged") == expected)
  }
}
