import BatchFoundation
import Testing

@Suite struct PathTextTests {
  @Test(arguments: [
    ("a/b", "/x", "/x/a/b"), ("../b", "/x/y", "/x/b"), ("/b//c/./d", "/x", "/b/c/d"), ("../../..", "/x", "/"),
    ("", "/x", "/x"),
    ("*/../**", "/x", "/x/**"),
  ])
  func resolves(path: String, directory: String, expected: String) {
    #expect(PathText.resolve(path, in: directory) == expected)
  }

  @Test(arguments: [
    ("/x/nightly.sqlite", "/x/nightly"), ("/x/nightly", "/x/nightly"), ("/x.d/nightly", "/x.d/nightly"),
    ("/x/.hidden", "/x/.hidden"), ("/x/a.b.c", "/x/a.b"), ("a.", "a"), ("", ""),
  ])
  func takesTheExtensionAway(path: String, expected: String) {
    #expect(PathText.withoutExtension(path) == expected)
  }

  @Test func showsWhatLiesBelowAsRelative() {
    #expect(PathText.shown("/x/y/z", from: "/x") == "y/z")
    #expect(PathText.shown("/xy/z", from: "/x") == "/xy/z")
    #expect(PathText.shown("/z", from: "/") == "z")
    #expect(PathText.shown("/x", from: "/x") == "/x")
  }
}
