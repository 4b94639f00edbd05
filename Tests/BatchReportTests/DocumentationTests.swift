import BatchFoundation
import TestSupport
import Testing

@testable import BatchReport

/// The pages in `docs` say everything that the code can report.
@Suite struct DocumentationTests {
  @Test func everyPolicyForPersonalDataHasARow() throws {
    let cells = try Self.page("docs/watch.md").compactMap(Self.firstCell)
    for policy in PersonalDataPolicy.allCases { #expect(cells.contains(policy.rawValue)) }
  }

  /// The text in back quotes at the beginning of a table row.
  private static func firstCell(_ line: String) -> String? {
    guard line.hasPrefix("| `") else { return nil }
    return String(line.dropFirst(3).prefix { $0 != "`" })
  }

  private static func page(_ path: String) throws -> [String] {
    try Checkout.text(path).split(separator: "\n").map(String.init)
  }
}
