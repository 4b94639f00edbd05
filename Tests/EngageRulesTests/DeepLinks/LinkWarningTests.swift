import EngageRules
import TestSupport
import Testing

@Suite struct LinkWarningTests {
  @Test(arguments: LinkWarning.Kind.allCases)
  func everyKindIsDescribed(kind: LinkWarning.Kind) throws {
    #expect(try Checkout.text("docs/deep-links.md").contains("| `\(kind.rawValue)` |"))
  }

  @Test func aLinkHasNoMoreThanSixtyFour() throws {
    let url = "app://a?" + (0..<1000).map { "n\($0)" }.joined(separator: "&")
    try withReading(of: url, routes: nil) { #expect($0.warnings.count == 64) }
  }
}
