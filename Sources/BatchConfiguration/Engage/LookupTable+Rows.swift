package import BatchFoundation

/// A table in a CSV or JSON file whose columns become event attributes: an augmentation plug-in without code.
package struct LookupTable: Hashable, Sendable {
  /// A column of the table and the attribute that it fills.
  package struct Column: Hashable, Sendable {
    package var name: String
    package var attribute: String
  }

  /// The absolute path of the file.
  package var file: String
  /// The event attribute whose value selects the row.
  package var keyAttribute: String
  /// The column that is compared with that value.
  package var keyColumn: String
  package var columns: [Column]
}

extension LookupTable {
  /// Creates the table from a validated value; nil for other values.
  init?(_ value: JSONNode) {
    guard let file = value["file"]?.string, let keyAttribute = value["keyAttribute"]?.string,
      let keyColumn = value["keyColumn"]?.string, let columns = value["columns"]?.members
    else { return nil }
    self.init(
      file: file, keyAttribute: keyAttribute, keyColumn: keyColumn,
      columns: columns.map { Column(name: $0.key, attribute: $0.value.string ?? "") })
  }

  /// Reads the values of ``columns`` from the rows of the file: CSV with a header row, or a JSON array of objects with
  /// strings, numbers and booleans, detected by content. Empty cells and nulls add nothing.
  ///
  /// - Parameter directory: the base of paths in messages.
  /// - Throws: the fault in the file, with its line, if the file cannot be read, lacks a column, or repeats a key.
  package func rows(shownFrom directory: String) throws(ConfigurationErrors) -> KeyedRows {
    let source = PathText.shown(file, from: directory)
    return try rows(in: JSONNode.bytes(of: file, source: source, largest: 256 << 20), source: source)
  }

  /// - Parameter source: the file's name in messages.
  func rows(in bytes: [UInt8], source: String) throws(ConfigurationErrors) -> KeyedRows {
    func fault(_ line: Int?, _ problem: String, hint: String? = nil) -> ConfigurationErrors {
      ConfigurationErrors([ConfigurationFault(Place(source, line: line), problem, hint: hint)])
    }
    let isJSON = bytes.first { $0 > 0x20 && $0 < 0x80 } == UInt8(ascii: "[")
    // JSON is parsed into a document, which takes about thirty times as much memory.
    guard !isJSON || bytes.count <= RegularFile.usuallyLargest else {
      throw fault(
        nil, RegularFile.Failure.tooLarge(limit: RegularFile.usuallyLargest).reason,
        hint: "use a CSV table, which may be larger")
    }
    var table = Gathering(self, bytes: bytes.count)
    do {
      if isJSON { try table.json(bytes) } else { try table.separated(bytes) }
    } catch {
      throw fault(error.line, error.problem, hint: error.hint)
    }
    return table.rows
  }
}

/// The rows of a table while its file is read; unused columns are not kept.
private struct Gathering {
  private(set) var rows: KeyedRows
  private let table: LookupTable
  /// The key column, then the attributes' columns.
  private let columns: [String]

  /// - Parameter bytes: the size of the file, which is about the size of its rows.
  init(_ table: LookupTable, bytes: Int) {
    self.table = table
    rows = KeyedRows(columns: table.columns.count, capacity: bytes)
    columns = [table.keyColumn] + table.columns.map(\.name)
  }

  /// - Parameter values: the values of ``columns``; an empty string for a missing one.
  private mutating func add(_ values: [String], line: Int) throws(DocumentReader.Failure) {
    guard let key = values.first, !key.utf8.isEmpty else {
      throw DocumentReader.Failure(line: line, "the row has no value for '\(table.keyColumn)'")
    }
    guard rows.insert(key, Array(values.dropFirst())) else {
      throw DocumentReader.Failure(line: line, "an earlier row has the same value in '\(table.keyColumn)'")
    }
  }

  mutating func separated(_ bytes: [UInt8]) throws(DocumentReader.Failure) {
    var reader = RowReader(.plain())
    var header: [String]?
    var places: [Int] = []
    var failure: DocumentReader.Failure?
    func take(_ row: RowReader.Row, _ gathering: inout Gathering) {
      guard failure == nil else { return }
      do throws(DocumentReader.Failure) {
        if let fault = row.fault ?? (row.hasInnerQuote ? "a quote inside an unquoted field" : nil) {
          throw DocumentReader.Failure(line: row.line, "not readable as CSV: \(fault)")
        }
        let fields = row.fields.compactMap { $0.flatMap { String(validating: $0, as: UTF8.self) } }
        guard fields.count == row.fields.count else {
          throw DocumentReader.Failure(line: row.line, "not readable as CSV: not valid UTF-8")
        }
        guard let header else {
          places = try gathering.places(in: fields, line: row.line)
          return header = fields
        }
        guard fields.count == header.count else {
          throw DocumentReader.Failure(
            line: row.line, "the row has \(fields.count.counted("field")), but the header has \(header.count)")
        }
        try gathering.add(places.map { fields[$0] }, line: row.line)
      } catch {
        failure = error
      }
    }
    for start in stride(from: 0, to: bytes.count, by: 1 << 20) {
      reader.read(Array(bytes[start..<min(start + 1 << 20, bytes.count)])) { take($0, &self) }
    }
    reader.finish { take($0, &self) }
    if let failure { throw failure }
    guard header != nil else { throw DocumentReader.Failure("the table is empty") }
  }

  private func places(in header: [String], line: Int) throws(DocumentReader.Failure) -> [Int] {
    var places: [Int] = []
    for column in columns {
      // If several columns have the same name, the last one counts.
      guard let place = header.lastIndex(where: { $0.utf8.elementsEqual(column.utf8) }) else {
        let near = NearestName.question(about: column, among: header)
        throw DocumentReader.Failure(
          line: line, "the table has no column '\(column)'",
          hint: near ?? "its columns: \(header.joined(separator: ", "))")
      }
      places.append(place)
    }
    return places
  }

  mutating func json(_ bytes: [UInt8]) throws(DocumentReader.Failure) {
    guard case .array(let elements) = try DocumentReader.read(bytes).value else { return }
    for element in elements {
      guard case .object(let members) = element.value else {
        throw DocumentReader.Failure(line: element.line, "the row is \(element.kind), but must be an object")
      }
      var values: [[UInt8]: String] = [:]
      for member in members {
        let text = member.value.scalar
        guard text != nil || member.value.isNull else {
          throw DocumentReader.Failure(
            line: member.value.line,
            "'\(member.key)' is \(member.value.kind), but must be a string, a number or a boolean")
        }
        values[Array(member.key.utf8)] = text
      }
      try add(columns.map { values[Array($0.utf8)] ?? "" }, line: element.line ?? 1)
    }
  }
}
