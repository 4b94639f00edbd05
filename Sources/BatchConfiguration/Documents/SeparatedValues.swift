/// Comma-separated values as RFC 4180 has them: quotes around fields that need them, doubled inside; `\n` or `\r\n` ends a row.
///
/// A byte order mark and empty lines are skipped. Fields keep their white space.
struct SeparatedValues {
  struct Row: Equatable {
    /// Where the row starts, counted from 1.
    var line: Int
    var fields: [String]
  }

  struct Failure: Error, Equatable {
    var line: Int
    var problem: String
  }

  static func rows(_ bytes: [UInt8]) throws(Failure) -> [Row] {
    var reader = SeparatedValues(bytes: bytes, at: bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0)
    var rows: [Row] = []
    while reader.at < bytes.count {
      let row = try reader.row()
      if row.fields != [""] { rows.append(row) }
    }
    return rows
  }

  private let bytes: [UInt8]
  private var at: Int
  private var line = 1

  private init(bytes: [UInt8], at: Int) {
    self.bytes = bytes
    self.at = at
  }

  private mutating func row() throws(Failure) -> Row {
    var row = Row(line: line, fields: [])
    while true {
      row.fields.append(try field())
      guard at < bytes.count else { return row }
      let byte = bytes[at]
      at += 1
      if byte == UInt8(ascii: ",") { continue }
      if byte == UInt8(ascii: "\r") { at += 1 }
      line += 1
      return row
    }
  }

  /// Reads up to the comma, the line's end or the end of the text.
  private mutating func field() throws(Failure) -> String {
    var field: [UInt8] = []
    let start = line
    guard at < bytes.count, bytes[at] == UInt8(ascii: "\"") else {
      while at < bytes.count, !endsField(at) {
        guard bytes[at] != UInt8(ascii: "\"") else {
          throw Failure(line: line, problem: "a quote inside a field without quotes")
        }
        field.append(bytes[at])
        at += 1
      }
      return try text(field, start)
    }
    at += 1
    while at < bytes.count {
      let byte = bytes[at]
      at += 1
      if byte == UInt8(ascii: "\n") { line += 1 }
      guard byte == UInt8(ascii: "\"") else {
        field.append(byte)
        continue
      }
      guard at < bytes.count, bytes[at] == UInt8(ascii: "\"") else {
        guard at == bytes.count || endsField(at) else {
          throw Failure(line: line, problem: "text behind a closing quote")
        }
        return try text(field, start)
      }
      field.append(byte)
      at += 1
    }
    throw Failure(line: start, problem: "a quote that is never closed")
  }

  private func endsField(_ index: Int) -> Bool {
    switch bytes[index] {
    case UInt8(ascii: ","), UInt8(ascii: "\n"): true
    case UInt8(ascii: "\r"): index + 1 < bytes.count && bytes[index + 1] == UInt8(ascii: "\n")
    default: false
    }
  }

  private func text(_ field: [UInt8], _ line: Int) throws(Failure) -> String {
    guard let text = String(validating: field, as: UTF8.self) else {
      throw Failure(line: line, problem: "not valid UTF-8")
    }
    return text
  }
}
