import BatchFoundation
import BatchWire

/// Reads XML property lists. The hardened XML reader rejects all document type declarations, but property lists begin
/// with one by convention. A document type without internal declarations is therefore overwritten with spaces first;
/// any other is refused.
enum PropertyListReader {
  typealias Failure = DocumentReader.Failure

  /// - Parameter start: the offset of the first `<`.
  static func read(_ bytes: [UInt8], from start: Int) throws(Failure) -> JSONNode {
    let plain = try withoutDocumentType(bytes, start)
    let root: XMLElement
    do {
      root = try XMLDocument.parse(plain, limits: .file)
    } catch {
      throw Failure(line: error.line, "not a readable XML property list: \(error.reason)")
    }
    guard root.isNamed("plist") else {
      throw Failure(line: root.line, "the file is XML, but not a property list: its root is <\(root.name)>")
    }
    guard root.elements.count == 1, let value = root.elements.first else {
      throw Failure(line: root.line, "<plist> must contain one value, but contains \(root.elements.count)")
    }
    return try node(value, "the list")
  }

  /// - Parameter name: the value's name in messages.
  private static func node(_ element: XMLElement, _ name: String) throws(Failure) -> JSONNode {
    func stray() -> Bool { element.text.utf8.contains { $0 > 0x20 } }
    let value: JSONNode.Content
    switch element.name {
    case "dict":
      guard !stray() else { throw Failure(line: element.line, "<dict> contains text, but must contain only elements") }
      value = .object(try members(element))
    case "array":
      guard !stray() else { throw Failure(line: element.line, "<array> contains text, but must contain only elements") }
      var elements: [JSONNode] = []
      for (index, child) in element.elements.enumerated() { elements.append(try node(child, "\(name)[\(index)]")) }
      value = .array(elements)
    case "data": throw Failure(line: element.line, "\(name) is data, which is not supported")
    case "string", "integer", "real", "date", "true", "false":
      guard element.elements.isEmpty else {
        throw Failure(line: element.line, "<\(element.name)> contains elements, but must contain only text")
      }
      value = try scalar(element)
    default:
      throw Failure(line: element.line, "<\(element.name)> is not an element of a property list")
    }
    return JSONNode(value, at: TextPlace(line: element.line))
  }

  private static func scalar(_ element: XMLElement) throws(Failure) -> JSONNode.Content {
    let trimmed = String(element.text.trimming(while: \.isWhitespace))
    switch element.name {
    case "string": return .string(element.text)
    case "true": return .bool(true)
    case "false": return .bool(false)
    case "date": return .date(trimmed)
    case "integer":
      guard let number = Int64(trimmed) else {
        throw Failure(line: element.line, "<integer> does not contain a 64-bit integer")
      }
      return .number(String(number))
    default:
      guard Double(trimmed) != nil else {
        throw Failure(line: element.line, "<real> does not contain a number")
      }
      // A real must not become an integer, even if it has only digits.
      return .number(trimmed.utf8.contains { !$0.isASCIIDigit && $0 != UInt8(ascii: "-") } ? trimmed : trimmed + ".0")
    }
  }

  private static func members(_ dictionary: XMLElement) throws(Failure) -> [JSONMember] {
    var members: [JSONMember] = []
    var key: XMLElement?
    for element in dictionary.elements {
      if let name = key {
        guard element.name != "key" else { throw Failure(line: name.line, "the key '\(name.text)' has no value") }
        let value = try node(element, "'\(name.text.printable)'")
        members.append(JSONMember(key: name.text, at: TextPlace(line: name.line), value: value))
        key = nil
      } else {
        guard element.name == "key" else {
          throw Failure(line: element.line, "<\(element.name)> in a <dict> has no <key> before it")
        }
        key = element
      }
    }
    if let key { throw Failure(line: key.line, "the key '\(key.text)' has no value") }
    return members
  }

  /// Returns the document with the document type declaration before its root, if any, replaced with spaces.
  private static func withoutDocumentType(_ bytes: [UInt8], _ start: Int) throws(Failure) -> [UInt8] {
    guard let declaration = documentType(bytes, start) else { return bytes }
    guard !bytes[declaration].contains(UInt8(ascii: "[")) else {
      let line = 1 + bytes[..<declaration.lowerBound].count { $0 == UInt8(ascii: "\n") }
      throw Failure(line: line, "the DOCTYPE contains declarations", hint: "remove the part from [ to ]")
    }
    var plain = bytes
    for index in declaration where plain[index] != UInt8(ascii: "\n") { plain[index] = UInt8(ascii: " ") }
    return plain
  }

  /// Returns the range of `<!DOCTYPE ... >` if only the XML declaration, comments, instructions and space precede it;
  /// otherwise nil.
  private static func documentType(_ bytes: [UInt8], _ start: Int) -> Range<Int>? {
    var at = start
    while at < bytes.count {
      if bytes[at...].starts(with: "<!--".utf8) {
        guard let end = bytes[(at + 4)...].firstRange(of: "-->".utf8)?.upperBound else { return nil }
        at = end
      } else if bytes[at...].starts(with: "<?".utf8) {
        guard let end = bytes[(at + 2)...].firstRange(of: "?>".utf8)?.upperBound else { return nil }
        at = end
      } else if bytes[at...].starts(with: "<!DOCTYPE".utf8) {
        return documentTypeEnd(bytes, at + 9).map { at..<$0 }
      } else if bytes[at] <= 0x20 {
        at += 1
      } else {
        return nil
      }
    }
    return nil
  }

  /// Returns the offset after the `>` that closes the declaration, skipping any in quotes or brackets.
  private static func documentTypeEnd(_ bytes: [UInt8], _ start: Int) -> Int? {
    var quote: UInt8?
    var depth = 0
    for index in start..<bytes.count {
      let byte = bytes[index]
      if let open = quote {
        if byte == open { quote = nil }
        continue
      }
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "'"): quote = byte
      case UInt8(ascii: "["): depth += 1
      case UInt8(ascii: "]"): depth -= 1
      case UInt8(ascii: ">") where depth <= 0: return index + 1
      default: break
      }
    }
    return nil
  }
}
