package import BatchFoundation

/// What reports may say about people (`Report.personalData`).
///
/// The only source of ``RedactedText``, so an id cannot come into a report in another way.
package struct PersonalData: Sendable {
  /// The raw values are those of the setting.
  package let policy: PersonalDataPolicy
  private let code: MessageAuthenticationCode

  /// - Parameter key: random bytes of the store that hashes are made with; not used by the other policies.
  package init(_ policy: PersonalDataPolicy, key: [UInt8]) {
    self.policy = policy
    code = MessageAuthenticationCode(key: key)
  }

  /// An id of a device, recipient or user. Empty ids stay empty: they name nobody.
  package func id(_ id: String) -> RedactedText {
    switch policy {
    case .clear: return RedactedText(id)
    case .omit: return RedactedText(nil)
    case .hash:
      guard !id.isEmpty else { return RedactedText("") }
      return RedactedText(Hexadecimal.text(of: code.code(for: Array(id.utf8)).prefix(8)))
    }
  }

  /// What a record says; never hashed, because nobody could read anything from the hash. Bytes that are not UTF-8 are replaced.
  ///
  /// - Parameter limit: bytes shown of a longer content.
  package func content(_ bytes: [UInt8], limit: Int = 1024) -> RedactedText {
    guard policy == .clear else { return RedactedText(nil) }
    let shown = String(decoding: bytes.prefix(limit), as: UTF8.self)
    return RedactedText(bytes.count > limit ? shown + "… (\(bytes.count) bytes)" : shown)
  }
}

/// Text that a report may show.
package struct RedactedText: Sendable, Hashable, Codable {
  /// Nil if it is left out.
  package let text: String?

  fileprivate init(_ text: String?) { self.text = text }
}

extension QuarantineSample {
  /// - Parameter personalData: shows the line itself only if the policy is to show everything.
  package init(_ line: QuarantinedLine, _ personalData: PersonalData) {
    self.init(
      file: line.place.file, line: line.place.line, offset: line.offset, reason: line.reason, detail: line.placedDetail,
      content: personalData.content(line.raw),
      excerpt: personalData.policy == .hash && !line.raw.isEmpty ? MaskedLine.text(line.raw) : nil)
  }
}
