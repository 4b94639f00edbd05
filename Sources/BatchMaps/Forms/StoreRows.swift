import BatchFoundation
import GRDB
import GRDBSQLite

/// The rows of a database that another program kept, as objects, some at a time.
///
/// The file says itself what is a table of it, how long a value is and which page comes next. So only columns are read whose values are
/// stored, none beyond a length, and rows only in ascending order: each at most once, however pages lead to each other.
final class StoreRows {
  /// What is no store of an SDK.
  enum Refusal: Error {
    /// Values that an expression makes, which may be of any size and take any time.
    case computed
    case noTable(columns: [String])

    var words: String {
      switch self {
      case .computed: "a SQLite database with computed columns, which no store of an SDK has"
      case .noTable(let columns):
        "a SQLite database without a table that has a column \(columns.joined(separator: " or "))"
      }
    }
  }

  private struct Table {
    var name: String
    /// What its rows are numbered by.
    var number: String
    var columns: [String]

    /// A value that is dropped is not read, either.
    var values: String {
      columns.map(\.quotedDatabaseIdentifier)
        .map { "CASE WHEN typeof(\($0)) = 'blob' THEN NULL ELSE \($0) END AS \($0)" }.joined(separator: ", ")
    }
  }

  private let queue: DatabaseQueue
  private let jsonColumns: [String]
  private let longest: Int
  /// The one that is being read, and those behind it.
  private var tables: ArraySlice<Table> = []
  /// The number from which rows of it are still to be read; nil behind the last that there may be.
  private var next: Int64? = .min
  private var json = EmbeddedJSON()
  /// What is wrong with the file; nil for nothing.
  private(set) var damage: String?

  /// Read before a signal is asked for.
  private static let rowsAtOnce = 256
  private static let bytesAtOnce = 1 << 20

  /// - Throws: ``Refusal``, `DatabaseError`.
  init(_ queue: DatabaseQueue, _ jsonColumns: [String], longest: Int) throws {
    self.queue = queue
    self.jsonColumns = jsonColumns
    self.longest = longest
    (tables, damage) = try queue.inDatabase { database in
      // What a schema says of itself is not asked: a view may stand in it as a table.
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

  /// Hands out some more rows; nil for one that is too long.
  ///
  /// - Returns: whether they were the last.
  /// - Throws: `DatabaseError`.
  func read(_ body: ([UInt8]?) -> Void) throws -> Bool {
    try queue.inDatabase { database in
      guard let table = tables.first else { return true }
      var isDone: Bool
      do {
        isDone = try read(table, in: database, body)
      } catch let error as DatabaseError where error.resultCode == .SQLITE_TOOBIG {
        // The next row, as far as rows were read: by its number alone it can be passed over.
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

  /// Some rows of a table from ``next`` on.
  ///
  /// - Returns: whether they were its last.
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

  /// Takes the number of a row for read; false for one that is out of order, behind which reading might never end.
  private func isNext(_ value: DatabaseValue) -> Bool {
    guard case .int64(let number) = value.storage, let next, number >= next else {
      damage = damage ?? "rows of a table are out of order"
      return false
    }
    self.next = number == .max ? nil : number + 1
    return true
  }

  /// Not whole where it is longer than a row may be.
  private func object(_ row: Row) -> [UInt8] {
    var text = ByteBuffer(capacity: 1 << 10)
    // The first is its number.
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
