import BatchFoundation

/// The format that the beginning of a file indicates, if not lines of JSON. If such a file were read as lines of JSON,
/// every line would be bad.
///
/// Only formats that cannot be an export with some bad lines are recognized.
package enum TextForm: Equatable {
  case array, documents, row, returns, utf16, sqlite, gzip, propertyList
  case table(separator: UInt8)

  package static let headBytes = 1 << 16

  /// - Parameters:
  ///   - head: the first bytes, without a UTF-8 byte order mark.
  ///   - isWhole: whether `head` is the whole file.
  package static func of(_ head: UnsafeBufferPointer<UInt8>, isWhole: Bool) -> TextForm? {
    if let form = unsafe binary(head) { return form }
    if unsafe isPropertyList(head) { return .propertyList }
    let bytes = unsafe Array(head.prefix(headBytes))
    if endsInReturns(bytes) { return .returns }
    let lines = lines(of: bytes, endingIn: 0x0A)
    // A file's only line may be two lines that lost the line ending between them.
    let objects = lines.count == 1 && isWhole ? 3 : 2
    if !lines.isEmpty, lines.allSatisfy({ begins($0, withObjects: objects) }) { return .row }
    // Nearly every export begins like this.
    if head.count >= 2, unsafe head[0] == UInt8(ascii: "{"), unsafe !head[1].isLineSpace { return nil }
    guard let first = lines.first, let start = first.first else { return nil }
    let isWholeLine = lines.count > 1 || isWhole
    switch start {
    case UInt8(ascii: "["):
      // A line that is an array is one bad line among others, unless it is the only one.
      let beginsRecord = (first.dropFirst() + (lines.count > 1 ? lines[1] : [])).first { !$0.isLineSpace }
      guard beginsRecord == UInt8(ascii: "{") else { return nil }
      if isWholeLine, first.last == UInt8(ascii: "]") {
        guard lines.count == 1, begins(first.dropFirst(), withObjects: 2) else { return nil }
      }
      // In an array, a comma would separate the objects.
      if first.count == 1, lines.count > 2, lines[1].last == UInt8(ascii: "}"), lines[2].first == UInt8(ascii: "{") {
        return nil
      }
      return .array
    case UInt8(ascii: "{"):
      guard first.count == 1, lines.count > 1, lines[1].first == UInt8(ascii: "\"") else { return nil }
      return .documents
    default:
      guard lines.count > 1, lines[1].first != UInt8(ascii: "{") else { return nil }
      for separator in [UInt8(ascii: ","), UInt8(ascii: "\t"), UInt8(ascii: ";")] {
        let names = first.split(separator: separator, omittingEmptySubsequences: false)
        guard names.count >= 3, names.allSatisfy(isName) else { continue }
        // A quoted field may contain separators.
        let fields = lines[1].split(separator: separator, omittingEmptySubsequences: false).count
        guard fields == names.count || fields > names.count && lines[1].contains(UInt8(ascii: "\"")) else { continue }
        return .table(separator: separator)
      }
      return nil
    }
  }

  /// Returns the first three lines that are not blank, trimmed.
  private static func lines(of bytes: [UInt8], endingIn end: UInt8) -> [ArraySlice<UInt8>] {
    var lines: [ArraySlice<UInt8>] = []
    for line in bytes.split(separator: end) {
      let start = line.drop { $0.isLineSpace }
      if let last = start.lastIndex(where: { !$0.isLineSpace }) { lines.append(start[...last]) }
      if lines.count == 3 { break }
    }
    return lines
  }

  /// Returns whether lines end in a lone carriage return, which is white space within an object.
  private static func endsInReturns(_ bytes: [UInt8]) -> Bool {
    guard !bytes.contains(0x0A) else { return false }
    let lines = lines(of: bytes, endingIn: 0x0D)
    guard lines.count > 2, let start = lines[0].first else { return false }
    return start != UInt8(ascii: "[") && (start != UInt8(ascii: "{") || lines[0].last == UInt8(ascii: "}"))
  }

  /// Returns whether a line begins with at least `count` objects, one after another.
  package static func begins(_ line: ArraySlice<UInt8>, withObjects count: Int) -> Bool {
    guard line.first == UInt8(ascii: "{") else { return false }
    var (depth, isInText, isEscaped, found) = (0, false, false, 1)
    for place in line.indices {
      switch line[place] {
      case _ where isEscaped: isEscaped = false
      case UInt8(ascii: "\\") where isInText: isEscaped = true
      case UInt8(ascii: "\""): isInText.toggle()
      case _ where isInText: break
      case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        depth -= 1
        guard depth <= 0 else { break }
        let next = line[(place + 1)...].first { !$0.isLineSpace && $0 != UInt8(ascii: ",") }
        guard next == UInt8(ascii: "{") else { return false }
        found += 1
        if found == count { return true }
      default: break
      }
    }
    return false
  }

  /// Returns the format of a file that is not UTF-8 text; nil for other files.
  package static func binary(_ head: UnsafeBufferPointer<UInt8>) -> TextForm? {
    if unsafe head.starts(with: [0xFF, 0xFE]) || head.starts(with: [0xFE, 0xFF]), unsafe head.prefix(256).contains(0) {
      return .utf16
    }
    if unsafe head.starts(with: "SQLite format 3\0".utf8) { return .sqlite }
    return unsafe isGzip(head) ? .gzip : nil
  }

  package static func isPropertyList(_ head: some Collection<UInt8>) -> Bool {
    let text = String(decoding: head.prefix(1_000), as: UTF8.self)
    return text.hasPrefix("bplist0") || text.first { !$0.isWhitespace } == "<" && text.contains("<plist")
  }

  /// Checks for a gzip header (RFC 1952, 2.3) with a known compression level and operating system and no unknown flags.
  private static func isGzip(_ head: UnsafeBufferPointer<UInt8>) -> Bool {
    guard head.count >= 10, unsafe head.starts(with: [0x1F, 0x8B, 0x08]) else { return false }
    return unsafe head[3] & 0xE0 == 0 && [0, 2, 4].contains(head[8]) && (head[9] <= 13 || head[9] == 255)
  }

  /// Recognizes the format from the beginning of a file, which may be longer; nil if no format is recognized.
  package static func of(_ text: [UInt8]) -> TextForm? {
    unsafe text.withUnsafeBufferPointer { unsafe of(withoutMark($0), isWhole: false) }
  }

  /// Returns the beginning of a file without a UTF-8 byte order mark.
  static func withoutMark(_ head: UnsafeBufferPointer<UInt8>) -> UnsafeBufferPointer<UInt8> {
    unsafe UnsafeBufferPointer(rebasing: head.dropFirst(head.byteOrderMarkLength))
  }

  /// Whether the file consists of JSON or property list documents that line breaks do not separate.
  package var isDocuments: Bool { [.array, .documents, .row, .propertyList].contains(self) }

  /// The members of a map that reads this format; empty if no map can.
  package var mapWords: [String] {
    switch self {
    case .array, .documents, .row, .propertyList: [#""form": "json""#]
    case .returns, .utf16, .sqlite, .gzip: []
    case .table(UInt8(ascii: "\t")): [#""form": "tsv""#]
    case .table(UInt8(ascii: ",")): [#""form": "csv""#]
    case .table(let separator): [#""form": "csv""#, "\"separator\": \"\(Unicode.Scalar(separator))\""]
    }
  }

  package static func isName(_ field: ArraySlice<UInt8>) -> Bool {
    let name = field.first == UInt8(ascii: "\"") ? field.dropFirst().dropLast() : field
    return !name.isEmpty && name.count <= 80
      && name.allSatisfy { byte in
        // Letters beyond ASCII, in any encoding.
        byte >= 0x80 || byte.isASCIILetterOrDigit || "_-. $[]/".utf8.contains(byte)
      }
  }

  /// The format and the way to read it.
  package var words: String {
    switch self {
    case .utf16:
      return "\(name), but lines of JSON must be UTF-8; convert the file: iconv -f UTF-16 -t UTF-8 FILE > OTHER; "
        + "for a table, add \"encoding\": \"utf-16\" to its map"
    case .sqlite:
      return "\(name), but the entry expects text; list an SDK's store under 'stores': {\"stores\": [\"FILE\"]}; "
        + "export a table of another database: sqlite3 -json FILE 'SELECT ...'"
    case .gzip: return "\(name), but its name does not end with .gz; rename it: mv FILE FILE.gz"
    case .returns:
      return "\(name), which are not accepted as line endings; convert the file: tr '\\r' '\\n' < FILE > OTHER"
    default: return words(whereRead: "the entry expects lines of JSON; add a map")
    }
  }

  /// Returns the format and the way to read it, for an entry whose map expects a different format.
  ///
  /// - Parameter what: what the map reads, for example `a table`.
  package func words(whereMapReads what: String) -> String {
    switch self {
    case .utf16: "\(name), but the entry's map reads UTF-8; add \"encoding\": \"utf-16\" to the map"
    case .sqlite, .gzip, .returns: words
    default: words(whereRead: "the entry's map reads \(what); use a map")
    }
  }

  private func words(whereRead what: String) -> String {
    "\(name), but \(what) with \(mapWords.joined(separator: ", ")): {\"path\": \"FILE\", \"map\": \"MAP.json\"}"
  }

  package var name: String {
    switch self {
    case .array: "a JSON array"
    case .documents: "multi-line JSON documents"
    case .row: "several JSON documents on one line"
    case .returns: "text with bare carriage returns"
    case .utf16: "text in UTF-16"
    case .sqlite: "a SQLite database"
    case .gzip: "compressed with gzip"
    case .propertyList: "a property list"
    case .table(UInt8(ascii: "\t")): "a tab-separated table"
    case .table(UInt8(ascii: ";")): "a semicolon-separated table"
    case .table(UInt8(ascii: "|")): "a table separated by vertical bars"
    case .table: "a CSV table"
    }
  }
}

extension InputFile {
  /// Returns the first ``TextForm/headBytes`` bytes, inflated, or the whole file if it is shorter.
  ///
  /// - Throws: ``IngestFailure``.
  package func head() throws -> [UInt8] {
    let reader = try FileReader(self)
    return try unsafe [UInt8](unsafeUninitializedCapacity: TextForm.headBytes) { buffer, count in
      while count < buffer.count {
        let rest = unsafe UnsafeMutableBufferPointer(rebasing: buffer[count...])
        let more = try unsafe reader.read(into: UnsafeMutableRawBufferPointer(rest))
        if more == 0 { break }
        count += more
      }
    }
  }
}
