import BatchFoundation
import Testing

@testable import BatchIngest

/// No look-up of accepted lines knows any here: a file whose lines are duplicates was not read for them.
@Suite("Files that need not be read again") struct KnownFilesTests {
  private func known(_ harvest: Harvest) -> [KnownFile] {
    harvest.result.knownFiles.sorted { $0.key < $1.key }.map(\.value)
  }

  /// Read, accepted, duplicates, out of the window, quarantined.
  private func figures(_ harvest: Harvest) -> [Int] {
    let counts = harvest.result.counts
    return [counts.read, counts.accepted, counts.duplicates, counts.outOfWindow, counts.quarantined]
  }

  private func read(
    _ folder: ScratchFolder, _ kind: InputKind = .events, known files: [KnownFile] = [],
    _ change: (inout IngestOptions) -> Void = { _ in }
  ) throws -> Harvest {
    try harvest([kind: ["in"]], in: folder) {
      $0.knownFiles = KnownFiles(files)
      change(&$0)
    }
  }

  @Test("A file all of whose lines were taken is known, compressed or not, with duplicates and blank lines")
  func takenAsAWhole() throws {
    let folder = try ScratchFolder()
    let text = "\(launch("x", 5))\n\n\(launch("y", 3))\r\n\(launch("x", 5))"
    try folder.write("in/a", text)
    try folder.write("in/b.gz", gzipMember(Array("\(launch("x", 7))\n".utf8)))
    let first = try read(folder)
    #expect(figures(first) == [4, 3, 1, 0, 0])
    #expect(known(first).map(\.lines) == [3, 1])
    #expect(known(first).map(\.span.lowerBound.milliseconds) == [3000, 7000])
    #expect(known(first).map(\.span.upperBound.milliseconds) == [5000, 7000])
    let second = try read(folder, known: known(first))
    #expect(figures(second) == [4, 0, 4, 0, 0])
    #expect(second.result.knownFiles.isEmpty)
    // A new file beside them is read.
    try folder.write("in/c", launch("z", 1))
    let third = try read(folder, known: known(first))
    #expect(figures(third) == [5, 1, 4, 0, 0])
    #expect(known(third).map(\.lines) == [1])
  }

  @Test(
    "A file with a line that was not taken, or something to tell of, is read each time",
    arguments: [
      "\(launch("x", 5))\n{}\n", "\(launch("x", 5))\n\(launch("x", 90))\n",
      "\(launch("x", 5))\n\(launch("x", 6, #","surprise":1"#))\n",
      "\(launch("x", 5))\n\(String(repeating: "x", count: 5000))",
      "\n", "",
    ])
  func notTaken(text: String) throws {
    let folder = try ScratchFolder()
    try folder.write("in/a", text)
    let harvest = try read(folder) {
      $0.window.to = Instant(milliseconds: 50_000)
      $0.maxLineBytes = 4096
    }
    #expect(harvest.result.knownFiles.isEmpty)
  }

  @Test("A damaged archive is read each time") func damaged() throws {
    let folder = try ScratchFolder()
    try folder.write("in/a.gz", Array(gzipMember(Array("\(launch("x", 7))\n".utf8)).dropLast()))
    #expect(try read(folder).result.knownFiles.isEmpty)
  }

  @Test("The same bytes under a name that says otherwise whether they are compressed are read") func renamed() throws {
    let folder = try ScratchFolder()
    let text = "\(launch("x", 7))\n"
    try folder.write("in/a", text)
    let plain = try known(read(folder))
    try folder.write("in/b.gz", Array(text.utf8))
    #expect(try figures(read(folder, known: plain)) == [2, 0, 1, 0, 1])
    let other = try ScratchFolder()
    try other.write("in/a.gz", gzipMember(Array(text.utf8)))
    let packed = try known(read(other))
    try other.write("in/b", gzipMember(Array(text.utf8)))
    #expect(try figures(read(other, known: packed)) == [2, 0, 1, 0, 1])
  }

  @Test("Nobody asks: nothing is told") func notAsked() throws {
    let folder = try ScratchFolder()
    try folder.write("in/a", launch("x", 5))
    #expect(try harvest([.events: ["in"]], in: folder).result.knownFiles.isEmpty)
  }

  @Test("The same bytes have to be there, read in the same way, and known as they were") func proved() throws {
    let folder = try ScratchFolder()
    try folder.write("in/a", "\(launch("x", 5))\n")
    let known = known(try read(folder))
    #expect(figures(try read(folder, known: known)) == [1, 0, 1, 0, 0])
    #expect(figures(try read(folder, known: known) { $0.maxLineBytes -= 1 }) == [1, 1, 0, 0, 0])
    #expect(figures(try read(folder, .notifications, known: known)) == [1, 0, 0, 0, 1])
    for change: (inout KnownFile) -> Void in [
      { $0.lines += 1 }, { $0.span = Instant(milliseconds: 4999)...$0.span.upperBound }, { $0.proof[0] ^= 1 },
      { $0.size += 1 },
    ] {
      var other = known
      change(&other[0])
      #expect(figures(try read(folder, known: other)) == [1, 1, 0, 0, 0])
    }
    try folder.write("in/a", "\(launch("x", 6))\n")
    #expect(figures(try read(folder, known: known)) == [1, 1, 0, 0, 0])
  }

  @Test(
    "Lines count as they would if they were read",
    arguments: [
      (nil, nil, [2, 0, 2, 0, 0]), (2000, 4001, [2, 0, 2, 0, 0]), (nil, 2000, [2, 0, 0, 2, 0]),
      (4001, nil, [2, 0, 0, 2, 0]), (nil, 4000, [2, 1, 0, 1, 0]), (2001, nil, [2, 1, 0, 1, 0]),
    ] as [(Int64?, Int64?, [Int])])
  func window(from: Int64?, to: Int64?, figures wanted: [Int]) throws {
    let folder = try ScratchFolder()
    try folder.write("in/a", "\(launch("x", 2))\n\(launch("x", 4))\n")
    let known = known(try read(folder))
    let harvest = try read(folder, known: known) {
      $0.window = TimeWindow(from: from.map { Instant(milliseconds: $0) }, to: to.map { Instant(milliseconds: $0) })
    }
    #expect(figures(harvest) == wanted)
  }

  @Test("Late records count within their span, and a file that reaches into it is read") func late() throws {
    let folder = try ScratchFolder()
    try folder.write("in/a", "\(launch("x", 2))\n\(launch("x", 4))\n")
    let known = known(try read(folder))
    for (late, wanted) in [
      (2000..<4001, [2, 0, 2, 0, 0]), (4000..<9000, [2, 1, 0, 1, 0]), (5000..<9000, [2, 0, 0, 2, 0]),
    ] {
      let harvest = try read(folder, known: known) {
        $0.window.from = Instant(milliseconds: 9000)
        $0.late = Instant(milliseconds: Int64(late.lowerBound))..<Instant(milliseconds: Int64(late.upperBound))
      }
      #expect(figures(harvest) == wanted)
    }
  }

  @Test("A file with lines from before what is known is read") func knownSince() throws {
    let folder = try ScratchFolder()
    try folder.write("in/a", "\(launch("x", 2))\n\(launch("x", 4))\n")
    let known = known(try read(folder))
    #expect(figures(try read(folder, known: known) { $0.knownSince = Instant(milliseconds: 2000) }) == [2, 0, 2, 0, 0])
    let harvest = try read(folder, known: known) { $0.knownSince = Instant(milliseconds: 2001) }
    #expect(figures(harvest) == [2, 1, 0, 1, 0])
    #expect(harvest.result.counts.beforeKnown == 1)
  }
}
