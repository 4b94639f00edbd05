/// The text of an XMLAPI answer while it is written.
struct AnswerXML: Sendable {
  private(set) var text = ""
  /// Decides between CDATA and escaped text for column values.
  var prefersCDATA = true
  /// SUCCESS is false although there is no fault, as when no row could be deleted.
  var fails = false

  /// `<NAME>value</NAME>`, or `<NAME/>` for an empty value.
  mutating func element(_ name: StaticString, _ value: String) {
    if value.utf8.isEmpty {
      text += "<\(name)/>"
    } else {
      text += "<\(name)>\(escaped(value))</\(name)>"
    }
  }

  mutating func element(_ name: StaticString, _ value: ExactText) { element(name, value.string) }

  mutating func element(_ name: StaticString, _ value: some BinaryInteger) { element(name, "\(value)") }

  /// `<NAME>…</NAME>` around what `content` adds.
  mutating func group(_ name: StaticString, _ content: (inout AnswerXML) -> Void) {
    text += "<\(name)>"
    content(&self)
    text += "</\(name)>"
  }

  mutating func raw(_ part: String) { text += part }

  /// `<COLUMN><NAME>…</NAME><VALUE>…</VALUE></COLUMN>`.
  mutating func column(_ name: ExactText, _ value: ExactText) {
    text += "<COLUMN><NAME>\(escaped(name.string))</NAME><VALUE>"
    if !value.isEmpty { text += prefersCDATA ? cdata(value.string) : escaped(value.string) }
    text += "</VALUE></COLUMN>"
  }
}

/// The text with markup characters as references; also fit for an attribute in double quotes.
func escaped(_ text: String) -> String {
  var result: [UInt8] = []
  result.reserveCapacity(text.utf8.count)
  for byte in text.utf8 {
    switch byte {
    case UInt8(ascii: "&"): result.append(contentsOf: "&amp;".utf8)
    case UInt8(ascii: "<"): result.append(contentsOf: "&lt;".utf8)
    case UInt8(ascii: ">"): result.append(contentsOf: "&gt;".utf8)
    case UInt8(ascii: "\""): result.append(contentsOf: "&quot;".utf8)
    case UInt8(ascii: "\r"): result.append(contentsOf: "&#13;".utf8)
    // Other control characters cannot stand in XML at all.
    case 0..<32 where byte != UInt8(ascii: "\n") && byte != UInt8(ascii: "\t"): result.append(UInt8(ascii: "?"))
    default: result.append(byte)
    }
  }
  return String(decoding: result, as: UTF8.self)
}

/// The text as one CDATA section, or two where it holds `]]>`; carriage returns force escaped text, as a reader would lose them.
func cdata(_ text: String) -> String {
  if text.utf8.contains(where: { $0 < 32 && $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\t") }) {
    return escaped(text)
  }
  var result: [UInt8] = Array("<![CDATA[".utf8)
  for byte in text.utf8 {
    if byte == UInt8(ascii: ">"), result.suffix(2).elementsEqual("]]".utf8) {
      result.append(contentsOf: "]]><![CDATA[".utf8)
    }
    result.append(byte)
  }
  result.append(contentsOf: "]]>".utf8)
  return String(decoding: result, as: UTF8.self)
}
