import BatchFoundation

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
    var rows: [[ExactText]] = []
    func add(_ row: CSVReader.Row) { rows.append(row.fields.map { ExactText(String(decoding: $0, as: UTF8.self)) }) }
    var reader = CSVReader(separator: separator(of: format))
    reader.read(bytes, add)
    reader.finish(add)
    return rows
  }
}
