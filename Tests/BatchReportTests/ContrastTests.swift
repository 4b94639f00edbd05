import Testing

@testable import BatchReport

/// Contrast by WCAG 2.2 AA, computed from the colors of the style sheet: 4.5 for text, 3 for parts of charts.
@Suite("Contrast of the pages") struct ContrastTests {
  /// The colors by name in the light scheme, the dark one and on paper; what one leaves out it has of the light scheme.
  private static var schemes: [[String: String]] {
    let blocks = HTMLReport.style.text.split(separator: ":root {", omittingEmptySubsequences: false).dropFirst()
      .map { $0.prefix { $0 != "}" } }
    let schemes = blocks.map { block in
      let pairs = block.split(separator: ";").compactMap { line -> (String, String)? in
        let parts = line.split(separator: ":").map { $0.filter { !$0.isWhitespace } }
        guard parts.count == 2, parts[0].hasPrefix("--"), parts[1].hasPrefix("#") else { return nil }
        return (String(parts[0].dropFirst(2)), String(parts[1].dropFirst()))
      }
      return Dictionary(uniqueKeysWithValues: pairs)
    }
    return schemes.map { schemes[0].merging($0) { $1 } }
  }

  private static func luminance(_ color: String) throws -> Double {
    let digits = color.utf8.count == 3 ? color.map { "\($0)\($0)" }.joined() : color
    let value = try #require(Int(digits, radix: 16))
    let parts = [value >> 16, value >> 8 & 255, value & 255].map { part in
      let share = Double(part) / 255
      return share <= 0.04045 ? share / 12.92 : power((share + 0.055) / 1.055)
    }
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]
  }

  /// The number to the power of 2.4: the fifth root of its twelfth power, by Newton's method.
  private static func power(_ number: Double) -> Double {
    let square = number * number
    let twelfth = square * square * square * square * square * square
    var root = max(number, 0.001)
    for _ in 0..<100 { root -= (root * root * root * root * root - twelfth) / (5 * root * root * root * root) }
    return root
  }

  private static func contrast(_ one: String, _ other: String) throws -> Double {
    let (light, dark) = (try luminance(one), try luminance(other))
    return (max(light, dark) + 0.05) / (min(light, dark) + 0.05)
  }

  @Test("The contrast is that of the standard's examples")
  func known() throws {
    #expect(try Self.contrast("000", "ffffff") == 21)
    #expect(try (Self.contrast("767676", "fff") * 100).rounded() == 454)
  }

  @Test("Texts and parts of charts stand out in the light scheme, the dark one and on paper")
  func schemes() throws {
    let schemes = Self.schemes
    #expect(schemes.count == 3)
    let texts = [
      ("ink", ["card", "page", "line", "good-bg", "warn-bg", "bad-bg"]), ("soft", ["card", "page", "band"]),
      ("accent", ["card", "page"]), ("good", ["card", "good-bg"]), ("warn", ["card", "warn-bg"]),
      ("bad", ["card", "bad-bg"]),
    ]
    for (number, colors) in schemes.enumerated() {
      func check(_ name: String, on ground: String, atLeast least: Double) throws {
        let found = try Self.contrast(try #require(colors[name]), try #require(colors[ground]))
        #expect(found >= least, "\(name) on \(ground) in scheme \(number): \(found)")
      }
      for (text, grounds) in texts { for ground in grounds { try check(text, on: ground, atLeast: 4.5) } }
      for place in 0...6 { try check("c\(place)", on: "card", atLeast: 3) }
      // The band has an edge in the color of soft text.
      for mark in ["c0", "c1", "c2"] { try check(mark, on: "band", atLeast: 3) }
      try check("bar", on: "card", atLeast: 3)
    }
  }
}
