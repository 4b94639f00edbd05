import BatchFoundation
import Mustache

/// Escapes text for elements and quoted attributes, by Unicode scalar.
///
/// The library's own escape looks at whole characters, so a quotation mark with a combining accent behind it passes as it is
/// and ends an attribute.
struct HTMLText: MustacheContentType {
  static let name = "REPORT"

  func escapeText(_ text: String) -> String {
    var result = ""
    result.reserveCapacity(text.utf8.count)
    for scalar in text.printable.unicodeScalars {
      switch scalar {
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "&": result += "&amp;"
      case "\"": result += "&quot;"
      case "'": result += "&#39;"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}
