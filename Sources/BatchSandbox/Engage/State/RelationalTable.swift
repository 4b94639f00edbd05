import BatchFoundation

/// A table that is separate from the database of recipients, such as the audit table
/// (reference identity 3.2).
struct RelationalTable: Sendable {
  struct Column: Sendable, Codable {
    var name: ByteText
    var type: ColumnType
    var isRequired: Bool
  }
  struct Failure: Sendable {
    var isTransient: Bool
    var description: String
  }

  var id: ByteText
  var name: ByteText
  var columns: [Column]
  var keyColumns: [ByteText]
  /// The rows by the values of the key columns.
  private(set) var rows: [[ByteText]: [ByteText: ByteText]] = [:]
  /// The keys in the order of their first insertion.
  private(set) var order: [[ByteText]] = []

  /// Inserts the row, or updates the given columns of the row with the same key; returns nil on success.
  mutating func upsert(_ row: [(name: ByteText, value: ByteText)], zone: Bool) -> Failure? {
    var values: [ByteText: ByteText] = [:]
    for (name, value) in row {
      guard let column = columns.first(where: { $0.name == name }) else {
        return Failure(isTransient: false, description: "There is no column \(name)")
      }
      if let objection = column.type.objection(to: value, zone: zone) {
        return Failure(isTransient: false, description: objection + name.string)
      }
      values[name] = value
    }
    let key = keyColumns.map { values[$0] ?? .empty }
    if let missing = zip(keyColumns, key).first(where: { $0.1.isEmpty }) {
      return Failure(isTransient: false, description: "Missing value for column: \(missing.0)")
    }
    if var known = rows[key] {
      known.merge(values) { $1 }
      values = known
    }
    if let missing = columns.first(where: { $0.isRequired && (values[$0.name] ?? .empty).isEmpty }) {
      return Failure(isTransient: false, description: "Missing value for column: \(missing.name)")
    }
    insert(values)
    return nil
  }

  private mutating func insert(_ row: [ByteText: ByteText]) {
    let key = keyColumns.map { row[$0] ?? .empty }
    if rows.updateValue(row, forKey: key) == nil { order.append(key) }
  }

  mutating func delete(_ key: [(name: ByteText, value: ByteText)]) -> Failure? {
    let values = keyColumns.map { name in key.first { $0.name == name }?.value ?? .empty }
    guard rows.removeValue(forKey: values) != nil else {
      return Failure(isTransient: false, description: "Row Not Found")
    }
    order.removeAll { $0 == values }
    return nil
  }

  mutating func purge() {
    rows = [:]
    order = []
  }
}

/// Encodes the rows as a list, in order of insertion.
extension RelationalTable: Codable {
  private enum CodingKeys: String, CodingKey { case id, name, columns, keyColumns, rows }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      id: try container.decode(ByteText.self, forKey: .id), name: try container.decode(ByteText.self, forKey: .name),
      columns: try container.decode([Column].self, forKey: .columns),
      keyColumns: try container.decode([ByteText].self, forKey: .keyColumns))
    for row in try container.decode([[ByteText: ByteText]].self, forKey: .rows) { insert(row) }
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(id, forKey: .id)
    try container.encode(name, forKey: .name)
    try container.encode(columns, forKey: .columns)
    try container.encode(keyColumns, forKey: .keyColumns)
    try container.encode(order.compactMap { rows[$0] }, forKey: .rows)
  }
}
