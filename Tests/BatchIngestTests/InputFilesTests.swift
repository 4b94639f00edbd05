import BatchFoundation
import Glibc
import TestSupport
import Testing

@testable import BatchIngest

@Suite struct InputFilesTests {
  private func folder() throws -> ScratchFolder {
    let folder = try ScratchFolder()
    for name in [
      "a.ndjson", "b.ndjson", "b2.txt", "sub/c.ndjson", "sub/deep/d.ndjson", "sub/.hidden", ".top", "sub/_SUCCESS",
      "_tmp/e.ndjson",
    ] {
      try folder.write(name, "{}\n")
    }
    return folder
  }

  @Test(arguments: [
    (["*.ndjson"], ["a.ndjson", "b.ndjson"]),
    (["?.ndjson", "b2.*"], ["a.ndjson", "b.ndjson", "b2.txt"]),
    (["*"], ["a.ndjson", "b.ndjson", "b2.txt", "sub/c.ndjson", "sub/deep/d.ndjson"]),
    (["**/*.ndjson"], ["a.ndjson", "b.ndjson", "sub/c.ndjson", "sub/deep/d.ndjson"]),
    (["sub/**/d.ndjson", "sub/**/c.ndjson"], ["sub/c.ndjson", "sub/deep/d.ndjson"]),
    (["sub"], ["sub/c.ndjson", "sub/deep/d.ndjson"]),
    (["sub/"], ["sub/c.ndjson", "sub/deep/d.ndjson"]),
    (["sub/**"], ["sub/c.ndjson", "sub/deep/d.ndjson"]),
    ([".*"], [".top"]), (["sub/.*", "sub/_*"], ["sub/.hidden", "sub/_SUCCESS"]), (["_tmp"], ["_tmp/e.ndjson"]),
    (["**/.hidden", "_*/*"], ["_tmp/e.ndjson", "sub/.hidden"]),
    (["b.ndjson", "./sub/../b.ndjson", "b*n"], ["b.ndjson"]),
    (["*/c.ndjson"], ["sub/c.ndjson"]),
    (["a*b*n", "a*.ndjson*"], ["a.ndjson"]),
  ])
  func findsFilesInByteOrder(patterns: [String], expected: [String]) throws {
    let folder = try folder()
    #expect(folder.relative(try InputFiles.find([.events: patterns], in: folder.path)) == expected)
  }

  @Test func readsAFileOncePerKind() throws {
    let folder = try folder()
    try folder.link("link.ndjson", to: "a.ndjson")
    let found = try InputFiles.find([.deepLinks: ["a.ndjson"], .events: ["*.ndjson"]], in: folder.path)
    #expect(folder.relative(found) == ["a.ndjson", "a.ndjson", "b.ndjson"])
    #expect(found.files.map(\.kind) == [.events, .deepLinks, .events])
  }

  @Test func warnsOfAPatternWithoutFilesAndRefusesARunWithoutAny() throws {
    let folder = try folder()
    let found = try InputFiles.find([.events: ["*.gz", "a.ndjson"]], in: folder.path)
    #expect(found.warnings.map(\.description) == ["warning: input '*.gz' matches nothing"])
    #expect(throws: InputError.noInput(patterns: ["*.gz", "none"])) {
      try InputFiles.find([.events: ["*.gz"], .deepLinks: ["none"]], in: folder.path)
    }
  }

  /// Spark, Hive and shells keep such names for themselves.
  @Test func saysWhatItPassedOver() throws {
    let folder = try folder()
    func words(_ patterns: [String]) throws -> [String] {
      try InputFiles.find([.events: patterns], in: folder.path).warnings.map {
        $0.description.replacing(folder.path + "/", with: "")
      }
    }
    let why = "with '_' or '.'; to include such names, spell out that character in the pattern"
    #expect(
      try words(["sub/*"]) == ["warning: skipped 2 names ('sub/.hidden', 'sub/_SUCCESS'), which begin \(why)"])
    #expect(try words(["sub", "sub/_SUCCESS"]) == ["warning: skipped 'sub/.hidden', whose name begins \(why)"])
    #expect(try words(["*/c.ndjson"]) == ["warning: skipped '_tmp', whose name begins \(why)"])
    #expect(try words(["*.ndjson"]) == [])
    try folder.write("out/_SUCCESS", "")
    let error = #expect(throws: InputError.self) { try InputFiles.find([.events: ["out"]], in: folder.path) }
    #expect(
      error?.description == "no input: no file in the folder 'out' ('inputs' of the job); "
        + "skipped '\(folder.path)/out/_SUCCESS', whose name begins \(why)")
  }

  @Test(arguments: [
    ("/a/b/c", "/a", true), ("/a/_b/c", "/a", false), ("/a/_b/c", "/a/_b", true), ("/a/.b/c", "/a/**/c", false),
    ("/a/b/c", "/a/**/c", true), ("/a/b/_c", "/a/b/*", false), ("/a/b/_c", "/a/**/_c", true), ("/a/c", "/a/**/c", true),
  ])
  func findsAPathByItsPattern(path: String, pattern: String, expected: Bool) {
    #expect(InputPattern.finds(path, by: pattern) == expected)
  }

  /// It was told that nothing matches.
  @Test func aFolderWithoutFilesIsCalledThat() throws {
    let folder = try ScratchFolder()
    _ = try folder.write("empty/none/a", "")
    #expect(unlink(folder.path + "/empty/none/a") == 0)
    try folder.write("a.ndjson", "{}\n")
    let found = try InputFiles.find([.events: ["empty", "a.ndjson"]], in: folder.path)
    #expect(found.warnings.map(\.description) == ["warning: input 'empty' is a folder without files"])
    let error = #expect(throws: InputError.self) {
      try InputFiles.find([.events: ["*.gz", "./empty"]], in: folder.path)
    }
    #expect(
      error?.description
        == "no input: nothing matches '*.gz', and no file in the folder './empty' ('inputs' of the job)")
    var required = InputPattern(.events, "empty")
    required.input.isRequired = true
    let missing = #expect(throws: InputError.self) { try InputFiles.find([required], in: folder.path) }
    #expect(
      missing?.description.hasPrefix("error: input 'empty' is a folder without files; nothing was processed") == true)
  }

  /// As many paths as 14 folders have orders, which nobody could walk.
  @Test func foldersThatLeadToEachOtherAreSearchedOnce() throws {
    let folder = try ScratchFolder()
    let names = (10..<24).map { "f\($0)" }
    for name in names { try folder.write("\(name)/\(name).ndjson", "{}\n") }
    for name in names {
      for other in names where other != name { try folder.link("\(name)/\(other)", to: "../\(other)") }
    }
    let found = try InputFiles.find([.events: ["**/*.ndjson"]], in: folder.path)
    // Each has the first of its paths, whatever order the disk has them in.
    #expect(folder.relative(found) == ["f10/f10.ndjson"] + names.dropFirst().map { "f10/\(names.chain(to: $0))" })
    #expect(try InputFiles.find([.events: ["."]], in: folder.path).files.count == 14)
  }

  @Test func survivesLoopsOfLinksAndPassesOverWhatIsNoFile() throws {
    let folder = try folder()
    try folder.link("sub/loop", to: "..")
    try folder.link("dangling", to: "nowhere")
    let found = try InputFiles.find([.events: ["**/*.ndjson", "dang*", "."]], in: folder.path)
    #expect(
      folder.relative(found).filter { $0.hasSuffix(".ndjson") } == [
        "a.ndjson", "b.ndjson", "sub/c.ndjson", "sub/deep/d.ndjson",
      ])
    #expect(found.warnings.contains(.notAFile(path: "\(folder.path)/dangling")))
    #expect(throws: InputError.notAFile(path: "/dev/null")) { try InputFiles.find([.events: ["/dev/null"]], in: "/") }
  }
}

/// Files that are no text, and pipes.
@Suite struct InputFormTests {
  @Test(arguments: [
    (FileForm.parquet, "PAR1\u{15}\u{4}\u{15}"), (.avro, "Obj\u{1}\u{4}"), (.zip, "PK\u{3}\u{4}"),
  ])
  func refusesWhatIsNoText(form: FileForm, start: String) throws {
    let folder = try ScratchFolder()
    try folder.write("a.ndjson", "{}\n")
    let path = try folder.write("b.parquet", start)
    let error = InputError.foreign(path: path, form)
    #expect(throws: error) { try InputFiles.find([.events: ["*"]], in: folder.path) }
    #expect(error.description.hasPrefix("\(path): error: "))
  }

  @Test func takesTextThatBeginsAlmostSo() throws {
    let folder = try ScratchFolder()
    for (name, start) in [("a", "PAR"), ("b", "PAR2"), ("c", "BZh9 and so on"), ("d", ""), ("e", "PK\n")] {
      try folder.write(name, start)
    }
    #expect(try InputFiles.find([.events: ["*"]], in: folder.path).files.count == 5)
  }

  /// Lines that are not text are bad lines, and a `.gz` that is not gzip is damaged.
  @Test func takesGzipByItsNameAlone() throws {
    let folder = try ScratchFolder()
    try folder.write("a.ndjson", [0x1F, 0x8B, 0x08, 0, 0, 0, 0, 0, 0, 3])
    try folder.write("b.gz", Array("PK\u{3}\u{4}".utf8))
    #expect(try InputFiles.find([.events: ["*"]], in: folder.path).files.count == 2)
  }

  /// Another thread failed while a pipe was silent, and the run waited for the pipe.
  @Test func aReaderThatWaitsForAPipeCanBeStopped() throws {
    let folder = try ScratchFolder()
    mkfifo("\(folder.path)/pipe", 0o600)
    let writer = open("\(folder.path)/pipe", O_RDWR | O_CLOEXEC)
    defer { close(writer) }
    let files = try InputFiles.find([.events: ["pipe"]], in: folder.path)
    let waits = Guarded(0)
    let source = LineSource(files, .test(temporaryFolder: folder.path), inOrder: false) { waits.change { $0 += 1 } }
    let next = Guarded<Result<UInt64?, any Error>?>(nil)
    let thread = try Threads.begin {
      let result = Result { try source.next(LineBlock(capacity: 1 << 12)) }
      next.change { $0 = result }
    }
    #expect(waits.wait(upTo: 10_000) { $0 > 0 ? true : nil } == true)
    source.stop()
    try #require(next.wait(upTo: 10_000) { $0 == nil ? nil : true } == true)
    thread.join()
    #expect(try next.withLock { try $0?.get() } == .some(nil))
  }

  @Test func takesAPipeThatIsNamed() throws {
    let folder = try ScratchFolder()
    mkfifo("\(folder.path)/pipe", 0o600)
    let found = try InputFiles.find([.events: ["pipe"]], in: folder.path)
    #expect(found.files.map(\.isPipe) == [true])
    #expect(found.pipe?.path.description == "\(folder.path)/pipe")
    #expect(throws: InputError.pipeTwice(path: "\(folder.path)/pipe")) {
      try InputFiles.find([.events: ["pipe"], .deepLinks: ["./pipe"]], in: folder.path)
    }
    try folder.write("a.ndjson", "{}\n")
    let matched = try InputFiles.find([.events: ["*"]], in: folder.path)
    #expect(folder.relative(matched) == ["a.ndjson"])
    #expect(matched.warnings == [.notAFile(path: "\(folder.path)/pipe")])
  }
}

extension [String] {
  /// The first path through the others in their order to a folder's own file.
  fileprivate func chain(to name: String) -> String {
    let before = dropFirst().prefix { $0 != name }
    return (before + [name, "\(name).ndjson"]).joined(separator: "/")
  }
}
