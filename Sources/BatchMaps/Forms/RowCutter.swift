import BatchFoundation
import BatchIngest

/// Cuts a table into its rows, each an object with a text, or the JSON in it, for each column that has a name and a value.
///
/// Rows are known by the line in which they start (reference formats 6.2).
final class RowCutter: RecordCutter {
  private var decoder: TextDecoder
  private var reader: CSVReader
  /// The names as JSON texts; nil until the first row is read.
  private var columns: [[UInt8]]?
  private let jsonColumns: Set<[UInt8]>
  private var json = EmbeddedJSON()
  private var row = ByteBuffer(capacity: 1 << 10)
  private let separator: UInt8
  private let longest: Int
  /// Whether the rest of the file is passed over, because a row has no end or a name stands for two columns.
  private var isLost = false

  init(_ form: TableForm, longest: Int) {
    decoder = TextDecoder(form.encoding)
    reader = CSVReader(separator: form.separator, hasQuotes: form.hasQuotes)
    columns = form.columns.map { $0.map { Self.quoted(Array($0.utf8)) } }
    jsonColumns = Set(form.jsonColumns.map { Self.quoted(Array($0.utf8)) })
    separator = form.separator
    self.longest = longest
  }

  func otherForm(_ head: UnsafeBufferPointer<UInt8>) -> String? {
    guard decoder.isUTF8 else { return nil }
    let form = unsafe TextForm(head, isWhole: false)
    if let form, unsafe form == .returns || TextForm.binary(head) != nil {
      return form.words(whereMapReads: "a table")
    }
    guard columns == nil else { return nil }
    if let form, form.isDocuments { return form.words(whereMapReads: "a table") }
    // Nobody calls a column so.
    if unsafe head.drop(while: { $0 <= 0x20 }).starts(with: "{\"".utf8) {
      return "lines of JSON, but the map of the entry reads a table; name one that says \"form\": \"lines\": "
        + #"{"path": "FILE", "map": "MAP.json"}"#
    }
    return unsafe otherSeparator(head.prefix { $0 != 0x0A && $0 != 0x0D })
  }

  /// Says of a header in which something else than the map has it separates names what that is.
  private func otherSeparator(_ header: some Sequence<UInt8>) -> String? {
    let header = Array(header)
    guard !header.contains(separator) else { return nil }
    for (byte, name, word) in [
      (UInt8(ascii: ","), "commas", ","), (UInt8(ascii: ";"), "semicolons", ";"), (0x09, "tabs", "\\t"),
      (UInt8(ascii: "|"), "bars", "|"),
    ] {
      let names = header.split(separator: byte, omittingEmptySubsequences: false)
      guard names.count > 1, names.allSatisfy(TextForm.isName) else { continue }
      return "a table with \(name), but the map of the entry separates otherwise; let it say \"separator\": \"\(word)\""
    }
    return nil
  }

  func take(_ bytes: UnsafeBufferPointer<UInt8>, _ body: (CutRecord) -> Void) {
    guard !isLost else { return }
    reader.read(unsafe decoder.decode(bytes)) { add($0, body) }
    guard !isLost, reader.pendingBytes > longest else { return }
    isLost = true
    let why = reader.openQuote.map { "a quote is opened on line \($0.line) and not closed" } ?? "a row has no end"
    [UInt8]().withCutRecord(
      0, 0, fault: .lineTooLong, detail: "\(why) in \(longest) bytes; the rest of the file was not read", body)
  }

  func finish(isDamaged: Bool, _ body: (CutRecord) -> Void) {
    guard !isLost, !isDamaged else { return }
    let quote = reader.openQuote
    reader.finish { row in
      if let quote {
        Array(row.fields.joined(separator: [UInt8(ascii: ",")])).withCutRecord(
          UInt64(row.line), UInt64(row.offset), fault: .invalidRow,
          detail:
            "a quote is opened on line \(quote.line) and not closed before the end of the file, line \(quote.end)", body
        )
      } else {
        add(row, body)
      }
    }
  }

  private func add(_ row: CSVReader.Row, _ body: (CutRecord) -> Void) {
    guard !isLost else { return }
    guard let columns else {
      let names = row.fields.map(Self.quoted)
      self.columns = names
      var known: Set<[UInt8]> = []
      guard let twice = names.first(where: { $0.count > 2 && !known.insert($0).inserted }) else { return }
      isLost = true
      let name = String(decoding: twice.dropFirst().dropLast().prefix(60), as: UTF8.self).printable
      return [UInt8]().withCutRecord(
        0, 0, fault: .otherForm,
        detail: "a table in which two columns are called '\(name)'; rename one of them", body)
    }
    guard row.fields.count <= columns.count else {
      Array(row.fields.joined(separator: [UInt8(ascii: ",")])).withCutRecord(
        UInt64(row.line), UInt64(row.offset), fault: .invalidRow,
        detail: "\(row.fields.count) fields, but the table has \(columns.count) columns", body)
      return
    }
    self.row.removeAll()
    self.row.append("{")
    for (name, field) in zip(columns, row.fields) where name.count > 2 && !field.isEmpty {
      if self.row.count > 1 { self.row.append(",") }
      name.withText { self.row.append($0) }
      self.row.append(":")
      if jsonColumns.contains(name), json.append(field, to: &self.row) { continue }
      field.withText { CanonicalJSON.appendString($0, to: &self.row) }
    }
    self.row.append("}")
    unsafe body(CutRecord(bytes: self.row.bytes, number: UInt64(row.line), offset: UInt64(row.offset)))
  }

  private static func quoted(_ name: [UInt8]) -> [UInt8] {
    var text = ByteBuffer(capacity: name.count + 16)
    name.withText { CanonicalJSON.appendString($0.trimmed, to: &text) }
    return text.array
  }
}
