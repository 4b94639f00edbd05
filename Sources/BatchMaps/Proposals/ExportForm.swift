import BatchFoundation
package import BatchIngest

/// The format of an export, recognized by its first bytes.
package struct ExportForm: Equatable {
  /// The words for a map; empty for lines of JSON.
  package private(set) var words: [String] = []
  /// The name in messages; empty for lines of JSON.
  package private(set) var name = ""
  /// Whether it is JSON not divided by lines.
  package private(set) var isDocuments = false
  package private(set) var isTable = false
  /// The reason why no map can read it; nil if one may.
  package private(set) var refusal: String?

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
    // The end may be within a character, row or record.
    let isCut = head.count == TextForm.headBytes
    let encoding = Self.encoding(of: head)
    var text = head
    if encoding != .utf8 {
      var decoder = TextDecoder(encoding)
      text = unsafe head.withUnsafeBufferPointer { unsafe decoder.decode($0) }
    }
    if text.starts(with: [0xEF, 0xBB, 0xBF]) { text.removeFirst(3) }
    if isCut, let end = text.lastIndex(of: UInt8(ascii: "\n")) { text.removeSubrange(end...) }
    let form = TextForm(text)
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
    // Column names may be in braces.
    let isNamed = text.starts(with: "{".utf8) && text.dropFirst().first.map { $0 | 0x20 >= UInt8(ascii: "a") } ?? false
    if !isNamed, start == UInt8(ascii: "{") || start == UInt8(ascii: "[") {
      // Commas may separate the lines.
      let isRow =
        rows.contains { TextForm.begins($0.drop { $0 <= 0x20 }, withObjects: 2) }
        || rows.allSatisfy({ $0.first { $0 > 0x20 } == UInt8(ascii: "{") })
          && rows.contains { $0.last { $0 > 0x20 } == UInt8(ascii: ",") }
      isDocuments = form?.isDocuments ?? false || isRow || encoding != .utf8
      if isDocuments {
        words = [#""form": "json""#]
        name = (form?.isDocuments == true ? form : isRow ? .row : nil)?.name ?? "lines of JSON"
      }
    } else if let table = Self.table(text) {
      (words, name, isTable) = (table.words, table.name, true)
    } else if !rows.isEmpty, rows.allSatisfy({ ColumnLook.isURL(String(decoding: $0, as: UTF8.self)) }) {
      self = .links
    }
    guard encoding != .utf8, !words.isEmpty else { return }
    words.append("\"encoding\": \"\(encoding.rawValue)\"")
    name += " in \(encoding.rawValue)"
  }

  /// Returns why no map can read text with these first rows; nil if one may.
  private static func refusal(of text: [UInt8], _ rows: [ArraySlice<UInt8>]) -> String? {
    let head = String(decoding: text.prefix(1_000), as: UTF8.self)
    if head.hasPrefix("sep="), let row = rows.first {
      let words = String(decoding: row.filter { $0 > 0x20 }, as: UTF8.self).printable
      return "the first line '\(words)' is for spreadsheets only; remove it to have the table read"
    }
    if head.hasPrefix("+--") || rows.count > 1 && rows[1].count > 2 && rows[1].allSatisfy({ "+-\r".utf8.contains($0) })
    {
      return "a table drawn for people; export it as CSV, for example with 'psql --csv' or 'mariadb --batch'"
    }
    let isRows =
      rows.first.flatMap { try? JSONNode.parse(Array($0)) }?.array.map { row in
        !row.isEmpty && row.allSatisfy { $0.members == nil && $0.array == nil }
      } ?? false
    return isRows ? "arrays of values without names; export objects, for example with JSONEachRow, or a CSV table" : nil
  }

  /// Returns the encoding: for invalid UTF-8 Windows-1252, unless a byte is unassigned there.
  private static func encoding(of head: [UInt8]) -> TextEncoding {
    if head.starts(with: [0xFF, 0xFE]) || head.starts(with: [0xFE, 0xFF]) { return .utf16 }
    if head.count > 3, head.enumerated().allSatisfy({ $0.offset % 2 == 0 || $0.element == 0 }) { return .utf16 }
    let fault = unsafe head.withUnsafeBufferPointer { unsafe firstInvalidUTF8($0) }
    guard let fault, fault < head.count - 3 || head.count < TextForm.headBytes else { return .utf8 }
    return head.contains { [0x81, 0x8D, 0x8F, 0x90, 0x9D].contains($0) } ? .latin1 : .windows1252
  }

  /// Returns the dialect in which most rows have equally many fields; below a header half of them, as one of few may be
  /// odd.
  private static func table(_ text: [UInt8]) -> (words: [String], name: String)? {
    var best: (separator: UInt8, escape: String, names: [String], whole: Int)?
    let escapes = ["\\t", "\\n", "\\\\"].contains { text.firstRange(of: $0.utf8) != nil }
    let escapedQuotes = text.indices.dropLast(2).contains {
      text[$0] == 0x5C && text[$0 + 1] == 0x22 && text[$0 + 2] != 0x22
    }
    var dialects: [(separator: UInt8, escape: String)] = []
    for separator in [UInt8(ascii: "\t"), UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "|")] {
      if separator != 0x09, escapedQuotes { dialects.append((separator, #"\""#)) }
      if separator == 0x09 ? escapes : escapedQuotes { dialects.append((separator, #"\"#)) }
      dialects.append((separator, ""))
    }
    for (separator, escape) in dialects {
      let quotes = separator == 0x09 ? TableQuotes.inLine : .standard
      var reader = RowReader(
        TableForm(
          separator: separator, quotes: quotes, escape: escape.utf8.first, escapesOnlyQuotes: escape.utf8.count == 2,
          looksForEscapes: false, nulls: []), longest: .max)
      var names: [String] = []
      var (rows, whole, isRefuted) = (0, 0, false)
      func add(_ row: RowReader.Row) {
        if rows == 0 { names = row.fields.map { String(decoding: $0 ?? [], as: UTF8.self) } }
        rows += 1
        if row.fields.count == names.count { whole += 1 }
        isRefuted = isRefuted || row.unreadEscape != nil
      }
      reader.read(text, add)
      reader.finish(add)
      guard !isRefuted, names.count > 1, (names.count, whole) > (best?.names.count ?? 0, best?.whole ?? 0),
        whole * 10 >= rows * 9 || whole > 1 && whole * 2 >= rows && names.count > 2 && isHeader(names)
      else { continue }
      best = (separator, escape, names, whole)
    }
    guard let best else { return nil }
    let form = TextForm.table(separator: best.separator)
    let escape = best.escape.isEmpty ? [] : ["\"escape\": \(JSONString.quoted(best.escape))"]
    guard !isHeader(best.names) else { return (form.mapWords + escape, form.name) }
    let columns = best.names.indices.map { "\"column\($0 + 1)\"" }.joined(separator: ", ")
    return (form.mapWords + escape + ["\"columns\": [\(columns)]"], "\(form.name) without a header")
  }

  /// Returns whether names are not values such as times, numbers, addresses or ids. The first, of row numbers, may be
  /// empty.
  private static func isHeader(_ names: [String]) -> Bool {
    Set(names).count == names.count && names.dropFirst().allSatisfy { !$0.isEmpty && $0.utf8.count <= 80 }
      && (!names[0].isEmpty || names.count > 2)
      && !names.contains { ColumnLook.isValue($0) }
  }
}
