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
  private let longest: Int
  /// Whether the rest of the file is passed over, because a row has no end.
  private var isLost = false

  init(_ form: TableForm, longest: Int) {
    decoder = TextDecoder(form.encoding)
    reader = CSVReader(separator: form.separator, hasQuotes: form.hasQuotes)
    columns = form.columns.map { $0.map { Self.quoted(Array($0.utf8)) } }
    jsonColumns = Set(form.jsonColumns.map { Self.quoted(Array($0.utf8)) })
    self.longest = longest
  }

  func otherForm(_ head: UnsafeBufferPointer<UInt8>) -> String? {
    guard decoder.isUTF8 else { return nil }
    if let form = unsafe TextForm.binary(head) { return form.words }
    let start = unsafe Array(head.drop { $0 <= 0x20 }.prefix(2))
    // Nobody calls a column so.
    guard columns == nil, start.elementsEqual("{\"".utf8) || start.elementsEqual("[{".utf8) else { return nil }
    let (what, form) = start[0] == UInt8(ascii: "{") ? ("lines of JSON", "lines") : ("a JSON array", "json")
    return "\(what), but the map of the entry reads a table; name one that says \"form\": \"\(form)\": "
      + #"{"path": "FILE", "map": "MAP.json"}"#
  }

  func take(_ bytes: UnsafeBufferPointer<UInt8>, _ body: (CutRecord) -> Void) {
    guard !isLost else { return }
    reader.read(unsafe decoder.decode(bytes)) { add($0, body) }
    guard reader.pendingBytes > longest else { return }
    isLost = true
    [UInt8]().withCutRecord(
      0, 0, fault: .lineTooLong, detail: "a row has no end: a quote is never closed; the rest of the file was not read",
      body)
  }

  func finish(isDamaged: Bool, _ body: (CutRecord) -> Void) {
    guard !isLost, !isDamaged else { return }
    let isOpen = reader.isInsideQuotes
    reader.finish { row in
      if isOpen {
        Array(row.fields.joined(separator: [UInt8(ascii: ",")])).withCutRecord(
          UInt64(row.line), UInt64(row.offset), fault: .invalidRow, detail: "a quote is never closed", body)
      } else {
        add(row, body)
      }
    }
  }

  private func add(_ row: CSVReader.Row, _ body: (CutRecord) -> Void) {
    guard let columns else {
      self.columns = row.fields.map(Self.quoted)
      return
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
