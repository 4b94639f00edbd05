import EngageConfiguration
import EngageJSON
import EngageModel
import EngageRules
import FoundationEssentials

/// A look-up table that cannot be used.
struct LookupTableError: Error, Equatable, CustomStringConvertible {
  var file: String
  var line: Int?
  var problem: String

  var description: String { "\(file)\(line.map { ":\($0)" } ?? ""): error: \(problem)" }
}

/// Loads the tables of Augmentation.lookupTables: CSV with a header line, or JSON as an array of objects.
enum LookupTables {
  static func load(_ tables: [LookupTable]) throws -> [LookupTablePlugin] {
    try tables.map { table in
      let bytes: [UInt8]
      do {
        bytes = Array(try Data(contentsOf: URL(filePath: table.file)))
      } catch {
        throw LookupTableError(file: table.file, problem: "the table cannot be read; check Augmentation.lookupTables")
      }
      let isJSON = bytes.first { $0 > 0x20 } == UInt8(ascii: "[")
      let rows = isJSON ? try jsonRows(bytes, table) : try csvRows(bytes, table)
      var found: [[UInt8]: [(name: String, value: String)]] = [:]
      for row in rows {
        guard let key = row[table.keyColumn] else { continue }
        // The first row of a key holds, as a look-up in the file itself would find it.
        if found[Array(key.utf8)] != nil { continue }
        found[Array(key.utf8)] = table.columns.compactMap { column in
          row[column.name].map { (column.attribute, $0) }
        }
      }
      return LookupTablePlugin(key: table.keyAttribute, rows: found)
    }
  }

  private static func jsonRows(_ bytes: [UInt8], _ table: LookupTable) throws -> [[String: String]] {
    let root: JSONNode
    do {
      root = try JSONNode.parse(bytes)
    } catch {
      throw LookupTableError(
        file: table.file, line: linePosition(of: error.offset, in: bytes).line, problem: error.reason)
    }
    return try (root.array ?? []).map { element in
      guard let members = element.members else {
        throw LookupTableError(
          file: table.file, line: linePosition(of: element.offset, in: bytes).line,
          problem: "a row is \(element.kind), but must be an object")
      }
      var row: [String: String] = [:]
      for member in members {
        switch member.value.value {
        case .string(let text), .number(let text): row[member.key] = text
        case .bool(let flag): row[member.key] = flag ? "true" : "false"
        case .null, .array, .object: continue
        }
      }
      return row
    }
  }

  /// RFC 4180: commas, double quotes around fields with commas, quotes or line ends, quotes doubled inside.
  private static func csvRows(_ bytes: [UInt8], _ table: LookupTable) throws -> [[String: String]] {
    var records: [(line: Int, fields: [String])] = []
    var fields: [String] = []
    var field: [UInt8] = []
    var isQuoted = false
    var line = 1
    var start = 1
    func finishField() {
      fields.append(String(decoding: field, as: UTF8.self))
      field = []
    }
    func finishRecord() {
      finishField()
      if fields != [""] { records.append((start, fields)) }
      fields = []
    }
    var at = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
    while at < bytes.count {
      let byte = bytes[at]
      if byte == UInt8(ascii: "\n") { line += 1 }
      if isQuoted {
        if byte == UInt8(ascii: "\"") {
          if at + 1 < bytes.count, bytes[at + 1] == byte {
            field.append(byte)
            at += 1
          } else {
            isQuoted = false
          }
        } else {
          field.append(byte)
        }
      } else if byte == UInt8(ascii: "\""), field.isEmpty {
        isQuoted = true
      } else if byte == UInt8(ascii: ",") {
        finishField()
      } else if byte == UInt8(ascii: "\n") {
        if field.last == UInt8(ascii: "\r") { field.removeLast() }
        finishRecord()
        start = line
      } else {
        field.append(byte)
      }
      at += 1
    }
    if isQuoted { throw LookupTableError(file: table.file, line: start, problem: "a quoted field never ends") }
    if !field.isEmpty || !fields.isEmpty { finishRecord() }
    guard let header = records.first?.fields else { return [] }
    for name in [table.keyColumn] + table.columns.map(\.name) where !header.contains(name) {
      throw LookupTableError(file: table.file, line: 1, problem: "there is no column '\(name)'")
    }
    return try records.dropFirst().map { record in
      guard record.fields.count == header.count else {
        throw LookupTableError(
          file: table.file, line: record.line,
          problem: "\(record.fields.count) fields, but the header has \(header.count)")
      }
      return Dictionary(zip(header, record.fields), uniquingKeysWith: { first, _ in first })
    }
  }
}
