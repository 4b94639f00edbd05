import BatchFoundation
package import EngageRules

/// Whom a call is about, and whether an answer is about the same one (reference decisions 36).
///
/// A service, or something in front of it, can mix answers up. Whoever is named by a wrong one must neither be written to nor deleted, so
/// every operation that names somebody is checked here, whether it is made alone or for many.
package enum RecipientQuestion {
  case recipient(String)
  /// Of several recipients with these values the service names the oldest.
  case columns([IdentityColumn])

  package enum Verdict: Equatable {
    case answered
    case another
    /// The answer holds nothing that could be compared.
    case open
  }

  /// - Parameters:
  ///   - isWhole: the record was read by its id with all columns, so that a text column without a value says something too.
  ///   - isText: whether a column is compared at all; values of other types may come back in another form.
  package func verdict(
    on image: RecipientImage, isWhole: Bool = false, isText: (String) throws(RemoteFailure) -> Bool
  ) throws(RemoteFailure) -> Verdict {
    guard Self.isID(image.id) else { return .another }
    switch self {
    // What names the recipient and has no column is the answer to a change, not a record whose columns are all empty.
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

  /// The record that answers the question; nil for nobody.
  ///
  /// - Parameter select: makes the call, once.
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
      // Nothing of it could be compared: the whole record of whom it names decides.
      let itself = Self.recipient(image.id)
      guard let whole = try select(itself), try itself.verdict(on: whole, isText: isText) == .answered,
        try verdict(on: whole, isWhole: true, isText: isText) != .another
      else { throw .wrongAnswer }
      return whole
    }
  }

  /// Makes a change to a recipient, whose answer names whom it was made to.
  package static func confirm(
    _ recipient: String, reconnect: () -> Void, _ change: () throws(RemoteFailure) -> String
  ) throws(RemoteFailure) {
    try ask(reconnect: reconnect) { () throws(RemoteFailure) in
      guard try change().isIdentical(to: recipient) else { throw .wrongAnswer }
    }
  }

  /// Makes a call, and once more on a fresh connection if its answer is about somebody else.
  ///
  /// - Throws: ``RemoteFailure/wrongAnswer`` if that answer is too, and what `call` throws.
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

  /// Whether the service can have given a recipient this id: a number of at most 19 digits (reference identity 2.3).
  package static func isID(_ text: String) -> Bool {
    text.utf8.count <= 19 && text.utf8.allSatisfy { (0x30...0x39).contains($0) } && Int64(text).map { $0 > 0 } ?? false
  }

  /// Equal but for white space at both ends and the case of ASCII letters.
  package static func isSame(_ one: String, _ other: String) -> Bool { folded(one).elementsEqual(folded(other)) }

  /// - Returns: the UTF-8 of a text as it is compared.
  static func folded(_ text: String) -> [UInt8] { trimmed(text).map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 } }

  /// Without white space at both ends.
  static func trimmed(_ text: String) -> [UInt8] {
    let rest = text.unicodeScalars.drop { $0.properties.isWhitespace }
    guard let last = rest.lastIndex(where: { !$0.properties.isWhitespace }) else { return [] }
    return Array(text[rest.startIndex...last].utf8)
  }
}

extension RecipientImage {
  /// Whether it has all the values, as the service may compare them.
  func answers(_ ids: [IdentityColumn]) -> Bool {
    ids.allSatisfy { RecipientQuestion.isSame(self[$0.name], $0.value) }
  }
}
