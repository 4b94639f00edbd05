/// Comma, tab or pipe separated text, quoted where it must be.
struct SeparatedText: Sendable {
  private(set) var bytes: [UInt8] = []
  private let separator: UInt8

  /// - Parameter format: `CSV`, `TAB` or `PIPE`.
  init(format: String) { separator = Self.separator(of: format) }

  private static func separator(of format: String) -> UInt8 {
    switch format {
    case "TAB": UInt8(ascii: "\t")
    case "PIPE": UInt8(ascii: "|")
    default: UInt8(ascii: ",")
    }
  }

  mutating func append(_ row: [ExactText]) {
    for (index, value) in row.enumerated() {
      if index > 0 { bytes.append(separator) }
      let field = value.string.utf8
      if field.contains(where: { $0 == separator || $0 == UInt8(ascii: "\"") || $0 == 10 || $0 == 13 }) {
        bytes.append(UInt8(ascii: "\""))
        for byte in field {
          if byte == UInt8(ascii: "\"") { bytes.append(byte) }
          bytes.append(byte)
        }
        bytes.append(UInt8(ascii: "\""))
      } else {
        bytes.append(contentsOf: field)
      }
    }
    bytes.append(UInt8(ascii: "\n"))
  }

  /// The rows of a file; blank lines are left out, a byte order mark too.
  static func rows(_ bytes: [UInt8], format: String) -> [[ExactText]] {
    let separator = separator(of: format)
    var rows: [[ExactText]] = []
    var row: [ExactText] = []
    var field: [UInt8] = []
    var isQuoted = false
    var wasQuoted = false
    var index = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
    func endField() {
      row.append(ExactText(String(decoding: field, as: UTF8.self)))
      field = []
      wasQuoted = false
    }
    func endRow() {
      if row.isEmpty, field.isEmpty, !wasQuoted { return }
      endField()
      rows.append(row)
      row = []
    }
    while index < bytes.count {
      let byte = bytes[index]
      index += 1
      if isQuoted {
        if byte != UInt8(ascii: "\"") {
          field.append(byte)
        } else if index < bytes.count, bytes[index] == UInt8(ascii: "\"") {
          field.append(byte)
          index += 1
        } else {
          isQuoted = false
        }
      } else if byte == UInt8(ascii: "\""), field.isEmpty {
        isQuoted = true
        wasQuoted = true
      } else if byte == separator {
        endField()
      } else if byte == 10 {
        endRow()
      } else if byte != 13 || (index < bytes.count && bytes[index] != 10) {
        field.append(byte)
      }
    }
    endRow()
    return rows
  }
}
