import GRDB

/// A column of a store.
package struct StoreColumn: Sendable, CustomStringConvertible {
  package var table: String
  package var name: String

  package init(_ table: String, _ name: String) {
    self.table = table
    self.name = name
  }

  package var description: String { "\(table).\(name)" }
}

/// Does to a store what no run does.
package enum DamagedStore {
  /// What may stand in any column, in SQL.
  package static let values = [
    "NULL", "-1", "9223372036854775807", "-9223372036854775808", "1.5", "'x'", "x'ff00'", "300", "''",
  ]

  /// Bytes of a page of a store that was shrunk, which is the smallest that there is.
  package static let pageSize = 512

  package static func columns(of path: String) throws -> [StoreColumn] {
    let queue = try DatabaseQueue(path: path)
    defer { try? queue.close() }  // Nothing was written.
    return try queue.read { db in
      try Row.fetchAll(
        db,
        sql: """
          SELECT t.name, c.name FROM sqlite_schema AS t, pragma_table_info(t.name) AS c
          WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite%' ORDER BY t.name, c.cid
          """
      ).map { StoreColumn($0[0], $0[1]) }
    }
  }

  /// Puts the value into the column of every row.
  ///
  /// - Returns: false where the table's key does not take the value.
  package static func set(_ column: StoreColumn, to value: String, in path: String) throws -> Bool {
    var configuration = Configuration()
    configuration.prepareDatabase { try $0.execute(sql: "PRAGMA writable_schema = ON") }
    let loosening = try DatabaseQueue(path: path, configuration: configuration)
    try loosening.inDatabase { db in
      try db.execute(
        sql: """
          UPDATE sqlite_schema SET sql = replace(replace(replace(sql, 'STRICT, WITHOUT ROWID', 'WITHOUT ROWID'), ' STRICT', ''),
            'NOT NULL', '') WHERE type = 'table'
          """)
    }
    try loosening.close()
    let queue = try DatabaseQueue(path: path)
    defer { try? queue.close() }  // The file is thrown away.
    do {
      try queue.inDatabase { try $0.execute(sql: "UPDATE \"\(column.table)\" SET \"\(column.name)\" = \(value)") }
      return true
    } catch is DatabaseError {
      return false
    }
  }

  /// Makes the file as small as it can be, so that each of its bytes can be tried.
  package static func shrink(_ path: String) throws {
    let queue = try DatabaseQueue(path: path)
    try queue.inDatabase { try $0.execute(sql: "PRAGMA journal_mode = DELETE; PRAGMA page_size = \(pageSize); VACUUM") }
    try queue.close()
  }
}
