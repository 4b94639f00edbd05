import TestSupport
import Testing

@Suite("Pages below docs") struct PageTests {
  @Test("There are few, and no two of one name")
  func names() throws {
    let paths = try MarkdownPage.documents()
    #expect(paths.count <= 26)
    #expect(Set(paths.compactMap { $0.split(separator: "/").last }).count == paths.count)
  }

  @Test("Each names its readers in the first line of its text", arguments: try MarkdownPage.documents())
  func readers(path: String) throws {
    let lines = try Checkout.text(path).split(separator: "\n")
    #expect(lines.first?.hasPrefix("# ") == true)
    #expect(lines.dropFirst().first?.firstMatch(of: /^For .*\b(marketing|operations|data|developers)\b/) != nil)
  }
}
