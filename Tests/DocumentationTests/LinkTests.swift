import FoundationEssentials
import TestSupport
import Testing

@Suite("Links of the pages") struct LinkTests {
  @Test("Each leads to a file, and to a heading if it names one")
  func everyLinkLeadsSomewhere() throws {
    let pages = try MarkdownPage.all()
    let anchors = Dictionary(uniqueKeysWithValues: pages.map { ($0.path, $0.anchors) })
    var count = 0
    for page in pages {
      for (line, target) in page.links where !target.contains("://") && !target.hasPrefix("mailto:") {
        count += 1
        let parts = target.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
        let path = parts[0].isEmpty ? page.path : Self.resolve(String(parts[0]), from: page.path)
        #expect(FileManager.default.fileExists(atPath: Checkout.url(path).path), "\(page.path):\(line): \(target)")
        if parts.count > 1 {
          #expect(anchors[path]?.contains(String(parts[1])) == true, "\(page.path):\(line): \(target)")
        }
      }
    }
    #expect(count > 100)
  }

  /// The path from the top of the checkout.
  private static func resolve(_ target: String, from page: String) -> String {
    var folders = page.split(separator: "/").dropLast().map(String.init)
    for part in target.split(separator: "/") {
      if part == ".." { _ = folders.popLast() } else if part != "." { folders.append(String(part)) }
    }
    return folders.joined(separator: "/")
  }
}
