import TestSupport
import Testing

@testable import EngageRules

@Suite struct WarningPageTests {
  @Test func everyKindOfWarningHasARowInItsOrder() throws {
    #expect(
      try rows(of: "docs/warnings.md") == WarningKind.allCases.map(\.rawValue)
        + LinkWarning.Kind.allCases.map(\.rawValue))
  }

  /// What stands in back quotes at the beginning of the tables' rows.
  private func rows(of path: String) throws -> [String] {
    try Checkout.text(path).split(separator: "\n").filter { $0.hasPrefix("| `") }.map { line in
      String(line.dropFirst(3).prefix { $0 != "`" })
    }
  }
}
