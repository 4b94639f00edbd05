import FoundationEssentials
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
    var folder = URL(filePath: #filePath)
    while !FileManager.default.fileExists(atPath: folder.appending(path: "Package.swift").path) {
      folder = folder.deletingLastPathComponent()
    }
    let text = String(decoding: try Data(contentsOf: folder.appending(path: path)), as: UTF8.self)
    return text.split(separator: "\n").filter { $0.hasPrefix("| `") }.map { line in
      String(line.dropFirst(3).prefix { $0 != "`" })
    }
  }
}
