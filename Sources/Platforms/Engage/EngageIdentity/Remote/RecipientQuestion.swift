import BatchFoundation
package import EngageEvents

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
    switch self {
    case .recipient(let id): return image.id.isIdentical(to: id) ? .answered : .another
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

  /// Makes a call, and once more on a fresh connection if its answer is about somebody else.
  ///
  /// - Throws: ``RemoteFailure/wrongAnswer`` if that answer is too, and what `call` throws.
  package static func ask<Answer>(
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

  /// Equal but for white space at both ends and the case of ASCII letters.
  package static func isSame(_ one: String, _ other: String) -> Bool { folded(one).elementsEqual(folded(other)) }

  /// - Returns: the UTF-8 of a text as it is compared.
  static func folded(_ text: String) -> [UInt8] {
    let isBlank: (UInt8) -> Bool = { $0 == 0x20 || (0x09...0x0D).contains($0) }
    let bytes = text.utf8.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
    guard let first = bytes.firstIndex(where: { !isBlank($0) }), let last = bytes.lastIndex(where: { !isBlank($0) })
    else { return [] }
    return Array(bytes[first...last])
  }
}

extension RecipientImage {
  /// Whether it has all the values, as the service may compare them.
  func answers(_ ids: [IdentityColumn]) -> Bool {
    ids.allSatisfy { RecipientQuestion.isSame(self[$0.name], $0.value) }
  }
}
