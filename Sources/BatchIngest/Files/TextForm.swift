import BatchFoundation
import Glibc

/// What the beginning of a file says it is, where that is not lines of JSON: read as such it would be a bad line each.
///
/// Only what cannot be an export with some bad lines is recognized.
package enum TextForm: Equatable {
  case array, documents, row, returns, utf16, sqlite, gzip
  case table(separator: UInt8)

  /// Bytes that are looked at.
  package static let headBytes = 1 << 16

  /// - Parameters:
  ///   - head: without a byte order mark of UTF-8.
  ///   - isWhole: whether that is all of the file.
  package init?(_ head: UnsafeBufferPointer<UInt8>, isWhole: Bool) {
    if let form = unsafe Self.binary(head) {
      self = form
      return
    }
    let bytes = unsafe Array(head.prefix(Self.headBytes))
    if Self.endsInReturns(bytes) {
      self = .returns
      return
    }
    let lines = Self.lines(of: bytes, endingIn: 0x0A)
    // Two objects in the only line may be one that lost its end.
    let objects = lines.count == 1 && isWhole ? 3 : 2
    if !lines.isEmpty, lines.allSatisfy({ Self.begins($0, withObjects: objects) }) {
      self = .row
      return
    }
    // Nearly every export begins like this.
    if head.count >= 2, unsafe head[0] == UInt8(ascii: "{"), unsafe !head[1].isLineSpace { return nil }
    guard let first = lines.first, let start = first.first else { return nil }
    let isWholeLine = lines.count > 1 || isWhole
    switch start {
    case UInt8(ascii: "["):
      // A line that is an array by itself is one bad line among others, unless it is all there is.
      let beginsRecord = (first.dropFirst() + (lines.count > 1 ? lines[1] : [])).first { !$0.isLineSpace }
      guard beginsRecord == UInt8(ascii: "{") else { return nil }
      if isWholeLine, first.last == UInt8(ascii: "]") {
        guard lines.count == 1, Self.begins(first.dropFirst(), withObjects: 2) else { return nil }
      }
      // In an array a comma would stand between them.
      if first.count == 1, lines.count > 2, lines[1].last == UInt8(ascii: "}"), lines[2].first == UInt8(ascii: "{") {
        return nil
      }
      self = .array
    case UInt8(ascii: "{"):
      guard first.count == 1, lines.count > 1, lines[1].first == UInt8(ascii: "\"") else { return nil }
      self = .documents
    default:
      guard lines.count > 1, lines[1].first != UInt8(ascii: "{") else { return nil }
      for separator in [UInt8(ascii: ","), UInt8(ascii: "\t"), UInt8(ascii: ";")] {
        let names = first.split(separator: separator, omittingEmptySubsequences: false)
        guard names.count >= 3, names.allSatisfy(Self.isName) else { continue }
        // A quoted field may hold separators.
        let fields = lines[1].split(separator: separator, omittingEmptySubsequences: false).count
        guard fields == names.count || fields > names.count && lines[1].contains(UInt8(ascii: "\"")) else { continue }
        self = .table(separator: separator)
        return
      }
      return nil
    }
  }

  /// The first three that are not blank.
  private static func lines(of bytes: [UInt8], endingIn end: UInt8) -> [ArraySlice<UInt8>] {
    var lines: [ArraySlice<UInt8>] = []
    for line in bytes.split(separator: end) {
      let trimmed = line.drop { $0.isLineSpace }.dropLast(while: { $0.isLineSpace })
      if !trimmed.isEmpty { lines.append(trimmed) }
      if lines.count == 3 { break }
    }
    return lines
  }

  /// Whether lines end with a carriage return alone, which is white space within an object.
  private static func endsInReturns(_ bytes: [UInt8]) -> Bool {
    guard !bytes.contains(0x0A) else { return false }
    let lines = lines(of: bytes, endingIn: 0x0D)
    guard lines.count > 2, let start = lines[0].first else { return false }
    return start != UInt8(ascii: "[") && (start != UInt8(ascii: "{") || lines[0].last == UInt8(ascii: "}"))
  }

  /// Whether so many objects stand one behind the other.
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

  /// What is not text in UTF-8.
  package static func binary(_ head: UnsafeBufferPointer<UInt8>) -> TextForm? {
    if unsafe head.starts(with: [0xFF, 0xFE]) || head.starts(with: [0xFE, 0xFF]), unsafe head.prefix(256).contains(0) {
      return .utf16
    }
    if unsafe head.starts(with: "SQLite format 3\0".utf8) { return .sqlite }
    return unsafe isGzip(head) ? .gzip : nil
  }

  /// RFC 1952, 2.3: flags that are known, how it was compressed, and on which system.
  private static func isGzip(_ head: UnsafeBufferPointer<UInt8>) -> Bool {
    guard head.count >= 10, unsafe head.starts(with: [0x1F, 0x8B, 0x08]) else { return false }
    return unsafe head[3] & 0xE0 == 0 && [0, 2, 4].contains(head[8]) && (head[9] <= 13 || head[9] == 255)
  }

  /// What the beginning of a file says; nil also for an empty one. Of a file that nothing reads as lines yet, the only line may say what it is.
  package init?(_ text: [UInt8]) {
    let form = unsafe text.withUnsafeBufferPointer { unsafe Self(Self.withoutMark($0), isWhole: false) }
    guard let form else { return nil }
    self = form
  }

  /// The beginning of a file without a byte order mark of UTF-8.
  static func withoutMark(_ head: UnsafeBufferPointer<UInt8>) -> UnsafeBufferPointer<UInt8> {
    unsafe UnsafeBufferPointer(rebasing: head.dropFirst(head.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0))
  }

  /// Whether it is JSON that no lines cut.
  package var isDocuments: Bool { [.array, .documents, .row].contains(self) }

  /// The words of a map that says how such a file is cut; none where no map can.
  package var mapWords: [String] {
    switch self {
    case .array, .documents, .row: [#""form": "json""#]
    case .returns, .utf16, .sqlite, .gzip: []
    case .table(UInt8(ascii: "\t")): [#""form": "tsv""#]
    case .table(UInt8(ascii: ";")): [#""form": "csv""#, #""separator": ";""#]
    case .table: [#""form": "csv""#]
    }
  }

  package static func isName(_ field: ArraySlice<UInt8>) -> Bool {
    let name = field.first == UInt8(ascii: "\"") ? field.dropFirst().dropLast() : field
    return !name.isEmpty && name.count <= 80
      && name.allSatisfy { byte in
        // Letters beyond ASCII, in whatever encoding.
        byte >= 0x80 || UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20
          || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte || "_-. $[]/".utf8.contains(byte)
      }
  }

  /// What it is, and what reads it.
  package var words: String {
    switch self {
    case .utf16:
      return "\(name), but lines of JSON are UTF-8; convert it: iconv -f UTF-16 -t UTF-8 FILE; "
        + "a map of a table reads it if it says \"encoding\": \"utf-16\""
    case .sqlite:
      return "\(name), but the entry reads text; the store of an SDK is read from 'stores': {\"stores\": [\"FILE\"]}, "
        + "a table of another by a program: sqlite3 -json FILE 'SELECT ...'"
    case .gzip: return "\(name), but its name does not end with .gz; rename it: mv FILE FILE.gz"
    case .returns: return "\(name), which ends no line here; convert it: tr '\\r' '\\n' < FILE > OTHER"
    default: return words(whereRead: "the entry reads lines of JSON; name a map")
    }
  }

  /// What it is, and what reads it where a map cuts text otherwise.
  ///
  /// - Parameter what: it reads, in words such as `a table`.
  package func words(whereMapReads what: String) -> String {
    switch self {
    case .utf16: "\(name), but the map of the entry reads UTF-8; let it say \"encoding\": \"utf-16\""
    case .sqlite, .gzip, .returns: words
    default: words(whereRead: "the map of the entry reads \(what); name one")
    }
  }

  private func words(whereRead what: String) -> String {
    "\(name), but \(what) that says \(mapWords.joined(separator: ", ")): {\"path\": \"FILE\", \"map\": \"MAP.json\"}"
  }

  package var name: String {
    switch self {
    case .array: "a JSON array"
    case .documents: "JSON documents of several lines"
    case .row: "JSON documents one after the other in a line"
    case .returns: "text whose lines end with a carriage return alone"
    case .utf16: "text in UTF-16"
    case .sqlite: "a SQLite database"
    case .gzip: "compressed with gzip"
    case .table(UInt8(ascii: "\t")): "a table with tabs"
    case .table(UInt8(ascii: ";")): "a table with semicolons"
    case .table: "a table in CSV"
    }
  }
}

extension InputFile {
  /// The first bytes, inflated; all of a short file.
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

extension ArraySlice<UInt8> {
  fileprivate func dropLast(while isDropped: (UInt8) -> Bool) -> ArraySlice<UInt8> {
    var end = endIndex
    while end > startIndex, isDropped(self[end - 1]) { end -= 1 }
    return self[startIndex..<end]
  }
}
