/// Writes XML as bytes. Every value is escaped, so no value can end its element or attribute. Element and attribute
/// names come from the program and are not checked. There is no indentation or prolog.
package struct XMLWriter {
  package private(set) var bytes: [UInt8] = []

  package init() {}

  /// Writes an element around the output of `content`; if there is none, the element is `<name></name>`.
  ///
  /// - Throws: `XMLError.unrepresentable`, or the error of `content`.
  package mutating func element<Failure: Error>(
    _ name: String, attributes: [XMLAttribute] = [], _ content: (inout XMLWriter) throws(Failure) -> Void
  ) throws {
    try startTag(name, attributes)
    bytes.append(UInt8(ascii: ">"))
    try content(&self)
    raw("</\(name)>")
  }

  /// - Throws: `XMLError.unrepresentable`.
  package mutating func element(_ name: String, text: String) throws(XMLError) {
    raw("<\(name)>")
    try self.text(text)
    raw("</\(name)>")
  }

  /// Writes an element whose value is in a CDATA section; for an empty value there is no section.
  ///
  /// - Throws: `XMLError.unrepresentable`.
  package mutating func element(_ name: String, attributes: [XMLAttribute] = [], cdata: String) throws(XMLError) {
    try startTag(name, attributes)
    bytes.append(UInt8(ascii: ">"))
    try self.cdata(cdata)
    raw("</\(name)>")
  }

  /// Writes `<name/>`.
  package mutating func empty(_ name: String) {
    raw("<\(name)/>")
  }

  /// Writes character data.
  ///
  /// - Throws: `XMLError.unrepresentable`.
  package mutating func text(_ value: String) throws(XMLError) {
    _ = try Self.checked(value)
    raw(Self.escaped(value))
  }

  /// Returns the content of an element, or of an attribute in double quotes, with references for its markup characters.
  /// Characters that XML cannot represent become U+FFFD.
  package static func escaped(_ value: String, inAttribute: Bool = false) -> String {
    var text = ""
    for scalar in value.unicodeScalars {
      switch scalar {
      case "&": text += "&amp;"
      case "<": text += "&lt;"
      case ">": text += "&gt;"
      case "\"" where inAttribute: text += "&quot;"
      case "\t" where inAttribute, "\n" where inAttribute, "\r": text += "&#\(scalar.value);"
      default: text.unicodeScalars.append(canCarry(scalar) ? scalar : "\u{FFFD}")
      }
    }
    return text
  }

  /// Writes a value as CDATA, or nothing if it is empty. `]]>` is split between two sections. A carriage return is
  /// written as a character reference between two sections, because a parser would turn it into a line feed within one.
  ///
  /// - Throws: `XMLError.unrepresentable`.
  package mutating func cdata(_ value: String) throws(XMLError) {
    guard !value.isEmpty else { return }
    raw("<![CDATA[")
    var brackets = 0
    for byte in try Self.checked(value) {
      switch byte {
      case UInt8(ascii: "]"):
        brackets += 1
        bytes.append(byte)
      case UInt8(ascii: ">") where brackets >= 2:
        raw("]]><![CDATA[>")
        brackets = 0
      case 0x0D:
        raw("]]>&#13;<![CDATA[")
        brackets = 0
      default:
        bytes.append(byte)
        brackets = 0
      }
    }
    raw("]]>")
  }

  /// Returns whether XML 1.0 can represent the character: any but U+FFFE, U+FFFF and those below U+0020 other than tab,
  /// line feed and carriage return.
  package static func canCarry(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x09, 0x0A, 0x0D, 0x20...0xD7FF, 0xE000...0xFFFD, 0x10000...0x10FFFF: true
    default: false
    }
  }

  private static func checked(_ value: String) throws(XMLError) -> String.UTF8View {
    for scalar in value.unicodeScalars where !canCarry(scalar) {
      throw XMLError.unrepresentable(scalar: scalar.value)
    }
    return value.utf8
  }

  private mutating func startTag(_ name: String, _ attributes: [XMLAttribute]) throws(XMLError) {
    raw("<\(name)")
    for attribute in attributes {
      _ = try Self.checked(attribute.value)
      raw(" \(attribute.name)=\"\(Self.escaped(attribute.value, inAttribute: true))\"")
    }
  }

  private mutating func raw(_ text: String) {
    bytes.append(contentsOf: text.utf8)
  }
}
