import TestSupport
import Testing

@testable import BatchFoundation

/// The table and the program are two ways to the same answer.
@Suite struct RegexTableTests {
  @Test(arguments: UInt64(1)...6)
  func answersAsTheProgramDoes(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    let pieces = ["a", "b", "[a-c]", "[^a]", ".", "(a|b)", "(ab)*", "c+", "d?", "\\d{2}", "^", "$", "\\b", "|", "\\w*"]
    var tables = 0
    for _ in 0..<400 {
      let pattern = (0..<random.below(6)).map { _ in pieces[random.below(pieces.count)] }.joined()
      // Some are not expressions, such as `^*`.
      guard let expression = try? LinearRegex(pattern) else { continue }
      guard let table = expression.table else { continue }
      tables += 1
      for _ in 0..<20 {
        let value = (0..<random.below(6)).map { _ in ["a", "b", "c", "d", "1", "\n"][random.below(6)] }.joined()
        let byTable = Array(value.utf8).withUnsafeBufferPointer { table.matches($0) }
        #expect(byTable == expression.program.matches(value.unicodeScalars.map(\.value)), "\(pattern) on \(value)")
      }
    }
    #expect(tables > 100)
  }

  @Test func plainExpressionsHaveATable() throws {
    for pattern in [
      "[A-Z]{3}", "^[a-z]{2}_[A-Z]{2}$", "[+-][0-9]{2}:[0-9]{2}", "(GRIND|PREMIUM)", "", "[A-Za-z0-9+/=]+",
    ] {
      #expect(try LinearRegex(pattern).table != nil, "\(pattern)")
    }
    #expect(try LinearRegex("\\bword\\b").table == nil)
    #expect(try LinearRegex("[ab]{1,60}c[ab]{60}").table == nil)
  }

  @Test func aCharacterBeyondASCIIIsLeftToTheProgram() throws {
    let expression = try LinearRegex("a.c")
    let table = try #require(expression.table)
    Array("aéc".utf8).withUnsafeBufferPointer {
      #expect(table.matches($0) == nil)
      #expect(expression.matches($0))
    }
  }

  @Test func outerAnchorsSayNothing() throws {
    let expression = try LinearRegex("^ab$")
    for (value, matches) in [("ab", true), ("ab\n", false), ("a", false), ("xab", false)] {
      #expect(Array(value.utf8).withUnsafeBufferPointer { expression.matches($0) } == matches)
    }
  }
}
