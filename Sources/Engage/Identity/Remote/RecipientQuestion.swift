import BatchFoundation
package import EngageRules

/// The subject of a call, against which its response is checked (reference decisions 36).
///
/// A service or a proxy can mix up responses. A recipient named by a wrong response must be neither changed nor
/// deleted, so every operation on a recipient is checked here, whether it is sent individually or in bulk.
package enum RecipientQuestion {
  case recipient(String)
  /// The recipients with these values, of whom the service returns the oldest.
  case columns([ColumnValue])

  package enum Verdict: Equatable {
    case answered
    case another
    /// The response contains nothing comparable.
    case open
  }

  /// - Parameters:
  ///   - isWhole: Whether the record was read by id with all columns, so that an empty value counts as different.
  ///   - isText: Returns whether a column is text, so that a different value means a different recipient. The service
  ///     may return values of other types in a different format.
  /// - Throws: The error of `isText`.
  package func verdict(
    on image: RecipientImage, isWhole: Bool = false, isText: (String) throws(RemoteFailure) -> Bool
  ) throws(RemoteFailure) -> Verdict {
    guard Self.isID(image.id) else { return .another }
    switch self {
    // A response with an id and no columns belongs to a change; it is not a record whose columns are all empty.
    case .recipient(let id): return image.id.isIdentical(to: id) && image.hasColumns ? .answered : .another
    case .columns(let asked):
      var verdict = Verdict.open
      for column in asked {
        let value = image[column.name]
        if value.isEmpty, !isWhole || !image.has(column.name) { continue }
        if Self.isSame(value, column.value) {
          verdict = .answered
        } else if try isText(column.name) {
          return .another
        }
      }
      return verdict
    }
  }

  /// Returns the record that answers the question, as read by `select`; nil if there is none. A wrong response leads to
  /// one more call, on a fresh connection; a second wrong response throws ``RemoteFailure/wrongAnswer``.
  package func record(
    by select: (RecipientQuestion) throws(RemoteFailure) -> RecipientImage?,
    isText: (String) throws(RemoteFailure) -> Bool, reconnect: () -> Void
  ) throws(RemoteFailure) -> RecipientImage? {
    try Self.ask(reconnect: reconnect) { () throws(RemoteFailure) -> RecipientImage? in
      guard let image = try select(self) else { return nil }
      switch try verdict(on: image, isText: isText) {
      case .answered: return image
      case .another: throw .wrongAnswer
      case .open: break
      }
      // Nothing was comparable, so the recipient's complete record is read and compared.
      let itself = Self.recipient(image.id)
      guard let whole = try select(itself), try itself.verdict(on: whole, isText: isText) == .answered,
        try verdict(on: whole, isWhole: true, isText: isText) != .another
      else { throw .wrongAnswer }
      return whole
    }
  }

  /// Changes a recipient and checks that the response names it; if it does not, repeats the change
  /// once, and throws like ``record(by:isText:reconnect:)``.
  package static func confirm(
    _ recipient: String, reconnect: () -> Void, _ change: () throws(RemoteFailure) -> String
  ) throws(RemoteFailure) {
    try ask(reconnect: reconnect) { () throws(RemoteFailure) in
      guard try change().isIdentical(to: recipient) else { throw .wrongAnswer }
    }
  }

  /// Makes a call, and repeats it on a fresh connection if the response is about somebody else.
  ///
  /// - Throws: ``RemoteFailure/wrongAnswer`` if the second response is wrong too; other errors of `call`.
  private static func ask<Answer>(
    reconnect: () -> Void, _ call: () throws(RemoteFailure) -> Answer
  ) throws(RemoteFailure) -> Answer {
    do {
      return try call()
    } catch .wrongAnswer {
      reconnect()
    } catch {
      throw error
    }
    do {
      return try call()
    } catch {
      if error == .wrongAnswer { reconnect() }
      throw error
    }
  }

  /// Whether the string can be a recipient's id: a number of at most 19 digits (reference identity 2.3).
  package static func isID(_ text: String) -> Bool {
    text.utf8.count <= 19 && text.utf8.allSatisfy { (0x30...0x39).contains($0) } && Int64(text).map { $0 > 0 } ?? false
  }

  /// Whether the strings are equal except for white space at both ends and the case of ASCII letters.
  package static func isSame(_ one: String, _ other: String) -> Bool { folded(one).elementsEqual(folded(other)) }

  /// Returns the string's UTF-8 for comparison: trimmed, with ASCII letters in lower case.
  static func folded(_ text: String) -> [UInt8] { trimmed(text).map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 } }

  /// Returns the string's UTF-8 without white space at both ends.
  static func trimmed(_ text: String) -> [UInt8] {
    let rest = text.unicodeScalars.drop { $0.properties.isWhitespace }
    guard let last = rest.lastIndex(where: { !$0.properties.isWhitespace }) else { return [] }
    return Array(text[rest.startIndex...last].utf8)
  }
}

extension RecipientImage {
  /// Whether the image has all the values, ignoring the differences that ``RecipientQuestion/isSame(_:_:)`` ignores.
  func answers(_ ids: [ColumnValue]) -> Bool {
    ids.allSatisfy { RecipientQuestion.isSame(self[$0.name], $0.value) }
  }
}
