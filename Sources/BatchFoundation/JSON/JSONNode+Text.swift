extension JSONNode {
  /// The value as JSON: members by the UTF-8 bytes of their names at every depth, of two equal names the last one, numbers as
  /// they were written, no white space (reference formats 4.2).
  package var canonicalText: String {
    var text = ""
    appendCanonical(to: &text)
    return text
  }

  private func appendCanonical(to text: inout String) {
    switch value {
    case .null: text += "null"
    case .bool(let flag): text += flag ? "true" : "false"
    case .number(let digits): text += digits
    case .string(let string): text += JSONString.quoted(string)
    case .array(let elements):
      text += "["
      for (index, element) in elements.enumerated() {
        if index > 0 { text += "," }
        element.appendCanonical(to: &text)
      }
      text += "]"
    case .object(let members):
      text += "{"
      for (index, member) in Self.inOrder(members).enumerated() {
        if index > 0 { text += "," }
        text += JSONString.quoted(member.key) + ":"
        member.value.appendCanonical(to: &text)
      }
      text += "}"
    }
  }

  private static func inOrder(_ members: [JSONMember]) -> [JSONMember] {
    let order = members.indices.sorted { one, other in
      let (left, right) = (ByteText(members[one].key), ByteText(members[other].key))
      return left == right ? one < other : left < right
    }
    var sorted: [JSONMember] = []
    for member in order.map({ members[$0] }) {
      if let last = sorted.last, last.key.utf8.elementsEqual(member.key.utf8) { sorted.removeLast() }
      sorted.append(member)
    }
    return sorted
  }
}
