import BatchFoundation
import GRDB

/// Damage in a store, such as a value that this program never writes: its place and the problem, but not the value.
package struct StoreDamage: Error, Equatable, Sendable {
  /// The table; empty if the damage is not in a table.
  package var table: String
  /// The row; nil if it is unknown, or if the table has no row numbers.
  package var row: Int64?
  package var problem: String
}

/// A table of a store, as declared in its file.
struct StoredTable {
  struct Column {
    var name: String
    var type: String
    var mayBeNull: Bool

    /// A SQL condition that holds for the values that this program writes to the column.
    var isWhole: String {
      let value = Self.quoted(name)
      let check =
        switch type {
        // Only emission numbers exceed the limit for other numbers.
        case "INTEGER" where name.hasSuffix("emission"):
          "typeof(\(value)) = 'integer' AND \(value) BETWEEN -1 AND \(EmissionNumber.limit)"
        case "INTEGER": "typeof(\(value)) = 'integer' AND \(value) BETWEEN -9007199254740992 AND 9007199254740992"
        case "TEXT": "typeof(\(value)) = 'text'"
        default: "typeof(\(value)) = 'blob'"
        }
      return mayBeNull ? "(\(value) IS NULL OR \(check))" : "(\(check))"
    }

    static func quoted(_ name: String) -> String {
      "\"" + name.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
    }
  }

  var name: String
  var hasRowNumbers: Bool
  /// The columns of the primary key, in order.
  var key: [String]
  var columns: [Column]

  var quoted: String { Column.quoted(name) }

  static func all(in db: Database) throws -> [StoredTable] {
    try Row.fetchAll(
      db, sql: "SELECT name, wr FROM pragma_table_list WHERE schema = 'main' AND type = 'table' ORDER BY name"
    ).compactMap { table in
      let name: String = try table.value("name")
      guard !name.hasPrefix("sqlite_") else { return nil }
      let columns = try Row.fetchAll(
        db, sql: "SELECT name, type, \"notnull\", pk FROM pragma_table_info(?) ORDER BY cid", arguments: [name])
      let key = try columns.map { (place: try $0.value("pk") as Int, name: try $0.value("name") as String) }
        .filter { $0.place > 0 }.sorted { $0.place < $1.place }.map(\.name)
      return StoredTable(
        name: name, hasRowNumbers: try table.value("wr") as Int == 0, key: key,
        columns: try columns.map {
          Column(name: try $0.value("name"), type: try $0.value("type"), mayBeNull: try $0.value("notnull") as Int == 0)
        })
    }
  }

  /// Reports each value that this program never writes, in the given column, or in any column if nil, until `body`
  /// returns false.
  func forEachDamage(in db: Database, column: String? = nil, _ body: (StoreDamage) throws -> Bool) throws {
    for one in columns where column == nil || one.name == column {
      let rows = try Row.fetchCursor(
        db, sql: "SELECT \(hasRowNumbers ? "rowid" : "NULL") AS number FROM \(quoted) WHERE NOT \(one.isWhole)")
      while let row = try rows.next() {
        let damage = StoreDamage(
          table: name, row: try row.value("number"), problem: "column '\(one.name)' holds an invalid value")
        guard try body(damage) else { return }
      }
    }
  }
}

extension EventStore {
  /// Adds the table and the row to the error for an unreadable column.
  static func located(_ error: UnreadableColumn, in db: Database, path: String) -> StoreError {
    var found: StoreDamage?
    do {
      for table in try StoredTable.all(in: db) where found == nil {
        try table.forEachDamage(in: db, column: error.name) { damage in
          found = damage
          return false
        }
      }
    } catch {
      // If damage prevents the search, the error is reported without its place.
    }
    return .damagedRow(path: path, table: found?.table, row: found?.row, column: error.name)
  }

  /// Passes all damage to `body`. This examines every page, every column of every row, and every block with its number
  /// of events and, if a body was planned, that body's digest. Of device states, only the checksums are verified,
  /// because only the platform can read their contents.
  ///
  /// - Throws: ``StoreError`` for a value that GRDB cannot decode; other damage does not end the check.
  package func check(_ body: (StoreDamage) -> Void) throws {
    let isReadable = try connection.read { db in
      var isReadable = true
      try Self.attempt("", body) {
        try Self.checkSchema(db) {
          isReadable = false
          body($0)
        }
      }
      // If the schema has code, checking the pages would execute it.
      guard isReadable else { return false }
      try Self.attempt("", body) {
        for line in try String.fetchAll(db, sql: "PRAGMA integrity_check(1000)") where line != "ok" {
          body(StoreDamage(table: "", problem: line.printable))
        }
      }
      try Self.attempt("", body) {
        if try Int.fetchOne(db, sql: "PRAGMA user_version") == 0 {
          body(StoreDamage(table: "", problem: Self.noNumber))
        }
        try StoreSchema.checkForm(db, path: connection.path)
      }
      var tables: [StoredTable] = []
      try Self.attempt("", body) { tables = try StoredTable.all(in: db) }
      for table in tables {
        try Self.attempt(table.name, body) {
          try table.forEachDamage(in: db) {
            body($0)
            return true
          }
        }
      }
      try Self.attempt("chunk", body) {
        try Self.forEachChunkRow(db) { row in
          if let damage = try damage(ofChunk: row, in: db) { body(damage) }
        }
      }
      try Self.attempt("digest_segment", body) {
        for id in try Int64.fetchAll(db, sql: "SELECT id FROM digest_segment WHERE length(digests) % 16 <> 0") {
          body(StoreDamage(table: "digest_segment", row: id, problem: "the digests are truncated"))
        }
      }
      try Self.attempt("state_segment", body) {
        try Timelines.forEachDamagedSegment(in: db) { segment, states in
          body(
            StoreDamage(
              table: "state_segment", row: segment.id,
              problem: "device states are damaged (\(segment.lost(states)))"))
        }
      }
      return true
    }
    guard isReadable else { return }
    // Structured values are checked by reading them as runs do.
    try Self.attempt("quarantine", body) { try quarantine.forEachLine(all: true) { _ in } }
    try Self.attempt("run", body) { _ = try runs.all() }
    try Self.attempt("destination", body) { _ = try destination() }
    try Self.attempt("report_key", body) { _ = try runs.reportKey() }
  }

  /// Reports an error as damage, so that the later checks still run.
  private static func attempt(_ table: String, _ body: (StoreDamage) -> Void, _ check: () throws -> Void) throws {
    do {
      try check()
    } catch let error as DatabaseError {
      body(StoreDamage(table: table, problem: "cannot be read: \(error.resultCode)"))
    } catch let error as UnreadableColumn {
      body(StoreDamage(table: table, problem: "column '\(error.name)' holds an invalid value"))
    } catch let error as StoreError {
      if case .damagedRow(_, let found, let row, _) = error {
        return body(StoreDamage(table: found ?? table, row: row, problem: error.problem))
      }
      body(StoreDamage(table: table, problem: error.problem))
    }
  }

  /// Passes each piece of code in the schema to `body`. A store has none: code would run with every write or read,
  /// without any limit. The schema's description of itself is not trusted, because it may call a view a table.
  static func checkSchema(_ db: Database, _ body: (StoreDamage) throws -> Void) throws {
    let foreign = try String.fetchAll(
      db,
      sql: """
        WITH tables AS (SELECT name, type FROM pragma_table_list WHERE schema = 'main'),
          indexes AS (
            SELECT i.name AS name FROM tables AS t, pragma_index_list(t.name) AS i WHERE t.type = 'table')
        SELECT type AS what, 1 AS place FROM tables WHERE type = 'view'
        UNION ALL SELECT 'virtual table', 2 FROM tables WHERE type IN ('virtual', 'shadow')
        UNION ALL SELECT 'trigger', 3 FROM sqlite_schema WHERE type = 'trigger'
        UNION ALL SELECT 'computed column', 4 FROM tables AS t, pragma_table_xinfo(t.name) AS c
          WHERE t.type = 'table' AND c.hidden <> 0
        UNION ALL SELECT 'computed index', 5 FROM indexes AS i, pragma_index_xinfo(i.name) AS c WHERE c.cid = -2
        UNION ALL SELECT 'schema entry of an unknown type', 6 FROM sqlite_schema
          WHERE coalesce(type, '') NOT IN ('table', 'index', 'view', 'trigger')
            OR type = 'table' AND name NOT IN (SELECT name FROM tables)
            OR type = 'index' AND name NOT IN (SELECT name FROM indexes)
        UNION ALL SELECT 'schema entry with a duplicate name', 7 FROM sqlite_schema GROUP BY name HAVING count(*) > 1
        ORDER BY place
        """)
    let texts = try Row.fetchAll(
      db, sql: "SELECT type, sql FROM sqlite_schema WHERE sql IS NOT NULL AND type IN ('table', 'index') ORDER BY name")
    let computing = try texts.compactMap { try code(in: $0.value("sql"), ofIndex: $0.value("type") == "index") }
    for what in foreign + computing {
      try body(StoreDamage(table: "", problem: "the file contains a \(what), which is not allowed in a store"))
    }
  }

  /// Returns a description of code in the SQL of a table or an index: code that runs when rows are written or checked,
  /// and that no pragma reports; nil if there is none. The SQL of this program has no function calls or comments.
  private static func code(in sql: String, ofIndex isIndex: Bool) -> String? {
    guard !sql.contains("--"), !sql.contains("/*") else { return "comment in its schema" }
    let words = words(of: sql)
    let pairs = zip(words, words.dropFirst())
    guard isIndex else {
      if words.contains("CHECK") { return "CHECK constraint" }
      return pairs.contains { $0 == "DEFAULT" && $1 == "(" } ? "computed default" : nil
    }
    let condition = words.drop { $0 != "WHERE" }
    let calls = zip(condition, condition.dropFirst()).contains { $1 == "(" && !["WHERE", "(", "IN"].contains($0) }
    let matches = condition.contains { ["LIKE", "GLOB", "REGEXP", "MATCH"].contains($0) }
    return calls || matches ? "computed index condition" : nil
  }

  /// Returns the words of the SQL in uppercase, and opening parentheses; quotes and other characters are dropped.
  private static func words(of sql: String) -> [String] {
    var words: [String] = []
    var word = ""
    for scalar in sql.uppercased().unicodeScalars {
      let isPart =
        !scalar.isASCII || scalar == "_" || ("A"..."Z").contains(scalar) || ("0"..."9").contains(scalar)
      if isPart { word.unicodeScalars.append(scalar) }
      guard !isPart else { continue }
      if !word.isEmpty { words.append(word) }
      word = ""
      if scalar == "(" { words.append("(") }
    }
    return word.isEmpty ? words : words + [word]
  }

  /// Returns the tables whose rows can be read without evaluating expressions.
  static func plainTables(_ db: Database) throws -> Set<String> {
    try Set(
      String.fetchAll(
        db,
        sql: """
          SELECT name FROM pragma_table_list AS t WHERE schema = 'main' AND type = 'table'
            AND NOT EXISTS (SELECT 1 FROM pragma_table_xinfo(t.name) AS c WHERE c.hidden <> 0)
          """))
  }

  static func forEachChunkRow(_ db: Database, _ body: (Row) throws -> Void) throws {
    try db.forEachRow(
      "SELECT id, status, events, pack, offset, length, form, body_digest, first, last FROM chunk ORDER BY id", [],
      body)
  }

  /// Returns the damage to a chunk, its block or its digest; nil if there is none.
  func damage(ofChunk row: Row, in db: Database) throws -> StoreDamage? {
    // An id that is not a number is reported when columns are examined.
    guard let id = try? row.value("id") as Int64 else { return nil }
    do {
      guard case .events = try row.status("status") else { return nil }
      let block = try Ledger.block(of: row, in: db)
      let cursor = try format.wireForm.reader(of: block)
      var events = 0
      let first: Instant = try row.value("first")
      let last: Instant = try row.value("last")
      while try cursor.next() {
        events += 1
        guard first <= cursor.timestamp, cursor.timestamp <= last else {
          return StoreDamage(table: "chunk", row: id, problem: "an event is outside the time span of its chunk")
        }
      }
      guard try events == row.value("events") else {
        return StoreDamage(table: "chunk", row: id, problem: "the block does not contain the recorded number of events")
      }
      guard let digest = try row.bytes("body_digest") else { return nil }
      guard try format.wireForm.body(of: block, version: row.value("form")).digest == digest else {
        return StoreDamage(table: "chunk", row: id, problem: "the body does not match its recorded digest")
      }
      return nil
    } catch let error as StoreError {
      return StoreDamage(table: "chunk", row: id, problem: error.problem)
    } catch let error as UnreadableColumn {
      return StoreDamage(table: "chunk", row: id, problem: "column '\(error.name)' holds an invalid value")
    } catch let error as DatabaseError {
      return StoreDamage(table: "chunk", row: id, problem: "its block cannot be read: \(error.resultCode)")
    }
  }
}
