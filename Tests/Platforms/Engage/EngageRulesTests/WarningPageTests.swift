import TestSupport
import Testing

@testable import EngageRules

@Suite struct WarningPageTests {
  @Test func everyKindOfWarningHasARowInItsOrder() throws {
    #expect(
      try rows(of: "docs/warnings.md") == WarningKind.allCases.map(\.rawValue)
        + LinkWarning.Kind.allCases.map(\.rawValue))
  }

  /// What stands in back quotes at the beginning of the tables' rows, up to those of another platform.
  private func rows(of path: String) throws -> [String] {
    let page = try Checkout.text(path)
    let end = page.firstRange(of: "\n## deltaDNA\n")?.lowerBound ?? page.endIndex
    return page[..<end].split(separator: "\n").filter { $0.hasPrefix("| `") }.map { line in
      String(line.dropFirst(3).prefix { $0 != "`" })
    }
  }
}
