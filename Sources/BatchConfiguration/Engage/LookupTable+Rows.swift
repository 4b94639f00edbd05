import BatchFoundation

extension LookupTable {
  /// The table, loaded: the bytes of a key value to the attributes that its row adds.
  package typealias Rows = [[UInt8]: [(name: String, value: String)]]

  /// Reads the file: CSV with a header row, or a JSON array of objects with text, numbers and booleans, told apart by content.
  ///
  /// Empty cells and nulls add nothing.
  ///
  /// - Parameter directory: where messages show paths from.
  /// - Throws: what is wrong with the file, with its line: it cannot be read, lacks a column, or has a key twice.
  package func rows(shownFrom directory: String) throws(ConfigurationErrors) -> Rows {
    let source = FilePath.shown(file, from: directory)
    func fault(_ line: Int?, _ problem: String, hint: String? = nil) -> ConfigurationErrors {
      ConfigurationErrors([ConfigurationFault(Place(source, line: line), problem, hint: hint)])
    }
    let bytes: [UInt8]
    do {
      bytes = try FileContents.read(file, largest: 256 << 20)
    } catch {
      throw fault(nil, error.reason)
    }
    let records: [Record]
    do {
      let first = bytes.first { $0 > 0x20 && $0 < 0x80 }
      records =
        first == UInt8(ascii: "[")
        ? try Self.json(bytes) : try Self.separated(bytes, columns: [keyColumn] + columns.map(\.name))
    } catch {
      throw fault(error.line, error.problem, hint: error.hint)
    }
    var rows: Rows = [:]
    for record in records {
      guard let key = record.values[Array(keyColumn.utf8)] else {
        throw fault(record.line, "the row has no '\(keyColumn)'")
      }
      let added = columns.compactMap { column in
        record.values[Array(column.name.utf8)].map { (name: column.attribute, value: $0) }
      }
      guard rows.updateValue(added, forKey: Array(key.utf8)) == nil else {
        throw fault(record.line, "a second row whose '\(keyColumn)' is '\(key)'")
      }
    }
    return rows
  }

  private struct Record {
    var line: Int
    /// The bytes of a column to its value, without empty ones.
    var values: [[UInt8]: String]
  }

  private static func separated(_ bytes: [UInt8], columns: [String]) throws(DocumentReader.Failure) -> [Record] {
    let rows: [SeparatedValues.Row]
    do {
      rows = try SeparatedValues.rows(bytes)
    } catch {
      throw DocumentReader.Failure(line: error.line, "no readable CSV: \(error.problem)")
    }
    guard let header = rows.first else { throw DocumentReader.Failure("the table is empty") }
    for column in columns where !header.fields.contains(where: { $0.utf8.elementsEqual(column.utf8) }) {
      let near = NearestName.of(column, among: header.fields).map { "did you mean '\($0)'?" }
      throw DocumentReader.Failure(
        line: header.line, "the table has no column '\(column)'",
        hint: near ?? "it has \(header.fields.joined(separator: ", "))")
    }
    var records: [Record] = []
    for row in rows.dropFirst() {
      guard row.fields.count == header.fields.count else {
        throw DocumentReader.Failure(
          line: row.line, "the row has \(row.fields.count) fields, but the header \(header.fields.count)")
      }
      var values: [[UInt8]: String] = [:]
      for (name, value) in zip(header.fields, row.fields) where !value.utf8.isEmpty { values[Array(name.utf8)] = value }
      records.append(Record(line: row.line, values: values))
    }
    return records
  }

  private static func json(_ bytes: [UInt8]) throws(DocumentReader.Failure) -> [Record] {
    guard case .array(let elements) = try DocumentReader.read(bytes).value else { return [] }
    var records: [Record] = []
    for element in elements {
      guard case .dictionary(let members) = element.value else {
        throw DocumentReader.Failure(line: element.line, "the row is \(element.kind), but must be a dictionary")
      }
      var values: [[UInt8]: String] = [:]
      for member in members {
        let column = Array(member.key.utf8)
        switch member.node.value {
        case .string(let text): values[column] = text.utf8.isEmpty ? nil : text
        case .number(let text): values[column] = text
        case .boolean(let flag): values[column] = flag ? "true" : "false"
        case .null: values[column] = nil
        default:
          throw DocumentReader.Failure(
            line: member.node.line,
            "'\(member.key)' is \(member.node.kind), but must be a string, a number or a boolean")
        }
      }
      records.append(Record(line: element.line ?? 1, values: values))
    }
    return records
  }
}
