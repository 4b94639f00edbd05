import BatchFoundation
import Testing

@testable import BatchIngest

@Suite struct InputFilesTests {
  private func folder() throws -> ScratchFolder {
    let folder = try ScratchFolder()
    for name in ["a.ndjson", "b.ndjson", "b2.txt", "sub/c.ndjson", "sub/deep/d.ndjson", "sub/.hidden", ".top"] {
      try folder.write(name, "{}\n")
    }
    return folder
  }

  @Test(arguments: [
    (["*.ndjson"], ["a.ndjson", "b.ndjson"]),
    (["?.ndjson", "b2.*"], ["a.ndjson", "b.ndjson", "b2.txt"]),
    (["*"], ["a.ndjson", "b.ndjson", "b2.txt", "sub/.hidden", "sub/c.ndjson", "sub/deep/d.ndjson"]),
    (["**/*.ndjson"], ["a.ndjson", "b.ndjson", "sub/c.ndjson", "sub/deep/d.ndjson"]),
    (["sub/**/d.ndjson", "sub/**/c.ndjson"], ["sub/c.ndjson", "sub/deep/d.ndjson"]),
    (["sub"], ["sub/.hidden", "sub/c.ndjson", "sub/deep/d.ndjson"]),
    (["sub/"], ["sub/.hidden", "sub/c.ndjson", "sub/deep/d.ndjson"]),
    (["sub/**"], ["sub/.hidden", "sub/c.ndjson", "sub/deep/d.ndjson"]),
    ([".*"], [".top"]),
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
