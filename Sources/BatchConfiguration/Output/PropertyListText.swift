package import BatchFoundation

/// Writes documents as XML property lists, which ``DocumentReader`` reads back.
package enum PropertyListText {
  /// Returns an XML property list in the style of Apple's tools, with tabs and a document type.
  package static func of(_ node: JSONNode) -> String {
    var text = """
      <?xml version="1.0" encoding="UTF-8"?>
      <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
      <plist version="1.0">

      """
    write(node, indent: "", &text)
    return text + "</plist>\n"
  }

  private static func write(_ node: JSONNode, indent: String, _ text: inout String) {
    let inner = indent + "\t"
    switch node.value {
    case .null, .data, .written: text += "\(indent)<string></string>\n"
    case .bool(let flag): text += "\(indent)<\(flag)/>\n"
    case .number(let number):
      let element = Int64(number) == nil ? "real" : "integer"
      text += "\(indent)<\(element)>\(number)</\(element)>\n"
    case .string(let string): text += "\(indent)<string>\(escaped(string))</string>\n"
    case .date(let date): text += "\(indent)<date>\(escaped(date))</date>\n"
    case .array(let elements) where elements.isEmpty: text += "\(indent)<array/>\n"
    case .array(let elements):
      text += "\(indent)<array>\n"
      for element in elements { write(element, indent: inner, &text) }
      text += "\(indent)</array>\n"
    case .object(let members) where members.isEmpty: text += "\(indent)<dict/>\n"
    case .object(let members):
      text += "\(indent)<dict>\n"
      for member in members {
        text += "\(inner)<key>\(escaped(member.key))</key>\n"
        write(member.value, indent: inner, &text)
      }
      text += "\(indent)</dict>\n"
    }
  }

  /// Escapes the text of an element; characters that XML cannot represent become U+FFFD.
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
