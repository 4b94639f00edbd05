public import BatchFoundation
public import GRDB
import GRDBSQLite

/// The error for a column with a value that this program never writes. ``StoreConnection`` adds the table and the row.
struct UnreadableColumn: Error {
  var name: String
}

/// Checked access to rows of a store that may be damaged or written by another program.
///
/// GRDB's own subscripts end the process, and print the row, if a column does not have the requested type. Functions
/// throw an error that becomes ``StoreError/damagedRow(path:table:row:column:)``.
extension Row {
  /// The greatest magnitude of ids, times and sizes in a store. Larger integers could overflow in sums.
  private static let greatest: Int64 = 1 << 53

  /// Returns the value of the column at an index; this is faster than access by name when there are many rows.
  ///
  /// - Throws: an error that becomes ``StoreError/damagedRow(path:table:row:column:)``.
  package func value<Value: DatabaseValueConvertible>(_ index: Int) throws -> Value {
    guard index < count else { throw UnreadableColumn(name: "\(index)") }
    return try read(self[index], Array(columnNames)[index])
  }

  /// - Throws: an error that becomes ``StoreError/damagedRow(path:table:row:column:)``.
  package func value<Value: DatabaseValueConvertible>(_ column: String) throws -> Value {
    guard hasColumn(column) else { throw UnreadableColumn(name: column) }
    return try read(self[column], column)
  }

  /// Returns an emission number, which may exceed the limit for other numbers. -1 means that there is none.
  ///
  /// - Throws: an error that becomes ``StoreError/damagedRow(path:table:row:column:)``.
  package func emission(_ column: String) throws -> Int64 {
    guard hasColumn(column), let number = Int64.fromDatabaseValue(self[column]),
      -1...EmissionNumber.limit ~= number
    else { throw UnreadableColumn(name: column) }
    return number
  }

  private func read<Value: DatabaseValueConvertible>(
    _ stored: DatabaseValue, _ column: @autoclosure () -> String
  ) throws -> Value {
    if case .int64(let number) = stored.storage, number.magnitude > UInt64(Self.greatest) {
      throw UnreadableColumn(name: column())
    }
    guard let value = Value.fromDatabaseValue(stored) else { throw UnreadableColumn(name: column()) }
    return value
  }

  /// Returns the integer in the first column of the first row; nil for NULL or if there is no row.
  static func integer(
    _ db: Database, sql: String, arguments: StatementArguments = StatementArguments()
  ) throws -> Int64? {
    try Row.fetchOne(db, sql: sql, arguments: arguments).flatMap { try $0.value(0) }
  }

  /// Returns the bytes of a BLOB column; empty for NULL.
  package func blob(_ column: String) throws -> [UInt8] { try bytes(column) ?? [] }

  /// Returns the bytes of a BLOB column; empty for NULL.
  func bytes(_ index: Int) throws -> [UInt8] {
    guard index < count else { throw UnreadableColumn(name: "\(index)") }
    return try withUnsafeData(atIndex: index) { $0.map { [UInt8]($0) } } ?? []
  }

  /// Returns the bytes of a BLOB column; nil for NULL or if the row lacks the column.
  package func bytes(_ column: String) throws -> [UInt8]? {
    try withUnsafeData(named: column) { $0.map { [UInt8]($0) } }
  }
}

extension Database {
  /// Passes each row of a query to `body`, one at a time.
  func forEachRow(
    _ sql: String, _ arguments: StatementArguments = [], _ body: (Row) throws -> Void
  ) throws {
    let rows = try Row.fetchCursor(self, sql: sql, arguments: arguments)
    while let row = try rows.next() { try body(row) }
  }

  /// Returns the integer in the first column of the first row; 0 for NULL or if there is no row.
  func count(_ sql: String, _ arguments: StatementArguments = []) throws -> Int {
    try Int.fetchOne(self, sql: sql, arguments: arguments) ?? 0
  }
}

extension Instant: DatabaseValueConvertible {
  public var databaseValue: DatabaseValue { milliseconds.databaseValue }

  public static func fromDatabaseValue(_ value: DatabaseValue) -> Instant? {
    Int64.fromDatabaseValue(value).map { Instant(milliseconds: $0) }
  }
}

extension RunID: DatabaseValueConvertible {
  package var databaseValue: DatabaseValue { number.databaseValue }

  package static func fromDatabaseValue(_ value: DatabaseValue) -> RunID? {
    Int64.fromDatabaseValue(value).map { RunID(number: $0) }
  }
}

/// A prepared statement for hundreds of thousands of rows. Values are bound from memory without a copy, so the memory
/// must not change until ``run()`` returns.
@safe struct BoundStatement {
  private let statement: Statement
  private let handle: OpaquePointer

  init(_ db: Database, _ sql: String) throws {
    statement = try db.cachedStatement(sql: sql)
    unsafe handle = statement.sqliteStatement
    unsafe sqlite3_clear_bindings(handle)
  }

  @inline(__always)
  func bind(_ index: Int32, _ value: Int64) { unsafe sqlite3_bind_int64(handle, index, value) }

  /// Binds a number; nil as NULL.
  @inline(__always)
  func bind(_ index: Int32, _ value: Int64?) {
    guard let value else {
      unsafe sqlite3_bind_null(handle, index)
      return
    }
    bind(index, value)
  }

  @inline(__always)
  func bind(_ index: Int32, _ value: Int) { unsafe sqlite3_bind_int64(handle, index, Int64(value)) }

  /// Binds bytes as a BLOB. An empty buffer is bound as an empty BLOB, not as NULL.
  @inline(__always)
  func bind(_ index: Int32, blob: UnsafeRawBufferPointer) {
    guard let start = blob.baseAddress, blob.count > 0 else {
      unsafe sqlite3_bind_zeroblob(handle, index, 0)
      return
    }
    // A nil destructor means SQLITE_STATIC, because the memory outlives the step.
    unsafe sqlite3_bind_blob64(handle, index, start, UInt64(blob.count), nil)
  }

  /// Binds a copy of the bytes as a BLOB; nil as NULL.
  func bind(_ index: Int32, copyOf bytes: [UInt8]?) {
    guard let bytes else {
      unsafe sqlite3_bind_null(handle, index)
      return
    }
    _ = unsafe bytes.withUnsafeBytes { bytes in
      unsafe sqlite3_bind_blob64(
        handle, index, bytes.baseAddress ?? UnsafeRawPointer(handle), UInt64(bytes.count), Self.copies)
    }
  }

  /// SQLITE_TRANSIENT, which C defines as a cast that Swift does not import.
  private static let copies = unsafe unsafeBitCast(-1, to: sqlite3_destructor_type.self)

  /// Executes a statement that returns no rows, and resets it for the next values.
  @inline(__always)
  func run() throws {
    let code = unsafe sqlite3_step(handle)
    let reset = unsafe sqlite3_reset(handle)
    guard code == SQLITE_DONE else {
      throw unsafe DatabaseError(
        resultCode: ResultCode(rawValue: reset), message: String(cString: sqlite3_errmsg(sqlite3_db_handle(handle))))
    }
  }
}
