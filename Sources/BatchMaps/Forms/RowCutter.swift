import BatchFoundation
import BatchIngest

/// Splits a table into rows. Each row becomes an object with a member for every column that has a name and a value.
/// Values are strings or, for the map's JSON columns, the JSON in them.
///
/// A row has the number of its first line (reference formats 6.2).
final class RowCutter: RecordCutter {
  private var decoder: TextDecoder
  private var reader: RowReader
  /// The column names as JSON strings, with quotes; nil until known.
  private var columns: [[UInt8]]?
  private let jsonColumns: Set<[UInt8]>
  private var json = EmbeddedJSON()
  private var row = ByteBuffer(capacity: 1 << 10)
  private let form: TableForm
  /// Whether the rest of the file is skipped because the column names are unusable.
  private var isLost = false
  /// Whether the warning about escapes was already given.
  private var isReported = false

  init(_ form: TableForm, longest: Int) {
    decoder = TextDecoder(form.encoding)
    reader = RowReader(
      form.dialect, columns: form.columns?.count, longest: longest, cause: form.dialect.causeOfFault(in:))
    columns = form.columns.map { $0.map { Self.quoted(Array($0.utf8)) } }
    jsonColumns = Set(form.jsonColumns.map { Self.quoted(Array($0.utf8)) })
    self.form = form
  }

  func otherForm(_ head: UnsafeBufferPointer<UInt8>) -> String? {
    guard decoder.isUTF8 else { return nil }
    let form = unsafe TextForm.of(head, isWhole: false)
    if let form, unsafe form == .returns || TextForm.binary(head) != nil {
      return form.words(whereMapReads: "a table")
    }
    guard columns == nil else { return nil }
    if let form, form.isDocuments { return form.words(whereMapReads: "a table") }
    // Column names do not begin like this.
    if unsafe head.drop(while: { $0 <= 0x20 }).starts(with: "{\"".utf8) {
      return "lines of JSON, but the entry's map reads a table; use a map with \"form\": \"lines\": "
        + #"{"path": "FILE", "map": "MAP.json"}"#
    }
    return unsafe otherSeparator(head.prefix { $0 != 0x0A && $0 != 0x0D })
  }

  /// Returns a message that names the separator of a header that does not contain the map's separator; nil if none is
  /// recognized.
  private func otherSeparator(_ header: some Sequence<UInt8>) -> String? {
    let header = Array(header)
    guard !header.contains(form.dialect.separator) else { return nil }
    for (byte, name, word) in [
      (UInt8(ascii: ","), "commas", ","), (UInt8(ascii: ";"), "semicolons", ";"), (0x09, "tabs", "\\t"),
      (UInt8(ascii: "|"), "vertical bars", "|"),
    ] {
      let names = header.split(separator: byte, omittingEmptySubsequences: false)
      guard names.count > 1, names.allSatisfy(TextForm.isName) else { continue }
      return "a table separated by \(name), so the entry's map needs \"separator\": \"\(word)\""
    }
    return nil
  }

  func take(_ bytes: UnsafeBufferPointer<UInt8>, _ body: (CutRecord) -> Void) {
    guard !isLost else { return }
    reader.read(unsafe decoder.decode(bytes)) { add($0, body) }
  }

  func finish(isDamaged: Bool, _ body: (CutRecord) -> Void) {
    if !isLost, !isDamaged { reader.finish { add($0, body) } }
  }

  private func add(_ row: RowReader.Row, _ body: (CutRecord) -> Void) {
    guard !isLost else { return }
    if let fault = row.fault {
      if columns == nil {
        isLost = true
        let words = row.isTooLong ? "the first row, which must contain the column names, is too long" : fault
        return refuse("a table with unreadable column names: \(words)", body)
      }
      return Array(row.raw).withCutRecord(
        UInt64(row.line), UInt64(row.offset), fault: row.isTooLong ? .lineTooLong : .invalidRow, detail: fault, body)
    }
    guard let columns else {
      var names = row.fields.map { Self.quoted($0 ?? []) }
      // Columns without a name are given one, because rows may have values in them.
      for place in names.indices where names[place].count == 2 {
        let name = Self.quoted(Array("column\(place + 1)".utf8))
        if !names.contains(name) { names[place] = name }
      }
      self.columns = names
      var known: Set<[UInt8]> = []
      guard let twice = names.first(where: { $0.count > 2 && !known.insert($0).inserted }) else { return }
      isLost = true
      let name = String(decoding: twice.dropFirst().dropLast().prefix(60), as: UTF8.self).printable
      return refuse("a table with two columns named '\(name)'; rename one of them", body)
    }
    self.row.removeAll()
    self.row.append("{")
    for (name, field) in zip(columns, row.fields) where name.count > 2 {
      guard let field, !field.isEmpty else { continue }
      if self.row.count > 1 { self.row.append(",") }
      name.withText { self.row.append($0) }
      self.row.append(":")
      if jsonColumns.contains(name), json.append(field, to: &self.row) { continue }
      field.withText { CanonicalJSON.appendString($0, to: &self.row) }
    }
    self.row.append("}")
    var record = unsafe CutRecord(bytes: self.row.bytes, number: UInt64(row.line), offset: UInt64(row.offset))
    if row.fields.count < columns.count {
      record.warnings.append(.shortRow(fields: row.fields.count, of: columns.count))
    }
    if row.linesLikeRows > 0 { record.warnings.append(.rowsInField(row.linesLikeRows)) }
    if !isReported, form.dialect.looksForEscapes, let field = row.unreadEscape, !jsonColumns.contains(columns[field]) {
      isReported = true
      record.warnings.append(.unreadEscape)
    }
    body(record)
  }

  private func refuse(_ words: String, _ body: (CutRecord) -> Void) {
    [UInt8]().withCutRecord(0, 0, fault: .otherForm, detail: words, body)
  }

  private static func quoted(_ name: [UInt8]) -> [UInt8] {
    var text = ByteBuffer(capacity: name.count + 16)
    name.withText { CanonicalJSON.appendString($0.trimmed, to: &text) }
    return text.array
  }
}

extension RowDialect {
  /// Returns the likely cause of a row's fault, in terms of the map; empty if unknown.
  func causeOfFault(in row: ArraySlice<UInt8>) -> String {
    let quote = UInt8(ascii: "\"")
    if escape == nil, zip(row, row.dropFirst()).contains(where: { $0 == UInt8(ascii: "\\") && $1 == quote }) {
      return
        #"; if backslashes escape quotes, write "escape": "\\" in the map, or for Spark "escape": "\\\"""#
    }
    let count = row.count { $0 == quote }
    guard quotes != .none, count > 0 else { return "" }
    if !row.ranges(of: [separator, UInt8(ascii: " "), quote]).isEmpty {
      return "; a quote after a space does not begin a quoted field: remove the space"
    }
    if quotes == .inLine, count % 2 == 1 {
      return
        #"; if fields contain line breaks, write "quotes": "standard" in the map; if quotes have no special meaning, "quotes": "none""#
    }
    return #"; if quotes have no special meaning in the table, write "quotes": "none" in the map"#
  }
}
