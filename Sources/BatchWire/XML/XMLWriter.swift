/// Writes XML as bytes. Every value goes through an escape, so no value can end its element or attribute.
///
/// Element and attribute names are the program's own and are not checked. The writer does not indent and writes no prolog.
package struct XMLWriter {
  package private(set) var bytes: [UInt8] = []

  package init() {}

  /// An element with what `content` writes in it; without any content still `<name></name>`.
  package mutating func element<Failure: Error>(
    _ name: String, attributes: [XMLAttribute] = [], _ content: (inout XMLWriter) throws(Failure) -> Void
  ) throws {
    try startTag(name, attributes)
    bytes.append(UInt8(ascii: ">"))
    try content(&self)
    raw("</\(name)>")
  }

  /// An element that holds text only.
  package mutating func element(_ name: String, text: String) throws(XMLError) {
    raw("<\(name)>")
    try self.text(text)
    raw("</\(name)>")
  }

  /// An element that holds one value as CDATA; an empty value has no CDATA section.
  package mutating func element(_ name: String, attributes: [XMLAttribute] = [], cdata: String) throws(XMLError) {
    try startTag(name, attributes)
    bytes.append(UInt8(ascii: ">"))
    try self.cdata(cdata)
    raw("</\(name)>")
  }

  /// `<name/>`.
  package mutating func empty(_ name: String) {
    raw("<\(name)/>")
  }

  /// Character data: `&`, `<` and `>` escaped, and a carriage return kept by a character reference.
  package mutating func text(_ value: String) throws(XMLError) {
    for byte in try Self.checked(value) {
      switch byte {
      case UInt8(ascii: "&"): raw("&amp;")
      case UInt8(ascii: "<"): raw("&lt;")
      case UInt8(ascii: ">"): raw("&gt;")
      case 0x0D: raw("&#13;")
      default: bytes.append(byte)
      }
    }
  }

  /// CDATA. `]]>` is split over two sections, and a carriage return, which a parser would turn into a line feed, stands
  /// between two as a character reference. Nothing at all for empty text.
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

  /// The characters XML 1.0 has a way to write: no control character but tab, line feed and carriage return, no U+FFFE
  /// and U+FFFF.
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
      raw(" \(attribute.name)=\"")
      for byte in try Self.checked(attribute.value) {
        switch byte {
        case UInt8(ascii: "&"): raw("&amp;")
        case UInt8(ascii: "<"): raw("&lt;")
        case UInt8(ascii: ">"): raw("&gt;")
        case UInt8(ascii: "\""): raw("&quot;")
        case 0x09, 0x0A, 0x0D: raw("&#\(byte);")
        default: bytes.append(byte)
        }
      }
      bytes.append(UInt8(ascii: "\""))
    }
  }

  private mutating func raw(_ text: String) {
    bytes.append(contentsOf: text.utf8)
  }
}
