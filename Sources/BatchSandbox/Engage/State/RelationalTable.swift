import BatchFoundation

/// A table that is separate from the database of recipients, such as the audit table
/// (reference identity 3.2).
struct RelationalTable: Sendable, Codable {
  var id: ByteText
  var name: ByteText
  var columns: [OrganizationSeed.Column]
  var keyColumns: [ByteText]
  /// The rows in the order of their first insertion.
  private(set) var rows: [[ByteText: ByteText]] = []
  /// The indices of the rows by the values of the key columns; made again on demand after a restart or a deletion.
  private var places: [[ByteText]: Int] = [:]

  private enum CodingKeys: CodingKey { case id, name, columns, keyColumns, rows }

  init(id: ByteText, name: ByteText, columns: [OrganizationSeed.Column], keyColumns: [ByteText]) {
    (self.id, self.name, self.columns, self.keyColumns) = (id, name, columns, keyColumns)
  }

  /// Inserts the row, or updates the given columns of the row with the same key; returns nil on success, otherwise the
  /// reason for the refusal.
  mutating func upsert(_ row: [(name: ByteText, value: ByteText)], zone: Bool) -> String? {
    var values: [ByteText: ByteText] = [:]
    for (name, value) in row {
      guard let column = columns.first(where: { $0.name == name }) else { return "There is no column \(name)" }
      if let objection = column.type.objection(to: value, zone: zone) { return objection + name.string }
      values[name] = value
    }
    let key = keyColumns.map { values[$0] ?? .empty }
    if let missing = zip(keyColumns, key).first(where: { $0.1.isEmpty }) {
      return "Missing value for column: \(missing.0)"
    }
    let place = place(of: key)
    if let place { values = rows[place].merging(values) { $1 } }
    if let missing = columns.first(where: { $0.isRequired && (values[$0.name] ?? .empty).isEmpty }) {
      return "Missing value for column: \(missing.name)"
    }
    if let place {
      rows[place] = values
    } else {
      places[key] = rows.count
      rows.append(values)
    }
    return nil
  }

  /// Returns nil on success, otherwise the reason for the refusal.
  mutating func delete(_ key: [(name: ByteText, value: ByteText)]) -> String? {
    let values = keyColumns.map { name in key.first { $0.name == name }?.value ?? .empty }
    guard let place = place(of: values) else { return "Row Not Found" }
    rows.remove(at: place)
    places = [:]
    return nil
  }

  private mutating func place(of key: [ByteText]) -> Int? {
    if places.isEmpty {
      for (place, row) in rows.enumerated() { places[keyColumns.map { row[$0] ?? .empty }] = place }
    }
    return places[key]
  }

  mutating func purge() { (rows, places) = ([], [:]) }
}
