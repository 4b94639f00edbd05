/// Text inside JSON documents, with no more escapes than JSON demands (reference formats 4.2).
///
/// For single texts; bodies of many events are written by the store, byte by byte in one buffer.
public enum JSONString {
  /// The text in quotes.
  public static func quoted(_ text: String) -> String { "\"\(escaped(text))\"" }

  /// The text without quotes: `\u00xx` in lower case, `/` and everything beyond ASCII as they are.
  public static func escaped(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\u{8}": result += "\\b"
      case "\t": result += "\\t"
      case "\n": result += "\\n"
      case "\u{C}": result += "\\f"
      case "\r": result += "\\r"
      case "\u{0}"..."\u{1F}":
        result += "\\u" + Hexadecimal.text(of: UInt16(scalar.value))
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}
