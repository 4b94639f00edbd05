import BatchFoundation

/// Writes documents as text that people read and edit; what ``DocumentReader`` reads back.
package enum DocumentText {
  /// Two spaces a level, a line break at the end.
  package static func json(_ node: DocumentNode) -> String {
    var text = ""
    writeJSON(node, indent: "", &text)
    return text + "\n"
  }

  /// Without a line break.
  package static func line(_ node: DocumentNode) -> String {
    var text = ""
    writeJSON(node, indent: nil, &text)
    return text
  }

  /// - Parameter indent: nil for a single line.
  private static func writeJSON(_ node: DocumentNode, indent: String?, _ text: inout String) {
    let inner = indent.map { $0 + "  " }
    let (open, comma, close) = (
      inner.map { "\n" + $0 } ?? "", inner.map { ",\n" + $0 } ?? ", ", indent.map { "\n" + $0 } ?? ""
    )
    switch node.value {
    case .null, .data: text += "null"
    case .boolean(let flag): text += flag ? "true" : "false"
    case .number(let number): text += number
    case .string(let string), .date(let string): text += JSONString.quoted(string)
    case .array(let elements) where elements.isEmpty: text += "[]"
    case .array(let elements):
      for (index, element) in elements.enumerated() {
        text += index == 0 ? "[" + open : comma
        writeJSON(element, indent: inner, &text)
      }
      text += close + "]"
    case .dictionary(let members) where members.isEmpty: text += "{}"
    case .dictionary(let members):
      for (index, member) in members.enumerated() {
        text += (index == 0 ? "{" + open : comma) + JSONString.quoted(member.key) + ": "
        writeJSON(member.node, indent: inner, &text)
      }
      text += close + "}"
    }
  }

  /// An XML property list as Apple's tools write it, with tabs and a document type.
  package static func propertyList(_ node: DocumentNode) -> String {
    var text = """
      <?xml version="1.0" encoding="UTF-8"?>
      <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
      <plist version="1.0">

      """
    writePropertyList(node, indent: "", &text)
    return text + "</plist>\n"
  }

  private static func writePropertyList(_ node: DocumentNode, indent: String, _ text: inout String) {
    let inner = indent + "\t"
    switch node.value {
    case .null, .data: text += "\(indent)<string></string>\n"
    case .boolean(let flag): text += "\(indent)<\(flag)/>\n"
    case .number(let number):
      let element = Int64(number) == nil ? "real" : "integer"
      text += "\(indent)<\(element)>\(number)</\(element)>\n"
    case .string(let string): text += "\(indent)<string>\(escaped(string))</string>\n"
    case .date(let date): text += "\(indent)<date>\(escaped(date))</date>\n"
    case .array(let elements) where elements.isEmpty: text += "\(indent)<array/>\n"
    case .array(let elements):
      text += "\(indent)<array>\n"
      for element in elements { writePropertyList(element, indent: inner, &text) }
      text += "\(indent)</array>\n"
    case .dictionary(let members) where members.isEmpty: text += "\(indent)<dict/>\n"
    case .dictionary(let members):
      text += "\(indent)<dict>\n"
      for member in members {
        text += "\(inner)<key>\(escaped(member.key))</key>\n"
        writePropertyList(member.node, indent: inner, &text)
      }
      text += "\(indent)</dict>\n"
    }
  }

  /// Text of an element; characters that XML has no way to write become U+FFFD.
  private static func escaped(_ string: String) -> String {
    var text = ""
    for scalar in string.unicodeScalars {
      switch scalar {
      case "&": text += "&amp;"
      case "<": text += "&lt;"
      case ">": text += "&gt;"
      case "\r": text += "&#13;"
      case "\u{0}"..."\u{8}", "\u{B}", "\u{C}", "\u{E}"..."\u{1F}", "\u{FFFE}", "\u{FFFF}": text += "\u{FFFD}"
      default: text.unicodeScalars.append(scalar)
      }
    }
    return text
  }
}
