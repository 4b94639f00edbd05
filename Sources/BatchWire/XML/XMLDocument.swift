import CLibXML2

/// Reads a whole document or nothing (reference guarantees 1.7 to 1.9).
///
/// The bytes are validated as UTF-8 before they are parsed. Document types, entities other than XML's five, files and
/// network are not used; depth, size and counts are limited. Truncated documents and trailing content are errors.
package enum XMLDocument {
  /// Returns the root element.
  ///
  /// - Throws: ``XMLError`` for anything but a document that is well-formed to its last byte.
  package static func parse(_ bytes: [UInt8], limits: XMLLimits = .answer) throws(XMLError) -> XMLElement {
    guard bytes.count <= limits.bytes else { throw XMLError.tooLarge(bytes: bytes.count, limit: limits.bytes) }
    guard !bytes.isEmpty else { throw XMLError.empty }
    // libxml2 would take a NUL for the end of the document.
    guard !bytes.contains(0), String(validating: bytes, as: UTF8.self) != nil else { throw XMLError.notUTF8 }
    try checkEncoding(bytes)

    let tree = XMLTree(tags: try XMLMarkup(bytes, limits: limits).tags, limits: limits)
    var line: CInt = 0
    let code = withExtendedLifetime(tree) {
      var events = unsafe engage_xml_events(
        context: Unmanaged.passUnretained(tree).toOpaque(),
        start: { context, prefix, name, uri in
          unsafe XMLTree.from(context).start(prefix: prefix, name: name, uri: uri)
        },
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

  /// Refuses a document that declares another encoding, unless all of it is ASCII.
  private static func checkEncoding(_ bytes: [UInt8]) throws(XMLError) {
    let body = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes[...]
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
