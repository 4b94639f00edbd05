import BatchFoundation
import BatchIngest
import Foundation
import Glibc
import TestSupport
import Testing

/// Own readers beside others, on random inputs that are the same every time.
@Suite("Own readers beside others") struct DifferentialTests {
  // MARK: - JSON

  @Test("What is JSON here is JSON for Foundation, and says the same", arguments: 0..<8)
  func json(seed: Int) throws {
    var random = SplitMix64(seed: UInt64(seed) + 100)
    for round in 0..<60 {
      var text = Self.json(4, &random)
      if round % 2 == 1 { Self.damage(&text, &random) }
      let own = try? JSONNode.parse(text)
      let theirs = try? JSONSerialization.jsonObject(with: Data(text), options: [.fragmentsAllowed])
      let shown = String(decoding: text, as: UTF8.self)
      if round % 2 == 0 { #expect(own != nil && theirs != nil, "\(shown)") }
      guard let own else { continue }
      let other = try #require(theirs, "only we take \(shown)")
      #expect(Self.areEqual(own, other), "\(shown)")
    }
  }

  private static func areEqual(_ own: JSONNode, _ other: Any) -> Bool {
    switch own.value {
    case .null: return other is NSNull
    case .bool(let flag): return (other as? Bool) == flag
    case .number(let digits): return (other as? NSNumber)?.doubleValue == Double(digits)
    case .string(let text):
      return (other as? String).map { Array($0.unicodeScalars) == Array(text.unicodeScalars) } ?? false
    case .array(let elements):
      guard let others = other as? [Any], others.count == elements.count else { return false }
      return zip(elements, others).allSatisfy { areEqual($0, $1) }
    case .object(let members):
      guard let others = other as? [String: Any], others.count == members.count else { return false }
      return members.allSatisfy { member in others[member.key].map { areEqual(member.value, $0) } ?? false }
    case .date, .written: return false
    }
  }

  private static func json(_ depth: Int, _ random: inout SplitMix64) -> [UInt8] {
    let space = Array([" ", "", "\t", "\r\n", ""][random.below(5)].utf8)
    func list(_ open: String, _ close: String, _ element: (Int) -> [UInt8]) -> [UInt8] {
      var text = Array(open.utf8) + space
      for number in 0..<random.below(4) {
        if number > 0 { text += Array(",".utf8) + space }
        text += element(number)
      }
      return text + space + Array(close.utf8)
    }
    switch random.below(depth > 0 ? 8 : 5) {
    case 0: return Array(["true", "false", "null"][random.below(3)].utf8)
    case 1, 2:
      let whole = ["0", "-0", "7", "-12", "65536", "123456"][random.below(6)]
      let more = ["", "", ".5", ".0625", "e3", "E-2", "e+10"][random.below(7)]
      return Array((whole + more).utf8)
    case 3, 4: return string(&random)
    case 5: return list("[", "]") { _ in json(depth - 1, &random) }
    default:
      return list("{", "}") { number in
        Array("\"k\(number)\"".utf8) + space + Array(":".utf8) + space + json(depth - 1, &random)
      }
    }
  }

  private static func string(_ random: inout SplitMix64) -> [UInt8] {
    let parts = [
      "a", "B", " ", "\\n", "\\\"", "\\\\", "\\/", "\\u00e9", "\\ud83d\\ude00", "é", "e\u{301}", "😀", "\u{2028}", "<",
      "\\u0041", "\\b",
    ]
    var text = "\""
    for _ in 0..<random.below(6) { text += parts[random.below(parts.count)] }
    return Array((text + "\"").utf8)
  }

  private static func damage(_ text: inout [UInt8], _ random: inout SplitMix64) {
    let signs = Array("{}[]\",:0-e.\\ua".utf8)
    let place = random.below(text.count)
    switch random.below(3) {
    case 0: text.remove(at: place)
    case 1: text[place] = signs[random.below(signs.count)]
    default: text.insert(signs[random.below(signs.count)], at: place)
    }
  }

  // MARK: - Expressions

  /// The expressions of phones are ICU's, which Foundation's are as well.
  @Test("An expression takes the values that ICU takes", arguments: 0..<8)
  func expressions(seed: Int) throws {
    var random = SplitMix64(seed: UInt64(seed) + 300)
    let pieces = [
      "a", "b", "é", "\\.", "[a-c]", "[^a]", "[\\d_-]", "[[:alpha:]é]", ".", "(a|b)", "(?:ab|a)", "(ab)*", "c+?", "d?",
      "\\d{2}",
      "\\w{0,2}", "(?i)", "(?i:B)", "(?s).", "^", "$", "\\b", "\\B", "|", "\\s", "\\S", "\\p{Lu}", "\\P{L}", "\\x61",
      "\\Qa.\\E", "[\\p{Lu}1]", "[\\P{Lu}]", "[^\\P{Ll}]", "[[:upper:]_]", "[[:^lower:]]",
    ]
    let characters = ["a", "b", "B", "c", "d", "1", "_", "-", ".", " ", "\n", "é", "É", "e\u{301}", "😀"]
    var compared = 0
    for _ in 0..<150 {
      let chosen = (0..<1 + random.below(5)).map { _ in pieces[random.below(pieces.count)] }
      let pattern = chosen.joined()
      // Whatever is no expression for us, such as `^*`, is refused when its file is read.
      guard let own = try? LinearRegex(pattern) else { continue }
      let theirs = try NSRegularExpression(pattern: "\\A(?:\(pattern))\\z")
      for round in 0..<15 {
        // Few values fit by chance; those that are made of texts that pieces take reach further into an expression.
        let value =
          round % 3 > 0
          ? chosen.map { Self.fitting[$0, default: [""]].randomElement(using: &random) ?? "" }.joined()
          : (0..<random.below(6)).map { _ in characters[random.below(characters.count)] }.joined()
        let range = NSRange(location: 0, length: value.utf16.count)
        let isTaken = Array(value.utf8).withUnsafeBufferPointer { own.matches($0) }
        #expect(
          isTaken == (theirs.firstMatch(in: value, range: range) != nil), "\(pattern) on \(value.debugDescription)")
        compared += 1
      }
    }
    #expect(compared > 1000)
  }

  /// Texts that a piece of an expression takes; those that are not here take none.
  private static let fitting = [
    "a": ["a"], "b": ["b"], "é": ["é"], "\\.": ["."], "[a-c]": ["a", "c"], "[^a]": ["b", "-", "\n"],
    "[\\d_-]": ["1", "_", "-"], "[[:alpha:]é]": ["B", "é"], ".": ["d", " ", "-"], "(a|b)": ["a", "b"],
    "(?:ab|a)": ["ab", "a"], "(ab)*": ["", "ab", "abab"], "c+?": ["c", "cc"], "d?": ["", "d"], "\\d{2}": ["11"],
    "\\w{0,2}": ["", "a1"], "(?i:B)": ["b", "B"], "(?s).": ["\n", "a"], "\\s": [" ", "\n"], "\\S": ["-", "É"],
    "\\p{Lu}": ["B", "É"], "\\P{L}": ["1", "."], "\\x61": ["a"], "\\Qa.\\E": ["a."], "[\\p{Lu}1]": ["B", "b", "1"],
    "[\\P{Lu}]": ["B", "b", "é"], "[^\\P{Ll}]": ["B", "b", "1"], "[[:upper:]_]": ["É", "é", "_"],
    "[[:^lower:]]": ["É", "é", "_"],
  ]

  // MARK: - Times

  @Test("Times are written and read as Foundation does, through leap years and centuries")
  func times() throws {
    var random = SplitMix64(seed: 7)
    let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
    // The last day that both know, and the ends of months around leap years.
    var instants = (0..<2000).map { _ in Int64(random.next() % 253_402_300_799_999) }
    for year in [1972, 1999, 2000, 2001, 2004, 2099, 2100, 2400] {
      let start = try #require(Instant.parse(rfc3339: "\(year)-02-28T23:59:59Z")).milliseconds
      instants += [start, start + 1000, start + 86_400_000, start + 86_401_000]
    }
    for milliseconds in instants {
      let whole = milliseconds / 1000 * 1000
      let date = Date(timeIntervalSince1970: Double(whole) / 1000)
      let text = Instant(milliseconds: whole).rfc3339
      #expect(text == style.format(date))
      #expect(Instant.parse(rfc3339: text)?.milliseconds == whole)
      #expect(try style.parse(text) == date)
    }
  }

  // MARK: - Inflating

  @Test("What gzip made inflates to what gzip takes out of it", arguments: 0..<12)
  func inflating(seed: Int) throws {
    var random = SplitMix64(seed: UInt64(seed) + 500)
    let folder = try TemporaryFolder()
    var content: [UInt8] = []
    for _ in 0..<random.below(40) {
      let repeats = 1 + random.below(300)
      let part = (0..<1 + random.below(30)).map { _ in UInt8(random.below(seed % 2 == 0 ? 4 : 256)) }
      for _ in 0..<repeats { content += part }
    }
    let path = folder.path + "/content"
    try Data(content).write(to: URL(fileURLWithPath: path))
    // Two members one after the other are one file.
    let made = Glibc.system("gzip -\(1 + seed % 9) -c '\(path)' > '\(path).gz'; gzip -c '\(path)' >> '\(path).gz'")
    try #require(made == 0)
    let packed = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path + ".gz")))
    #expect(try inflated(packed, step: 1 + random.below(5000)) == content + content)
  }

  private func inflated(_ packed: [UInt8], step: Int) throws -> [UInt8] {
    var inflater = try Inflater()
    var output: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: step)
    try packed.withUnsafeBytes { bytes in
      var rest = UnsafeRawBufferPointer(rebasing: bytes[...])
      while true {
        let part = buffer.withUnsafeMutableBytes { inflater.inflate(rest, into: $0) }
        try #require(part.fault == nil)
        output += buffer.prefix(part.produced)
        guard part.consumed + part.produced > 0 else { break }
        rest = UnsafeRawBufferPointer(rebasing: rest[part.consumed...])
      }
    }
    #expect(inflater.faultAtEnd == nil)
    return output
  }
}
