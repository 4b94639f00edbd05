import TestSupport
import Testing

/// Rules are functions of records, states and settings: no clock, file, thread, program, random source or store is within their reach.
@Suite struct PureRulesTests {
  private static let rules = ["Sources/EngageRules", "Sources/GameRules"]
  private static let imports: Set = ["BatchFoundation", "BatchIngest", "BatchStore"]
  /// The types declared there touch the machine.
  private static let outside = [
    "Sources/BatchFoundation/Files", "Sources/BatchFoundation/Programs", "Sources/BatchFoundation/Threads",
    "Sources/BatchIngest/Files", "Sources/BatchStore/Database", "Sources/BatchStore/Ledger",
  ]

  private static let phrases = [".now", ".random(", "SystemRandomNumberGenerator"]

  private static func forbidden() throws -> Set<String> {
    let declaration = /^(?:package |public )?(?:@\w+ )*(?:final )?(?:struct|class|enum|protocol|actor) (\w+)/
      .anchorsMatchLineEndings()
    var names: Set<String> = []
    for folder in outside {
      for file in try Checkout.files(below: folder) where file.hasSuffix(".swift") {
        names.formUnion(try Checkout.text(file).matches(of: declaration).map { String($0.1) })
      }
    }
    return names
  }

  /// Each breach as `line: word`.
  private static func breaches(in text: String, _ forbidden: Set<String>) -> [String] {
    text.split(separator: "\n", omittingEmptySubsequences: false).enumerated().flatMap { number, line in
      let code = line.prefix { $0 != "/" }
      if let name = code.firstMatch(of: /import (\w+)$/)?.1 {
        return imports.contains(String(name)) ? [] : ["\(number + 1): import \(name)"]
      }
      let words = code.split { !$0.isLetter && !$0.isNumber && $0 != "_" }.map(String.init)
      return (phrases.filter { code.contains($0) } + words.filter(forbidden.contains)).map { "\(number + 1): \($0)" }
    }
  }

  @Test(arguments: rules) func reachNothingOutside(folder: String) throws {
    let forbidden = try Self.forbidden()
    for file in try Checkout.files(below: folder) where file.hasSuffix(".swift") {
      #expect(Self.breaches(in: try Checkout.text(file), forbidden) == [], "\(file)")
    }
  }

  @Test func wouldBeSeen() throws {
    let code = """
      package import BatchFoundation
      import Glibc

      // Instant.now is only mentioned here.
      let start = Instant.now, file = RegularFile("x")
      let store: EventStore
      """
    #expect(
      Self.breaches(in: code, try Self.forbidden())
        == ["2: import Glibc", "5: .now", "5: RegularFile", "6: EventStore"])
  }
}
