import BatchFoundation
import GRDB
import GRDBSQLite
import Glibc

/// Reads the rows of another program's database as objects, in portions.
///
/// The file is untrusted: it defines its own tables, value lengths and page order. So only stored columns are read,
/// values have a maximum length, and rows are read in ascending order, each at most once, however pages are linked.
final class SDKStoreRows {
  /// The reason a database is not the store of an SDK.
  enum Refusal: Error {
    /// A column is computed by an expression, which may take any amount of time and memory.
    case computed
    case noTable(columns: [String])

    var words: String {
      switch self {
      case .computed: "a SQLite database with computed columns, which no SDK's store has"
      case .noTable(let columns):
        "a SQLite database without a table that has a column \(columns.joined(separator: " or "))"
      }
    }
  }

  private struct Table {
    var name: String
    /// The name by which the row number is read.
    var number: String
    var columns: [String]

    /// The columns as a list of SQL expressions. Blobs are read as null, because they are dropped anyway.
    var values: String {
      columns.map(\.quotedDatabaseIdentifier)
        .map { "CASE WHEN typeof(\($0)) = 'blob' THEN NULL ELSE \($0) END AS \($0)" }.joined(separator: ", ")
    }
  }

  private let queue: DatabaseQueue
  private let jsonColumns: [String]
  private let longest: Int
  /// The table that is being read, and those after it.
  private var tables: ArraySlice<Table> = []
  /// The number of the next row to read; nil after the greatest possible one.
  private var next: Int64? = .min
  private var json = EmbeddedJSON()
  /// The damage found in the file; nil if there is none.
  private(set) var damage: String?

  /// The limits of a portion.
  private static let rowsAtOnce = 256
  private static let bytesAtOnce = 1 << 20

  /// - Throws: ``Refusal``, `DatabaseError`.
  init(_ queue: DatabaseQueue, _ jsonColumns: [String], longest: Int) throws {
    (self.queue, self.jsonColumns, self.longest) = (queue, jsonColumns, longest)
    (tables, damage) = try queue.inDatabase { database in
      // The entry types in the schema table are not trusted, because a view may be listed as a table.
      let isComputed = try Bool.fetchOne(
        database,
        sql: """
          SELECT EXISTS (SELECT 1 FROM pragma_table_list AS t, pragma_table_xinfo(t.name) AS c
            WHERE t.schema = 'main' AND t.type = 'table' AND c.hidden <> 0)
          """)
      guard isComputed != true else { throw Refusal.computed }
      let check = try String.fetchOne(database, sql: "PRAGMA quick_check(1)") ?? "ok"
      let names = try String.fetchAll(
        database,
        sql: """
          SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND substr(name, 1, 7) <> 'sqlite_'
          ORDER BY name
          """)
      let tables = try names.compactMap { name -> Table? in
        let columns = try String.fetchAll(
          database, sql: "SELECT name FROM pragma_table_info(?) ORDER BY cid", arguments: [name])
        guard jsonColumns.contains(where: columns.contains) else { return nil }
        let number = ["rowid", "_rowid_", "oid"].first { name in !columns.contains { $0.lowercased() == name } }
        return Table(name: name, number: number ?? "rowid", columns: columns)
      }
      guard check != "ok" || !tables.isEmpty else { throw Refusal.noTable(columns: jsonColumns) }
      return (tables[...], check == "ok" ? nil : check)
    }
  }

  /// Passes the next portion of rows to `body`, with nil for a row that is too long.
  ///
  /// - Returns: whether it was the last portion of all tables.
  /// - Throws: `DatabaseError`.
  func read(_ body: ([UInt8]?) -> Void) throws -> Bool {
    try queue.inDatabase { database in
      guard let table = tables.first else { return true }
      var isDone: Bool
      do {
        isDone = try read(table, in: database, body)
      } catch let error as DatabaseError where error.resultCode == .SQLITE_TOOBIG {
        // A row that is too long is skipped: only its number is read.
        let number = try DatabaseValue.fetchOne(
          database,
          sql: """
            SELECT \(table.number) FROM \(table.name.quotedDatabaseIdentifier) WHERE \(table.number) >= ?
            ORDER BY \(table.number) LIMIT 1
            """, arguments: [next])
        isDone = number.map { !isNext($0) } ?? true
        if !isDone { body(nil) }
        isDone = isDone || next == nil
      }
      if isDone {
        tables.removeFirst()
        next = .min
      }
      return tables.isEmpty
    }
  }

  /// Reads rows of a table from ``next``.
  ///
  /// - Returns: whether the last row of the table was read.
  private func read(_ table: Table, in database: Database, _ body: ([UInt8]?) -> Void) throws -> Bool {
    let rows = try Row.fetchCursor(
      database.cachedStatement(
        sql: """
          SELECT \(table.number), \(table.values) FROM \(table.name.quotedDatabaseIdentifier) WHERE \(table.number) >= ?
          ORDER BY \(table.number) LIMIT \(Self.rowsAtOnce)
          """), arguments: [next])
    var (count, bytes) = (0, 0)
    while let row = try rows.next() {
      guard isNext(row[0]) else { return true }
      let text = object(row)
      body(text)
      count += 1
      bytes += text.count
      if next == nil { return true }
      if bytes >= Self.bytesAtOnce { return false }
    }
    return count < Self.rowsAtOnce
  }

  /// Moves ``next`` past a row. Returns false for a row that is out of order, because reading on might never end.
  private func isNext(_ value: DatabaseValue) -> Bool {
    guard case .int64(let number) = value.storage, let next, number >= next else {
      damage = damage ?? "rows of a table are out of order"
      return false
    }
    self.next = number == .max ? nil : number + 1
    return true
  }

  /// Returns the row as a JSON object; if it is too long, some of its columns are missing.
  private func object(_ row: Row) -> [UInt8] {
    var text = ByteBuffer(capacity: 1 << 10)
    // The first column is the row number.
    for (name, value) in row.dropFirst() where text.count <= longest {
      let before = text.count
      text.append(before == 0 ? "{" : ",")
      Array(name.utf8).withText { CanonicalJSON.appendString($0, to: &text) }
      text.append(":")
      switch value.storage {
      case .int64(let integer): Array(String(integer).utf8).withText { text.append($0) }
      case .double(let double) where double.isFinite: Array(double.description.utf8).withText { text.append($0) }
      case .string(let string):
        let bytes = Array(string.utf8)
        if jsonColumns.contains(name), json.append(bytes, to: &text) { continue }
        bytes.withText { CanonicalJSON.appendString($0, to: &text) }
      default: text.truncate(to: before)
      }
    }
    if text.count == 0 { text.append("{") }
    text.append("}")
    return text.array
  }
}

/// A private copy of a database and its write-ahead log. The files are deleted once the copy is open.
final class DatabaseCopy {
  private let folder: String
  private var draft: DraftFile?

  private var path: String { folder + "/store" }

  /// - Parameter temporary: the folder in which the copy's own folder is created.
  init(in temporary: String) throws(SystemError) {
    folder = try TemporaryPath.folder("\(temporary)/engage-store-")
    draft = try DraftFile(for: folder + "/store")
  }

  deinit { remove() }

  func write(_ bytes: UnsafeRawBufferPointer) throws(SystemError) { try unsafe draft?.write(bytes) }

  func write(_ bytes: [UInt8]) throws(SystemError) { try draft?.write(bytes) }

  /// Opens the copy.
  ///
  /// - Parameters:
  ///   - original: the path of the original, whose write-ahead log is also copied.
  ///   - longest: the maximum number of bytes of a value.
  func open(logBeside original: String, longest: Int) throws -> DatabaseQueue {
    defer { remove() }
    try draft?.replace()
    do {
      let log = try DraftFile(for: path + "-wal")
      try log.write(RegularFile.read(original + "-wal"))
      try log.replace()
    } catch RegularFile.Failure.system(SystemError(ENOENT)) {
      // The database has no write-ahead log.
    }
    var configuration = Configuration()
    configuration.prepareDatabase { database in
      // The schema is untrusted: none of its expressions are evaluated, and values have a maximum length.
      unsafe sqlite3_limit(database.sqliteConnection, SQLITE_LIMIT_LENGTH, Int32(clamping: longest))
      try database.execute(
        sql: """
          PRAGMA trusted_schema = OFF;
          PRAGMA ignore_check_constraints = ON;
          PRAGMA cell_size_check = ON;
          PRAGMA query_only = ON;
          """)
    }
    let queue = try DatabaseQueue(path: path, configuration: configuration)
    // This also opens the log before the files are deleted.
    try queue.inDatabase { try $0.execute(sql: "SELECT count(*) FROM sqlite_schema") }
    return queue
  }

  private func remove() {
    draft = nil
    for suffix in ["", "-wal", "-shm", "-journal"] { unsafe unlink(path + suffix) }
    unsafe rmdir(folder)
  }
}
