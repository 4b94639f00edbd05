import BatchFoundation
import Testing

@Suite struct LinearRegexTests {
  @Test(
    arguments: [
      ("abc", ["abc"], ["", "ab", "abcd", "xabc"]),
      ("a|ab", ["a", "ab"], ["b", "aab"]),
      ("(a|b)*c", ["c", "abbac"], ["ab", "abcc"]),
      ("(?:ab)+", ["ab", "abab"], ["", "aba"]),
      ("(?<name>a)b", ["ab"], ["a"]),
      ("a{3}", ["aaa"], ["aa", "aaaa"]),
      ("a{2,}", ["aa", "aaaaa"], ["a"]),
      ("a{0,2}?b", ["b", "ab", "aab"], ["aaab"]),
      ("a*?", ["", "aaa"], ["b"]),
      ("(a*)*", ["", "aaa"], ["b"]),
      ("(a|b|)+", ["", "abab"], ["c"]),
      ("()*", [""], ["a"]),
      (".", ["a", "\u{1F600}", "é"], ["", "ab", "\n", "\u{2028}"]),
      ("(?s).", ["\n"], [""]),
      ("\\d+", ["0123", "\u{661}"], ["", "1a", "\u{B2}"]),
      ("\\D", ["a"], ["1"]),
      ("\\w+", ["aZ_9é\u{301}"], ["a-b", " "]),
      ("\\W", ["-", " "], ["_"]),
      ("\\s\\S", [" a", "\u{A0}b"], ["a "]),
      ("[a-c-]+", ["a-b"], ["d"]),
      ("[]a]+", ["]a"], ["b"]),
      ("[^a-c]", ["d", "\u{E9}"], ["a", ""]),
      ("[\\d\\-.]+", ["1-2.3"], ["a"]),
      ("[[:alpha:]_]+", ["aé_"], ["1"]),
      ("[a[^b-z]]", ["a", "1"], ["b"]),
      ("\\p{Lu}\\P{L}", ["A1"], ["a1", "AA"]),
      // Only capitals were taken, and \P{Lu} took them in brackets.
      ("(?i)\\p{Lu}\\P{Lu}[\\P{Lu}][[:upper:]]", ["a1-é", "A1-É"], ["aa1b", "a1ab", "a1A1"]),
      ("(?i)stra\u{DF}e-[A-F]", ["STRA\u{DF}E-b", "Stra\u{DF}e-F"], ["strase-b", "stra\u{DF}e-g"]),
      ("a(?i:b)c", ["abc", "aBc"], ["Abc", "abC"]),
      ("(?i)a(?-i)b", ["Ab"], ["AB"]),
      ("(a(?i)b)c", ["aBc"], ["aBC"]),
      ("^a$", ["a"], ["a\n", "b"]),
      ("\\Aa\\z", ["a"], ["a\n"]),
      ("a$\\n", ["a\n"], ["a", "a\n\n"]),
      ("a$\\n$\\n", [], ["a\n\n"]),
      ("(?m)a$\\n^b", ["a\nb"], ["a\n\nb"]),
      ("a\\b.*", ["a", "a b"], ["ab"]),
      ("a\\Bb", ["ab"], ["a"]),
      ("e.?\\b-", ["e\u{301}-"], ["e-e"]),
      ("(?i)\u{17F}k", ["SK", "s\u{212A}"], ["sh"]),
      ("\\x41\\u0042\\x{43}\\0104", ["ABCD"], ["abcd"]),
      ("\\Q[a]*\\E+", ["[a]*", "[a]***"], ["[a]"]),
      ("\\.\\*\\\\", [".*\\"], ["a"]),
      ("a(?#comment)b", ["ab"], ["acommentb"]),
      ("", [""], ["a"]),
      ("|a", ["", "a"], ["b"]),
      ("[0-9]{4}-[0-9]{2}", ["2014-06"], ["2014-6"]),
    ] as [(String, [String], [String])])
  func matchesWholeValues(pattern: String, accepted: [String], rejected: [String]) throws {
    let expression = try LinearRegex(pattern)
    for value in accepted { #expect(verdict(expression, value) == .accepted, "\(pattern) on \(value)") }
    for value in rejected { #expect(verdict(expression, value) == .rejected, "\(pattern) on \(value)") }
  }

  @Test(arguments: [
    ("[", "'[' is never closed", 1),
    ("a)(b", "')' has no matching '('", 2),
    ("ab(c", "'(' is never closed", 3),
    ("*a", "'*' has nothing to repeat", 1),
    ("a|+", "'+' has nothing to repeat", 3),
    ("a**", "a quantifier cannot follow another quantifier", 3),
    ("a++", "possessive quantifiers are not supported", 3),
    ("a{3,2}", "the limits of a quantifier are reversed", 2),
    ("a{,2}", "a number is missing after '{'", 3),
    ("{2}", "'{' has nothing to repeat; for a literal brace, write '\\{'", 1),
    ("[z-a]", "the end of a range must be a single character, and not before its start", 2),
    ("(a)\\1", "back-references are not supported", 4),
    ("a\\x{41", "'}' is missing after the hexadecimal digits", 2),
    ("a(?=b)", "look-around is not supported", 2),
    ("(?<!a)b", "look-around is not supported", 1),
    ("(?>a)", "atomic groups are not supported", 1),
    ("(?x)a", "the flag 'x' is not supported", 3),
    ("[a&&b]", "set operations in classes are not supported", 3),
    ("\\y", "the escape '\\y' is not supported", 1),
    ("a\\", "nothing follows the last '\\'", 2),
    ("\\p{Lu", "'\\p{' has no '}'", 1),
    ("\\p{Klingon}", "the property 'Klingon' is not supported", 1),
    ("((a{100}){100}){100}", "the expression is too large", 1),
    ("a{999999999999999999999}", "the expression is too large", 1),
    (String(repeating: "(", count: 1000), "groups are nested more than 100 levels deep", 102),
    (String(repeating: "[a", count: 1000), "classes are nested more than 100 levels deep", 203),
    (String(repeating: "a", count: 5000), "the expression is too large", 1),
  ])
  func refusesWithThePlace(pattern: String, reason: String, position: Int) {
    let fault = #expect(throws: LinearRegex.Fault.self) { try LinearRegex(pattern) }
    #expect(fault?.reason == reason)
    #expect(fault?.position == position)
  }

  @Test(arguments: ["(a+)+b", "(a|a)*b", "(a|aa)+b", "(.*)*x", "([a-z]+)*[0-9]", "(a?){500}a{500}b", "((a*)*)*b"])
  func takesNoLongerForWickedExpressions(pattern: String) throws {
    let expression = try LinearRegex(pattern)
    let value = String(repeating: "a", count: 1500)
    let start = ContinuousClock.now
    #expect(verdict(expression, value) == .rejected)
    #expect(ContinuousClock.now - start < .seconds(20))
  }

  @Test func knowsExpressionsForOneCharacter() throws {
    #expect(try LinearRegex("[0-9]").acceptsSingleCharactersOnly)
    #expect(try LinearRegex("^(a|b?)$").acceptsSingleCharactersOnly)
    #expect(try !LinearRegex("[0-9]+").acceptsSingleCharactersOnly)
    #expect(try !LinearRegex("").acceptsSingleCharactersOnly)
  }

  @Test func saysWhenAValueIsTooLong() throws {
    let expression = try LinearRegex("a*")
    #expect(verdict(expression, String(repeating: "a", count: LinearRegex.longestValue)) == .accepted)
    #expect(verdict(expression, String(repeating: "a", count: LinearRegex.longestValue + 1)) == .tooLong)
  }

  private func verdict(_ expression: LinearRegex, _ value: String) -> LinearRegex.Verdict {
    Array(value.utf8).withUnsafeBufferPointer { expression.verdict(on: $0) }
  }
}
