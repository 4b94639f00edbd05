import BatchFoundation
import GRDB

extension StoreSchema {
  /// Looks whether the tables have the columns that this program reads and writes: before the first release steps changed, and a store
  /// kept its numbers.
  ///
  /// - Parameter isWhole: false looks at the tables that are there only.
  /// - Throws: ``StoreError/otherForm``.
  static func checkForm(_ db: Database, path: String, isWhole: Bool = true) throws {
    try checkForm(of: coreTables.get(), db, path: path, isWhole: isWhole)
  }

  /// The same of the platform's own tables.
  ///
  /// - Throws: ``StoreError/otherForm``.
  static func checkForm(of format: StoreFormat, _ db: Database, path: String) throws {
    try checkForm(of: tables(of: format), db, path: path)
  }

  private static func checkForm(of tables: [StoredTable], _ db: Database, path: String, isWhole: Bool = true) throws {
    for table in tables {
      let columns = try Set(String.fetchAll(db, sql: "SELECT name FROM pragma_table_info(?)", arguments: [table.name]))
      if columns.isEmpty {
        guard isWhole else { continue }
        throw StoreError.otherForm(path: path, table: table.name, column: nil)
      }
      guard let column = table.columns.first(where: { !columns.contains($0.name) }) else { continue }
      throw StoreError.otherForm(path: path, table: table.name, column: column.name)
    }
  }

  /// As the steps make them.
  private static let coreTables = Result { try tables(of: migrations) }
  /// The same of platforms, by their steps.
  private static let platformTables = Guarded<[[String]: [StoredTable]]>([:])

  private static func tables(of format: StoreFormat) throws -> [StoredTable] {
    try platformTables.withLock { known in
      if let tables = known[format.migrations] { return tables }
      let core = try Set(coreTables.get().map(\.name))
      let tables = try tables(of: migrations + format.migrations).filter { !core.contains($0.name) }
      known[format.migrations] = tables
      return tables
    }
  }

  private static func tables(of steps: [String]) throws -> [StoredTable] {
    let queue = try DatabaseQueue()
    // One that is let go of waits for a thread (``StoreConnection``).
    _ = unsafe Unmanaged.passRetained(queue)
    defer { try? queue.close() }
    return try queue.write { db in
      for step in steps { try db.execute(sql: step) }
      return try StoredTable.all(in: db)
    }
  }
}
