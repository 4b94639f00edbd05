/// An incremental parser for comma-separated values (RFC 4180). Fields may be quoted, and `\n` or `\r\n` ends a row.
///
/// Empty lines and a byte order mark at the start are skipped. Fields keep their white space; they are bytes because
/// the caller checks their encoding. Deviations from the format are parsed leniently; the first is in ``fault``.
package struct CSVReader {
  package struct Row: Equatable, Sendable {
    /// The line on which the row starts, from 1.
    package var line: Int
    package var fields: [[UInt8]]

    package init(line: Int, fields: [[UInt8]]) {
      self.line = line
      self.fields = fields
    }
  }

  /// A deviation from the format.
  package struct Fault: Error, Equatable, Sendable {
    package var line: Int
    package var problem: String
  }

  private enum Place {
    case start
    case plain
    case quoted
    /// The position after a quote inside a quoted field: the field's end, or the first half of a doubled quote.
    case quote
  }

  /// The first deviation from the format; nil if there is none so far.
  package private(set) var fault: Fault?
  private var place = Place.start
  private var field: [UInt8] = []
  private var row = Row(line: 1, fields: [])
  private var line = 1
  private var startOfField = 1
  /// Whether the last byte was a `\r` outside quotes. With a following `\n` it ends the row; otherwise it is part of
  /// the field.
  private var holdsReturn = false
  /// The number of bytes of a byte order mark read so far; nil once any other byte has been read.
  private var mark: Int? = 0

  private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

  private let separator: UInt8

  package init(separator: UInt8 = UInt8(ascii: ",")) { self.separator = separator }

  /// The line on which an unclosed quoted field starts, and the last line read; nil if no quoted field is open.
  package var openQuote: (line: Int, end: Int)? {
    place == .quoted ? (startOfField, field.last == UInt8(ascii: "\n") ? line - 1 : line) : nil
  }

  /// Parses the next bytes of the file and passes each complete row to `body`.
  package mutating func read(_ bytes: some Sequence<UInt8>, _ body: (Row) -> Void) {
    for byte in bytes {
      if let seen = mark {
        if seen < Self.byteOrderMark.count, byte == Self.byteOrderMark[seen] {
          mark = seen + 1
          continue
        }
        mark = nil
        if seen < Self.byteOrderMark.count { for early in Self.byteOrderMark[..<seen] { take(early, body) } }
      }
      take(byte, body)
    }
  }

  /// Ends the last row, even without a line end, and passes it to `body`.
  package mutating func finish(_ body: (Row) -> Void) {
    if place == .quoted { note("a quote that is never closed", at: startOfField) }
    if holdsReturn { field.append(UInt8(ascii: "\r")) }
    endRow(body)
  }

  private mutating func take(_ byte: UInt8, _ body: (Row) -> Void) {
    if place == .quoted {
      if byte == UInt8(ascii: "\"") {
        place = .quote
      } else {
        if byte == UInt8(ascii: "\n") { line += 1 }
        field.append(byte)
      }
      return
    }
    if place == .quote, byte == UInt8(ascii: "\""), !holdsReturn {
      field.append(byte)
      place = .quoted
      return
    }
    if byte == UInt8(ascii: "\n") {
      holdsReturn = false
      line += 1
      endRow(body)
      return
    }
    if holdsReturn {
      holdsReturn = false
      add(UInt8(ascii: "\r"))
    }
    switch byte {
    case UInt8(ascii: "\r"): holdsReturn = true
    case separator: endField()
    case UInt8(ascii: "\"") where place == .start:
      place = .quoted
      startOfField = line
    case UInt8(ascii: "\""):
      note("a quote inside an unquoted field", at: line)
      add(byte)
    default: add(byte)
    }
  }

  private mutating func add(_ byte: UInt8) {
    if place == .quote { note("text after a closing quote", at: line) }
    if place == .start { place = .plain }
    field.append(byte)
  }

  private mutating func note(_ problem: String, at line: Int) {
    if fault == nil { fault = Fault(line: line, problem: problem) }
  }

  private mutating func endField() {
    row.fields.append(field)
    field.removeAll(keepingCapacity: true)
    place = .start
  }

  private mutating func endRow(_ body: (Row) -> Void) {
    let isEmpty = row.fields.isEmpty && field.isEmpty && place == .start
    if !isEmpty {
      endField()
      body(row)
      row.fields.removeAll(keepingCapacity: true)
    }
    place = .start
    row.line = line
  }
}

package enum CSVText {
  /// Returns the fields as a row that ends with a line feed, every field in quotes.
  package static func line(_ fields: [String]) -> String {
    fields.map { "\"" + $0.replacing("\"", with: "\"\"") + "\"" }.joined(separator: ",") + "\n"
  }
}
