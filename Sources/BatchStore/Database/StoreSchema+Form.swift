import BatchFoundation
import GRDB

extension StoreSchema {
  /// Checks that tables have this program's columns: before the first release, steps changed under the same numbers.
  ///
  /// - Parameter isWhole: whether tables must exist; false checks only those that do.
  /// - Throws: ``StoreError/otherForm``.
  static func checkForm(_ db: Database, path: String, isWhole: Bool = true) throws {
    try checkForm(of: coreTables.get(), db, path: path, isWhole: isWhole)
  }

  /// Checks the platform's own tables in the same way.
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

  /// The core tables as the steps make them.
  private static let coreTables = Result { try made.get().read(StoredTable.all) }
  /// The tables of platforms, by their steps.
  private static let platformTables = Guarded<[[String]: [StoredTable]]>([:])

  /// An in-memory database with the core tables.
  private static let made = Result {
    let queue = try DatabaseQueue()
    // Releasing a queue waits for a thread (``StoreConnection``); this one is kept.
    try queue.write { db in for step in migrations { try db.execute(sql: step) } }
    return queue
  }

  private static func tables(of format: StoreFormat) throws -> [StoredTable] {
    try platformTables.withLock { known in
      if let tables = known[format.migrations] { return tables }
      let core = try Set(coreTables.get().map(\.name))
      var tables: [StoredTable] = []
      try made.get().writeWithoutTransaction { db in
        try db.inTransaction {
          for step in format.migrations { try db.execute(sql: step) }
          tables = try StoredTable.all(in: db).filter { !core.contains($0.name) }
          // The next platform also starts from the core tables.
          return .rollback
        }
      }
      known[format.migrations] = tables
      return tables
    }
  }
}
