extension JSONNode {
  /// With ``Secret/redacted`` in the place of every known secret, in names and in values (reference decisions 39).
  package var withoutSecrets: JSONNode {
    let text = Array(compactText.utf8)
    // Nearly always there is none, and one look at all of it says so.
    return SecretMask.withoutSecrets(text) == text ? self : masked
  }

  private var masked: JSONNode {
    switch value {
    case .string(let text): .text(Self.masked(text))
    // A key may be made of digits.
    case .number(let text): Self.masked(text).utf8.elementsEqual(text.utf8) ? self : .text(Secret.redacted)
    case .array(let elements): .array(elements.map(\.masked))
    case .object(let members): .object(members.map { (Self.masked($0.key), $0.value.masked) })
    case .null, .bool, .date, .data, .written: self
    }
  }

  private static func masked(_ text: String) -> String {
    String(decoding: SecretMask.withoutSecrets(Array(text.utf8)), as: UTF8.self)
  }
}
