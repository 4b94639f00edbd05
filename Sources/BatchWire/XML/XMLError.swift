/// The reason a document was refused, without any of its content.
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
  /// The line of the fault, from 1; nil if it concerns the document as a whole.
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
    case .tooLarge(let bytes, let limit): "the document has \(bytes) bytes, more than \(limit)"
    case .notUTF8: "the document is not UTF-8 text"
    case .encoding(let name): "the document declares the encoding '\(name)'; only UTF-8 is read"
    case .documentType: "a document type or entity declaration is not read here"
    case .tooDeep(_, let limit): "elements are nested more than \(limit) deep"
    case .tooManyElements(let limit): "there are more than \(limit) elements"
    case .tooManyAttributes(_, let limit): "an element has more than \(limit) attributes"
    case .malformed(_, let code): "not well-formed XML: \(Self.words(code)) (libxml2 error \(code))"
    case .unrepresentable(let scalar): "XML cannot carry the character U+\(String(scalar, radix: 16, uppercase: true))"
    case .outOfMemory: "out of memory"
    }
  }

  package var description: String {
    line.map { "line \($0): \(reason)" } ?? reason
  }

  /// Replaces libxml2's messages, which quote the document, for frequent faults.
  private static func words(_ code: Int) -> String {
    switch code {
    case 3, 4: "there is no root element"
    case 5: "something follows the root element"
    case 9: "a character that XML does not allow"
    case 23, 68: "a name or reference is broken"
    case 26, 27: "an entity that is not defined"
    case 38, 39, 40: "an attribute value is not quoted properly"
    case 41: "an attribute has no value"
    case 65, 73: "a tag is not closed properly"
    case 42: "an attribute is given twice"
    case 62: "']]>' stands in text"
    case 63: "a CDATA section is not closed"
    case 76: "an end tag does not match its start tag"
    case 77: "it ends before an element is closed"
    case 201: "a name prefix is not declared"
    default: "a syntax error"
    }
  }
}
