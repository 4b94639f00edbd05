import Foundation
import TestSupport
import Testing

@testable import EngageRules

@Suite struct WarningPageTests {
  @Test func everyKindOfWarningHasARowInItsOrder() throws {
    #expect(
      try rows(of: "docs/warnings.md") == WarningKind.allCases.map(\.rawValue)
        + LinkWarning.Kind.allCases.map(\.rawValue))
  }

  /// The names in back quotes that begin the rows of the tables of Engage's records and of its links.
  private func rows(of path: String) throws -> [String] {
    let sections = try Checkout.text(path).components(separatedBy: "\n## ")
    let own = sections.prefix(1) + sections.filter { $0.hasPrefix("Links\n") }
    return own.flatMap { $0.split(separator: "\n") }.filter { $0.hasPrefix("| `") }.map { line in
      String(line.dropFirst(3).prefix { $0 != "`" })
    }
  }
}
