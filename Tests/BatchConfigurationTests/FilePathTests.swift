import BatchConfiguration
import Testing

@Suite struct FilePathTests {
  @Test(arguments: [
    ("a/b", "/x", "/x/a/b"), ("../b", "/x/y", "/x/b"), ("/b//c/./d", "/x", "/b/c/d"), ("../../..", "/x", "/"),
    ("", "/x", "/x"),
    ("*/../**", "/x", "/x/**"),
  ])
  func resolves(path: String, directory: String, expected: String) {
    #expect(FilePath.resolve(path, in: directory) == expected)
  }

  @Test(arguments: [
    ("/x/nightly.sqlite", "/x/nightly"), ("/x/nightly", "/x/nightly"), ("/x.d/nightly", "/x.d/nightly"),
    ("/x/.hidden", "/x/.hidden"), ("/x/a.b.c", "/x/a.b"), ("a.", "a"), ("", ""),
  ])
  func takesTheExtensionAway(path: String, expected: String) {
    #expect(FilePath.withoutExtension(path) == expected)
  }

  @Test func showsWhatLiesBelowAsRelative() {
    #expect(FilePath.shown("/x/y/z", from: "/x") == "y/z")
    #expect(FilePath.shown("/xy/z", from: "/x") == "/xy/z")
    #expect(FilePath.shown("/z", from: "/") == "z")
    #expect(FilePath.shown("/x", from: "/x") == "/x")
  }
}
