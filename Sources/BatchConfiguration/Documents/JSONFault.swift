import BatchFoundation

/// Describes the error at the offset where a JSON document becomes invalid, by naming what may follow the valid text
/// before it.
package struct JSONFault {
  private let bytes: [UInt8]
  private let offset: Int
  /// Whether the text is a record. Messages about a record quote only plain names and give no line numbers.
  private let isRecord: Bool
  private var at: Int
  private var line = 1
  private var open: [Container] = []
  /// Whether a value outside any container has been read.
  private var hasRoot = false

  private struct Container {
    var isObject: Bool
    var name: String
    var line: Int
    var key = ""
    var keyLine = 0
    /// The next expected token; `first` is the first key of an object.
    var expects: Expectation
    /// The line where the last value ends, after which a comma is expected.
    var valueLine = 0
  }

  private enum Expectation { case first, key, colon, value, comma }

  /// - Parameter offset: the offset at which reading stopped.
  static func words(_ bytes: [UInt8], at offset: Int) -> String {
    var fault = JSONFault(bytes: bytes, offset: offset)
    return fault.words()
  }

  /// Describes the fault of a record, which is one line.
  package static func words(ofRecord bytes: [UInt8], at offset: Int) -> String {
    var fault = JSONFault(bytes: bytes, offset: min(offset, bytes.count), isRecord: true)
    let words = fault.words()
    let rest = bytes.dropFirst(offset).drop { $0 <= 0x20 }
    let isInText =
      fault.at < fault.offset || rest.first == UInt8(ascii: "\"") && !rest.dropFirst().contains(UInt8(ascii: "\""))
    guard isInText || rest.isEmpty, let container = fault.open.last else { return words }
    return
      "the line ends within \(isInText ? "a string" : container.isObject ? "an object" : "an array"): the file may be truncated"
  }

  private init(bytes: [UInt8], offset: Int, isRecord: Bool = false) {
    self.bytes = bytes
    self.offset = offset
    self.isRecord = isRecord
    at = bytes.byteOrderMarkLength
  }

  private mutating func words() -> String {
    while at < offset {
      switch bytes[at] {
      case UInt8(ascii: "\n"):
        line += 1
        at += 1
      case UInt8(ascii: "/"):
        skipComment()
      case UInt8(ascii: "\""):
        guard let text = skipString() else { return wordsInString }
        took(string: text)
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        let isObject = bytes[at] == UInt8(ascii: "{")
        open.append(Container(isObject: isObject, name: place, line: line, expects: isObject ? .first : .value))
        at += 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        if open.popLast() != nil { tookValue() }
        at += 1
      case UInt8(ascii: ":"):
        if !open.isEmpty { open[open.count - 1].expects = .value }
        at += 1
      case UInt8(ascii: ","):
        if let last = open.last { open[open.count - 1].expects = last.isObject ? .key : .value }
        at += 1
      case 0...0x20: at += 1
      default:
        while at < offset, !Self.ends(bytes[at]) { at += 1 }
        tookValue()
      }
    }
    return expectation
  }

  private var expectation: String {
    guard isRecord || offset >= bytes.count || bytes[offset] != UInt8(ascii: "/") else {
      return "write comments as // to the end of the line, or between /* and */"
    }
    let isText = offset < bytes.count && bytes[offset] == UInt8(ascii: "\"")
    if isText, open.last.map({ $0.expects != .comma && $0.expects != .colon }) ?? !hasRoot {
      return "expected '\"' at the end of the string that begins here"
    }
    guard let container = open.last else {
      return hasRoot ? "unexpected content after the end of the document" : "expected a value: \(Self.values)"
    }
    let close = container.isObject ? "}" : "]"
    switch container.expects {
    case .comma:
      let value =
        container.isObject ? "the value of '\(container.key)'" : "an element of \(container.name)"
      return "expected ',' or '\(close)' after \(value)\(onLine(container.valueLine))"
    case .colon: return "expected ':' after the key '\(container.key)'\(onLine(container.keyLine))"
    case .first, .key:
      let isQuoted = offset < bytes.count && bytes[offset] == UInt8(ascii: "'")
      // A record must not have a comma before the brace.
      let orEnd = isRecord && container.expects == .key ? "" : " or '}'"
      return
        "expected a key in double quotes\(isQuoted ? ", not single quotes," : orEnd) in \(container.name)\(onLine(container.line, ", which begins"))"
    case .value:
      guard container.isObject else {
        let orEnd = isRecord && container.valueLine > 0 ? "" : " or ']'"
        return "expected an element of \(container.name)\(orEnd): \(Self.values)"
      }
      return "expected a value for '\(container.key)': \(Self.values)"
    }
  }

  private func onLine(_ number: Int, _ words: String = "") -> String { isRecord ? "" : "\(words) on line \(number)" }

  private static let values = "true, false, null, a number, a string in double quotes, [ or {"

  private var wordsInString: String {
    bytes[offset] == UInt8(ascii: "\\")
      ? #"expected an escape such as \n, \", \\ or \u00e9"#
      : "expected '\"' at the end of the string that begins\(isRecord ? " here" : onLine(line))"
  }

  /// The name used in messages for a value that begins at the current position.
  private var place: String {
    guard let container = open.last else { return "the document" }
    if container.isObject { return "'\(container.key)'" }
    let words = "an element of "
    return container.name.hasPrefix(words) ? container.name : words + container.name
  }

  private mutating func took(string text: String) {
    guard let last = open.last, last.isObject, last.expects == .first || last.expects == .key else {
      tookValue()
      return
    }
    open[open.count - 1].key = text
    open[open.count - 1].keyLine = line
    open[open.count - 1].expects = .colon
  }

  private mutating func tookValue() {
    guard !open.isEmpty else {
      hasRoot = true
      return
    }
    open[open.count - 1].expects = .comma
    open[open.count - 1].valueLine = line
  }

  private mutating func skipComment() {
    let end: [UInt8] = at + 1 < offset && bytes[at + 1] == UInt8(ascii: "*") ? Array("*/".utf8) : [UInt8(ascii: "\n")]
    at += 2
    while at < offset, !bytes[at...].starts(with: end) {
      if bytes[at] == UInt8(ascii: "\n") { line += 1 }
      at += 1
    }
    if end.count == 2 { at += 2 }
  }

  /// - Returns: the source of the string, shortened; nil if it does not end before the offset.
  private mutating func skipString() -> String? {
    let start = at + 1
    at = start
    while at < offset, bytes[at] != UInt8(ascii: "\"") { at += bytes[at] == UInt8(ascii: "\\") ? 2 : 1 }
    guard at < offset else { return nil }
    let text = bytes[start..<at]
    at += 1
    if isRecord, !text.allSatisfy(\.isASCIILetter) || text.count > 30 {
      return "…"
    }
    return String(decoding: text.prefix(60), as: UTF8.self) + (text.count > 60 ? "..." : "")
  }

  private static func ends(_ byte: UInt8) -> Bool {
    byte <= 0x20 || ",}]/:".utf8.contains(byte)
  }
}
