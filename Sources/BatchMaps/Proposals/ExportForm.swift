import BatchFoundation
package import BatchIngest

/// The format of an export, recognized by its first bytes.
package struct ExportForm: Equatable {
  /// The members of a map that define the format, as JSON; empty for lines of JSON.
  package private(set) var words: [String] = []
  /// The name of the format in messages; empty for lines of JSON.
  package private(set) var name = ""
  /// Whether the file needs a map with the form `json`.
  package private(set) var isDocuments = false
  package private(set) var isTable = false
  /// The reason why no map can read the file; nil if a map may be able to.
  package private(set) var refusal: String?
  /// The guesses on which the map relies.
  package private(set) var guesses: [String] = []
  /// The reason to check a guess; nil if there is none.
  package private(set) var doubt: String?

  package static let lines = ExportForm()
  package static let links = ExportForm(words: [#""form": "text""#], name: "a list of links")

  private init(words: [String] = [], name: String = "") { (self.words, self.name) = (words, name) }

  /// - Throws: `IngestFailure`.
  package init(of file: InputFile) throws {
    let head = try file.head()
    let binary = unsafe head.withUnsafeBufferPointer { unsafe TextForm.binary($0) }
    if let binary, binary != .utf16 {
      if binary != .sqlite { refusal = binary.words }
      return
    }
    // The bytes may end within a character, row or record.
    let isCut = head.count == TextForm.headBytes
    let encoding = Self.encoding(of: head)
    var text = head
    if encoding != .utf8 {
      var decoder = TextDecoder(encoding)
      text = unsafe head.withUnsafeBufferPointer { unsafe decoder.decode($0) }
    }
    text.removeFirst(text.byteOrderMarkLength)
    if isCut, let end = text.lastIndex(of: UInt8(ascii: "\n")) { text.removeSubrange(end...) }
    let form = TextForm.of(text)
    if form == .returns, let words = form?.words {
      refusal = words
      return
    }
    if let form, form == .propertyList {
      (words, name, isDocuments) = (form.mapWords, form.name, true)
      return
    }
    let rows = text.split(separator: UInt8(ascii: "\n"))
    if let words = Self.refusal(of: text, rows) {
      refusal = words
      return
    }
    let start = text.first { $0 > 0x20 }
    // The first column name may be in braces.
    let isNamed = text.starts(with: "{".utf8) && text.dropFirst().first.map { $0 | 0x20 >= UInt8(ascii: "a") } ?? false
    if !isNamed, start == UInt8(ascii: "{") || start == UInt8(ascii: "[") {
      // The lines may be separated by commas.
      let isRow =
        rows.contains { TextForm.begins($0.drop { $0 <= 0x20 }, withObjects: 2) }
        || rows.allSatisfy({ $0.first { $0 > 0x20 } == UInt8(ascii: "{") })
          && rows.contains { $0.last { $0 > 0x20 } == UInt8(ascii: ",") }
      isDocuments = form?.isDocuments ?? false || isRow || encoding != .utf8 || start == UInt8(ascii: "[")
      if isDocuments {
        words = [#""form": "json""#]
        name = (form?.isDocuments == true ? form : isRow ? .row : nil)?.name ?? "lines of JSON"
      }
    } else if readTable(text) {
      isTable = refusal == nil
    } else if !rows.isEmpty, rows.allSatisfy({ ColumnLook.isURL(String(decoding: $0, as: UTF8.self)) }) {
      self = .links
    }
    guard encoding != .utf8, !words.isEmpty else { return }
    words.append("\"encoding\": \"\(encoding.rawValue)\"")
    name += " in \(encoding.rawValue)"
    guard encoding == .windows1252 else { return }
    guesses.append("encoding guessed: \(encoding.rawValue)")
    if let byte = head.first(where: { [0x81, 0x8D, 0x8F, 0x90, 0x9D].contains($0) }) {
      doubt =
        "byte 0x\(String(byte, radix: 16, uppercase: true)) is not a character in \(encoding.rawValue), so the file has "
        + "another encoding: convert it, for example with 'iconv -f ENCODING -t UTF-8'"
    }
  }

  /// Returns the reason why no map can read a text with these first rows; nil if a map may be able to.
  private static func refusal(of text: [UInt8], _ rows: [ArraySlice<UInt8>]) -> String? {
    let head = String(decoding: text.prefix(1_000), as: UTF8.self)
    if head.hasPrefix("sep="), let row = rows.first { return preamble(row) }
    if head.hasPrefix("+--") || rows.count > 1 && rows[1].count > 2 && rows[1].allSatisfy({ "+-\r".utf8.contains($0) })
    {
      return "a table formatted for display; export it as CSV or TSV, for example with 'psql --csv' "
        + "or 'mariadb --batch'"
    }
    let isRows =
      rows.first.flatMap { try? JSONNode.parse(Array($0)) }?.array.map { row in
        !row.isEmpty && row.allSatisfy { $0.members == nil && $0.array == nil }
      } ?? false
    return isRows
      ? "arrays of values without names; export objects (in ClickHouse: FORMAT JSONEachRow) or a CSV table" : nil
  }

  /// Returns a message saying that the first line is not part of the table.
  private static func preamble(_ line: some Sequence<UInt8>) -> String {
    let words = String(decoding: line.prefix { $0 >= 0x20 }, as: UTF8.self).shortened(to: 60).printable
    return "the first line '\(words)' is not part of the table; remove the line"
  }

  /// Returns the encoding: UTF-16 if it is recognized; otherwise UTF-8 if less than half of the non-ASCII characters
  /// are damaged; otherwise Windows-1252.
  private static func encoding(of head: [UInt8]) -> TextEncoding {
    if head.starts(with: [0xFF, 0xFE]) || head.starts(with: [0xFE, 0xFF]) { return .utf16 }
    if head.count > 3, head.enumerated().allSatisfy({ $0.offset % 2 == 0 || $0.element == 0 }) { return .utf16 }
    let fault = unsafe head.withUnsafeBufferPointer { unsafe firstInvalidUTF8($0) }
    guard let fault, fault < head.count - 3 || head.count < TextForm.headBytes else { return .utf8 }
    let letters = String(decoding: head, as: UTF8.self).unicodeScalars.filter { !$0.isASCII }
    return letters.count { $0 == "\u{FFFD}" } * 2 < letters.count ? .utf8 : .windows1252
  }

  /// Returns whether backslashes in a table with tabs are escapes; nil if unknown. Doubled backslashes and `\N` as a
  /// field prove that they are; letters that no writer escapes prove that they are not.
  private static func escapes(in text: [UInt8]) -> Bool? {
    let found = Set(String(decoding: text + [0x0A], as: UTF8.self).matches(of: /\\(N\s|.)/).map { String($0.1) })
    let unclear: Set = ["t", "n", "r", "b", "f", "v", "0"]
    if found.subtracting(unclear).contains(where: { $0.wholeMatch(of: /[0-9A-Za-z]/) != nil }) { return false }
    if found.contains(where: { $0 == "\\" || $0.hasPrefix("N") }) { return true }
    return found.isDisjoint(with: unclear) ? false : nil
  }

  /// Finds the dialect in which nine in ten rows have as many fields as the first. Below a header, half of the rows
  /// suffice, because a small table may have an odd row. Returns whether the text is a table, even a refused one.
  private mutating func readTable(_ text: [UInt8]) -> Bool {
    var best: (separator: UInt8, escape: String, names: [String], whole: Int)?
    let escapes = Self.escapes(in: text)
    let escapedQuotes = text.indices.dropLast(2).contains {
      text[$0] == 0x5C && text[$0 + 1] == 0x22 && text[$0 + 2] != 0x22
    }
    var dialects: [(separator: UInt8, escape: String)] = []
    for separator in [UInt8(ascii: "\t"), UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "|")] {
      if separator != 0x09, escapedQuotes { dialects.append((separator, #"\""#)) }
      if separator == 0x09 ? escapes == true : escapedQuotes { dialects.append((separator, #"\"#)) }
      dialects.append((separator, ""))
    }
    for (separator, escape) in dialects {
      let dialect = RowDialect(
        separator: separator, quotes: separator == 0x09 ? .inLine : .standard, escape: escape.utf8.first,
        escapesOnlyQuotes: escape.utf8.count == 2, looksForEscapes: false, nulls: [])
      var reader = RowReader(dialect, cause: dialect.causeOfFault(in:))
      var names: [String] = []
      var (rows, whole, isRefuted) = (0, 0, false)
      var fault: String?
      func add(_ row: RowReader.Row) {
        if rows == 0 { names = row.fields.map { String(decoding: $0 ?? [], as: UTF8.self) } }
        rows += 1
        if row.fields.count == names.count { whole += 1 }
        fault = fault ?? row.fault.map { "line \(row.line): \($0)" }
        isRefuted = isRefuted || row.unreadEscape != nil
      }
      reader.read(text, add)
      reader.finish(add)
      guard !isRefuted, names.count > 1, (names.count, whole) > (best?.names.count ?? 0, best?.whole ?? 0),
        whole * 10 >= rows * 9 || whole > 1 && whole * 2 >= rows && names.count > 2 && Self.isHeader(names)
      else {
        if names.count > 2, Self.isHeader(names) { refusal = refusal ?? fault }
        continue
      }
      best = (separator, escape, names, whole)
    }
    guard let best else {
      if text.first == UInt8(ascii: "#") { refusal = Self.preamble(text) }
      return refusal != nil
    }
    refusal = nil
    let form = TextForm.table(separator: best.separator)
    (words, name) = (form.mapWords, form.name)
    if !best.escape.isEmpty {
      words.append("\"escape\": \(JSONString.quoted(best.escape))")
      guesses.append("escape guessed: \(best.escape)")
    } else if best.separator == 0x09, escapes == nil {
      doubt =
        #"backslashes before letters, such as '\t' or '\n', may be text or escapes: write "escape": "" or "escape": "\\" in the map"#
    }
    guard !Self.isHeader(best.names) else { return true }
    let columns = best.names.indices.map { "\"column\($0 + 1)\"" }.joined(separator: ", ")
    words.append("\"columns\": [\(columns)]")
    name += " without a header"
    return true
  }

  /// Returns whether the strings are column names rather than values such as times, numbers, addresses or ids. Less
  /// than half of them may be empty, such as above row numbers or after the last column.
  private static func isHeader(_ names: [String]) -> Bool {
    let given = names.filter { !$0.isEmpty }
    return given.count > 1 && given.count * 2 > names.count
      && given.allSatisfy { $0.utf8.count <= 80 && !ColumnLook.isValue($0) }
  }
}
