/// A first pass over the bytes before they are parsed, which finds the start tags and rejects what must not be parsed.
/// It splits a well-formed document exactly as a parser does, and any other document up to its first fault, at which
/// the parser stops.
struct XMLMarkup {
  /// The line of each start tag, from 1.
  private(set) var lines: [Int] = []
  private let limits: XMLLimits

  init(_ bytes: [UInt8], limits: XMLLimits) throws(XMLError) {
    self.limits = limits
    var at = 0
    var line = 1
    while at < bytes.count {
      let byte = bytes[at]
      if byte == 0x0A { line += 1 }
      guard byte == UInt8(ascii: "<") else {
        at += 1
        continue
      }
      let end: Int
      let rest = bytes[at...]
      if rest.starts(with: "<!--".utf8) {
        end = Self.after("-->", bytes, at + 4)
      } else if rest.starts(with: "<![CDATA[".utf8) {
        end = Self.after("]]>", bytes, at + 9)
      } else if rest.starts(with: "<?".utf8) {
        end = Self.after("?>", bytes, at + 2)
      } else if rest.starts(with: "<!".utf8) {
        throw XMLError.documentType(line: line)
      } else {
        end = try tag(bytes, at, line)
      }
      for index in at..<end where bytes[index] == 0x0A { line += 1 }
      at = end
    }
  }

  /// Notes a start tag and returns the end of the tag.
  private mutating func tag(_ bytes: [UInt8], _ start: Int, _ line: Int) throws(XMLError) -> Int {
    if start + 1 < bytes.count, bytes[start + 1] != UInt8(ascii: "/") {
      guard lines.count < limits.elements else { throw XMLError.tooManyElements(limit: limits.elements) }
      lines.append(line)
    }
    var at = start + 1
    var values = 0
    while at < bytes.count {
      let byte = bytes[at]
      at += 1
      if byte == UInt8(ascii: ">") { break }
      guard byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") else { continue }
      values += 1
      guard values <= limits.attributes else { throw XMLError.tooManyAttributes(line: line, limit: limits.attributes) }
      while at < bytes.count, bytes[at] != byte { at += 1 }
      at = min(at + 1, bytes.count)
    }
    return at
  }

  /// Returns the offset after the next `mark`; the end of the document if there is none.
  private static func after(_ mark: String, _ bytes: [UInt8], _ from: Int) -> Int {
    let mark = Array(mark.utf8)
    return (from..<bytes.count).first { bytes[$0] == mark[0] && bytes[$0...].starts(with: mark) }
      .map { $0 + mark.count } ?? bytes.count
  }
}
