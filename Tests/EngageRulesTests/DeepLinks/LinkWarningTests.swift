import EngageRules
import TestSupport
import Testing

@Suite struct LinkWarningTests {
  @Test func aLinkHasNoMoreThanSixtyFour() throws {
    let url = "app://a?" + (0..<1000).map { "n\($0)" }.joined(separator: "&")
    try withReading(of: url, routes: nil) { #expect($0.warnings.count == 64) }
  }
}
