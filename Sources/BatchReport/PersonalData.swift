package import BatchFoundation

/// The policy for personal data in reports (`Report.personalData`). It is the only source of ``RedactedText``, so no id
/// enters a report any other way.
package struct PersonalData: Sendable {
  /// Its raw values are those of the setting.
  package let policy: PersonalDataPolicy
  private let code: MessageAuthenticationCode

  /// - Parameter key: Random bytes of the store that key the hashes; unused by the other policies.
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

  /// Returns at most `limit` bytes of a record in clear, otherwise nothing; hashes would be unreadable. Replaces
  /// invalid UTF-8.
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
  /// - Parameter personalData: Only the clear policy shows the line, only the hash policy its masked shape.
  package init(_ line: QuarantinedLine, _ personalData: PersonalData) {
    self.init(
      file: line.place.file, line: line.place.line, offset: line.offset, reason: line.reason, detail: line.placedDetail,
      content: personalData.content(line.raw),
      excerpt: personalData.policy == .hash && !line.raw.isEmpty ? MaskedLine.text(line.raw) : nil)
  }
}
