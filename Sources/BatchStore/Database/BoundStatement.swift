import BatchFoundation
import GRDB
import GRDBSQLite

/// A prepared statement for rows written by the hundred thousand: values are bound from memory without a copy, and the
/// memory must not change until ``run()`` returns.
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

  @inline(__always)
  func bind(_ index: Int32, _ value: Int) { unsafe sqlite3_bind_int64(handle, index, Int64(value)) }

  func bindNull(_ index: Int32) { unsafe sqlite3_bind_null(handle, index) }

  /// Binds bytes as a BLOB; an empty one, not NULL, for no bytes.
  @inline(__always)
  func bind(_ index: Int32, blob: UnsafeRawBufferPointer) {
    guard let start = blob.baseAddress, blob.count > 0 else {
      unsafe sqlite3_bind_zeroblob(handle, index, 0)
      return
    }
    // A nil destructor is SQLITE_STATIC: the memory outlives the step.
    unsafe sqlite3_bind_blob64(handle, index, start, UInt64(blob.count), nil)
  }

  @inline(__always)
  func bind(_ index: Int32, blob: Text) { unsafe bind(index, blob: UnsafeRawBufferPointer(blob.bytes)) }

  /// Executes a statement that returns no rows and makes it ready for the next values.
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
