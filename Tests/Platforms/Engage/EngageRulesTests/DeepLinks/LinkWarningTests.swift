import EngageRules
import FoundationEssentials
import Testing

@Suite struct LinkWarningTests {
  @Test(arguments: LinkWarning.Kind.allCases)
  func everyKindIsDescribed(kind: LinkWarning.Kind) throws {
    let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../../../..")
    let text = String(decoding: try Data(contentsOf: root.appending(path: "docs/deep-links.md")), as: UTF8.self)
    #expect(text.contains("| `\(kind.rawValue)` |"))
  }

  @Test func aLinkHasNoMoreThanSixtyFour() throws {
    let url = "app://a?" + (0..<1000).map { "n\($0)" }.joined(separator: "&")
    try withReading(of: url, routes: nil) { #expect($0.warnings.count == 64) }
  }
}
