import BatchFoundation
import CLibXML2

/// Reads a whole document or nothing (reference guarantees 1.7 to 1.9).
///
/// The bytes are validated as UTF-8 before they are parsed. Document types are refused, only XML's five entities are
/// known, and neither files nor the network are accessed; depth, size and counts are limited. Truncated documents and
/// trailing content are errors.
package enum XMLDocument {
  /// Returns the root element.
  ///
  /// - Throws: ``XMLError`` unless the document is well-formed to its last byte and within the limits.
  package static func parse(_ bytes: [UInt8], limits: XMLLimits = .answer) throws(XMLError) -> XMLElement {
    guard bytes.count <= limits.bytes else { throw XMLError.tooLarge(bytes: bytes.count, limit: limits.bytes) }
    guard !bytes.isEmpty else { throw XMLError.empty }
    // libxml2 would take a NUL for the end of the document.
    guard !bytes.contains(0), String(validating: bytes, as: UTF8.self) != nil else { throw XMLError.notUTF8 }
    try checkEncoding(bytes)

    let tree = XMLTree(lines: try XMLMarkup(bytes, limits: limits).lines, limits: limits)
    var line: CInt = 0
    let code = withExtendedLifetime(tree) {
      var events = unsafe engage_xml_events(
        context: Unmanaged.passUnretained(tree).toOpaque(),
        start: { context, prefix, name in unsafe XMLTree.from(context).start(prefix: prefix, name: name) },
        attribute: { context, prefix, name, value, length in
          unsafe XMLTree.from(context).attribute(prefix: prefix, name: name, value: value, length: length)
        },
        text: { context, text, length in unsafe XMLTree.from(context).text(text, length) },
        end: { context in unsafe XMLTree.from(context).end() })
      return unsafe bytes.withUnsafeBufferPointer { buffer in
        guard let base = buffer.baseAddress else { return CInt(4) }
        return unsafe engage_xml_parse(base, buffer.count, &events, &line)
      }
    }
    switch Int(code) {
    case 0: break
    case ENGAGE_XML_STOPPED: throw tree.fault ?? XMLError.malformed(line: Int(line), code: 1)
    case ENGAGE_XML_NO_MEMORY: throw XMLError.outOfMemory
    case ENGAGE_XML_DOCTYPE: throw XMLError.documentType(line: Int(line))
    default: throw XMLError.malformed(line: Int(line), code: Int(code))
    }
    guard let root = tree.root else { throw XMLError.malformed(line: 1, code: 4) }
    return root
  }

  /// The version of libxml2 at run time, such as `20914`.
  package static var libraryVersion: String { unsafe String(cString: engage_xml_version()) }

  /// Refuses a document that declares an encoding other than UTF-8, unless all of it is ASCII.
  private static func checkEncoding(_ bytes: [UInt8]) throws(XMLError) {
    let body = bytes.dropFirst(bytes.byteOrderMarkLength)
    guard body.starts(with: Array("<?xml".utf8)), let end = body.prefix(256).firstIndex(of: UInt8(ascii: ">")) else {
      return
    }
    let declaration = String(decoding: body[..<end], as: UTF8.self)
    let parts = declaration.split(separator: "encoding", maxSplits: 1)
    guard parts.count == 2 else { return }
    let name = parts[1].split(whereSeparator: { "\"'= \t\r\n".contains($0) }).first.map(String.init) ?? ""
    switch name.lowercased() {
    case "utf-8", "utf8", "us-ascii": return
    default: if bytes.contains(where: { $0 >= 0x80 }) { throw XMLError.encoding(name) }
    }
  }
}

/// The reason a document was refused or cannot be written, without any text or value from it.
package enum XMLError: Error, Equatable, Sendable {
  case empty
  case tooLarge(bytes: Int, limit: Int)
  /// The document is not UTF-8, or contains a NUL byte.
  case notUTF8
  /// The document declares an encoding other than UTF-8 and is not plain ASCII.
  case encoding(String)
  /// Document types are never read: they allow entity expansion and access to external files.
  case documentType(line: Int)
  case tooDeep(line: Int, limit: Int)
  case tooManyElements(limit: Int)
  case tooManyAttributes(line: Int, limit: Int)
  /// Not well-formed; `code` is libxml2's `xmlParserErrors`.
  case malformed(line: Int, code: Int)
  /// A character that XML cannot represent, escaped or not.
  case unrepresentable(scalar: UInt32)
  case outOfMemory
}

extension XMLError: CustomStringConvertible {
  /// The line of the fault, from 1; nil if it concerns the whole document.
  package var line: Int? {
    switch self {
    case .documentType(let line), .tooDeep(let line, _), .tooManyAttributes(let line, _), .malformed(let line, _): line
    default: nil
    }
  }

  /// The reason without the line.
  package var reason: String {
    switch self {
    case .empty: "the document is empty"
    case .tooLarge(let bytes, let limit): "the document has \(bytes) bytes, which exceeds the limit of \(limit)"
    case .notUTF8: "the document is not UTF-8 text"
    case .encoding(let name): "the document declares the encoding '\(name)'; only UTF-8 is supported"
    case .documentType: "document type and entity declarations are not supported"
    case .tooDeep(_, let limit): "elements are nested more than \(limit) levels deep"
    case .tooManyElements(let limit): "the document has more than \(limit) elements"
    case .tooManyAttributes(_, let limit): "an element has more than \(limit) attributes"
    case .malformed(_, let code): "not well-formed XML: \(Self.words(code)) (libxml2 error \(code))"
    case .unrepresentable(let scalar):
      "XML cannot represent the character U+\(String(scalar, radix: 16, uppercase: true))"
    case .outOfMemory: "out of memory"
    }
  }

  package var description: String {
    line.map { "line \($0): \(reason)" } ?? reason
  }

  /// Returns words for frequent faults, because libxml2's messages quote the document.
  private static func words(_ code: Int) -> String {
    switch code {
    case 3, 4: "no root element"
    case 5: "there is content after the root element"
    case 9: "a character not allowed in XML"
    case 23, 68: "a name or reference is malformed"
    case 26, 27: "an undefined entity"
    case 38, 39, 40: "an attribute value is not quoted properly"
    case 41: "an attribute has no value"
    case 65, 73: "a tag is not closed properly"
    case 42: "an attribute occurs twice"
    case 62: "']]>' in text"
    case 63: "a CDATA section is not closed"
    case 76: "an end tag does not match its start tag"
    case 77: "the document ends before an element is closed"
    case 201: "a namespace prefix is not declared"
    default: "a syntax error"
    }
  }
}
