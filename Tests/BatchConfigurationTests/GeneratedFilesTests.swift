import BatchFoundation
import FoundationEssentials
import TestSupport
import Testing

@testable import BatchConfiguration

/// Files in `configs/` that follow from the table of settings. With `ENGAGE_RECORD=1` they are written anew, and the test fails
/// all the same, so that nobody mistakes a recording for a check.
@Suite struct GeneratedFilesTests {
  @Test func defaultsAreCurrent() throws {
    try check("EngageConfigDefaults.plist", PropertyListText.of(SettingsSchema.current.defaults))
  }

  @Test func schemaIsCurrent() throws {
    try check("EngageConfig.schema.json", (SettingsSchema.current.jsonSchema.text() + "\n"))
  }

  @Test func referenceIsCurrent() throws {
    let text = try Checkout.text("configs/README.md")
    let begin = "<!-- settings -->\n"
    let end = "<!-- /settings -->\n"
    let start = try #require(text.split(separator: begin, maxSplits: 1, omittingEmptySubsequences: false).first)
    let rest = try #require(text.split(separator: end, maxSplits: 1, omittingEmptySubsequences: false).last)
    try check("README.md", start + begin + "\n" + SettingsSchema.current.reference + "\n" + end + rest)
  }

  private func check(_ name: String, _ expected: String) throws {
    let file = "configs/\(name)"
    if ProcessInfo.processInfo.environment["ENGAGE_RECORD"] == "1" {
      try Data(expected.utf8).write(to: Checkout.url(file))
      Issue.record("recorded \(name)")
      return
    }
    #expect(try Checkout.text(file) == expected, "run with ENGAGE_RECORD=1 and look at the difference")
  }
}
