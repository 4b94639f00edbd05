package import BatchFoundation

/// The policy for personal data in reports (`Report.personalData`). It is the only source of ``RedactedText``, so no id
/// enters a report any other way.
package struct PersonalData: Sendable {
  package let policy: PersonalDataPolicy
  private let code: MessageAuthenticationCode

  /// - Parameter key: The store's random key for the hashes; not used by policies other than `hash`.
  package init(_ policy: PersonalDataPolicy, key: [UInt8]) {
    self.policy = policy
    code = MessageAuthenticationCode(key: key)
  }

  /// Returns the id of a device, recipient or user as the policy allows. Empty ids stay empty.
  package func id(_ id: String) -> RedactedText {
    switch policy {
    case .clear: return RedactedText(id)
    case .omit: return RedactedText(nil)
    case .hash:
      guard !id.isEmpty else { return RedactedText("") }
      return RedactedText(Hexadecimal.text(of: code.code(for: Array(id.utf8)).prefix(8)))
    }
  }

  /// Returns up to `limit` bytes of a record, with invalid UTF-8 replaced; nothing unless the policy is `clear`.
  package func content(_ bytes: [UInt8], limit: Int = 1024) -> RedactedText {
    guard policy == .clear else { return RedactedText(nil) }
    let shown = String(decoding: bytes.prefix(limit), as: UTF8.self)
    return RedactedText(bytes.count > limit ? shown + "… (\(bytes.count) bytes)" : shown)
  }
}

/// Text that a report may show.
package struct RedactedText: Sendable, Hashable, Codable {
  /// Nil if omitted.
  package let text: String?

  fileprivate init(_ text: String?) { self.text = text }
}

extension QuarantineSample {
  /// - Parameter personalData: the policy; only `clear` shows the line, and only `hash` shows its masked shape.
  package init(_ line: QuarantinedLine, _ personalData: PersonalData) {
    self.init(
      file: line.place.file, line: line.place.line, offset: line.offset, reason: line.reason, detail: line.placedDetail,
      content: personalData.content(line.raw),
      excerpt: personalData.policy == .hash && !line.raw.isEmpty ? MaskedLine.text(line.raw) : nil)
  }
}

/// The shape of a line without its content, enough to see a missing comma or a misspelled key.
enum MaskedLine {
  private static let limit = 160

  /// Keeps plain words that are member names in the outermost object; elsewhere, letters become `x` and digits `9`.
  static func text(_ line: [UInt8]) -> String {
    var text = ""
    var depth = 0
    var at = 0
    while at < line.count, text.utf8.count < limit {
      let byte = line[at]
      if byte == UInt8(ascii: "\"") {
        let end = endOfString(line, at)
        let content = line[min(at + 1, end)..<end]
        let isName = depth == 1 && isFollowedByColon(line, end) && isPlain(content)
        text += "\""
        text +=
          isName ? String(decoding: content, as: UTF8.self) : mask(content.prefix(12)) + (content.count > 12 ? "…" : "")
        if end < line.count { text += "\"" }
        at = end + 1
        continue
      }
      switch byte {
      case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
      default: break
      }
      text += mask([byte])
      at += 1
    }
    return at < line.count ? text + "…" : text
  }

  /// Returns the index of the closing quotation mark, or the end of the line for a truncated string.
  private static func endOfString(_ line: [UInt8], _ start: Int) -> Int {
    var at = start + 1
    while at < line.count, line[at] != UInt8(ascii: "\"") { at += line[at] == UInt8(ascii: "\\") ? 2 : 1 }
    return min(at, line.count)
  }

  private static func isFollowedByColon(_ line: [UInt8], _ end: Int) -> Bool {
    line.dropFirst(end + 1).first { $0 != UInt8(ascii: " ") } == UInt8(ascii: ":")
  }

  private static func isPlain(_ name: ArraySlice<UInt8>) -> Bool {
    (1...24).contains(name.count) && name.allSatisfy(\.isASCIILetter)
  }

  private static func mask(_ bytes: some Sequence<UInt8>) -> String {
    var text = ""
    for byte in bytes {
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): text += "9"
      case 0x20...0x7E: text.unicodeScalars.append(byte.isASCIILetter ? "x" : Unicode.Scalar(byte))
      // Non-ASCII text may be truncated; each character becomes one letter.
      case 0x80...0xBF: break
      default: text += "x"
      }
    }
    return text
  }
}
