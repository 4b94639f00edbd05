package import BatchFoundation
import GRDB
import GRDBSQLite
import Glibc

/// A failure to open, read or write a store.
package enum StoreError: RunError, Equatable, Sendable {
  /// The path is an address.
  case address(String)
  /// No file exists at the path. `other` is a store that may have been meant.
  case missing(path: String, other: String? = nil)
  /// Another process has opened the store for writing. `holder` is its note about itself; nil if it left none.
  case heldByAnotherRun(path: String, holder: StoreHolder?)
  /// The file is not a store; it may be another program's SQLite database.
  case foreign(path: String)
  /// The file is the result of an interrupted salvage.
  case unfinished(path: String)
  /// There is a device, a folder or something similar at the path.
  case notAFile(path: String, kind: FileStatus.Kind)
  /// The file is empty; it may be a store that lost its contents.
  case empty(path: String)
  /// The file was deleted or replaced while it was open.
  case replaced(path: String)
  /// A later release wrote the store. `version` is its schema number, `known` the highest one that this release knows.
  case newer(path: String, version: Int, known: Int)
  /// An earlier release wrote the store, and it was opened without permission to change it.
  case older(path: String, version: Int, known: Int)
  /// The store has this release's schema number, but lacks a column of a table, or the whole table (nil column),
  /// because a development build created it.
  case otherForm(path: String, table: String, column: String?)
  /// SQLite reports the file as damaged.
  case damaged(path: String, detail: String)
  /// A column has a value that this program never writes. The table and the row are nil if unknown;
  /// an unknown column is empty.
  case damagedRow(path: String, table: String?, row: Int64?, column: String)
  /// Something already exists at the path of the store to create.
  case exists(path: String)
  /// A file number means one file in a part's store and another in this store, because the part was made without the
  /// earlier data.
  case otherChain(path: String, file: String)
  /// The store is a part's result, which holds the only copy of its devices' states and is covered by a digest.
  case result(path: String)
  /// A file next to the store of a part's result does not have the digests that were written to it.
  case digestFile(path: String)
  /// A block of events cannot be decoded.
  case damagedBlock
  /// A required row is missing or has an invalid value.
  case inconsistent(String)
  /// The operating system failed to open, create, lock, read or write a file.
  case inputOutput(path: String, operation: String, code: Int32)
  /// SQLite failed to open, read or write its file.
  case databaseFile(path: String, operation: String, code: Int32)
  /// SQLite failed for a reason that no other case covers.
  case database(code: Int32, message: String)

  package var exit: RunExit {
    switch self {
    case .missing: .noInput
    case .heldByAnotherRun: .storeIsHeld
    case .address, .foreign, .unfinished, .empty, .newer, .older, .otherForm, .otherChain, .result: .configuration
    case .notAFile: .cannotWrite
    case .exists, .inputOutput(_, "create", _): .cannotWrite
    case .damaged, .damagedRow, .digestFile, .damagedBlock, .inconsistent, .replaced, .inputOutput, .databaseFile,
      .database:
      .inputOutput
    }
  }

  /// Whether stored data is unreadable, so that reading it again would fail again.
  package var isDamage: Bool {
    switch self {
    case .damaged, .damagedRow, .damagedBlock, .inconsistent: true
    default: false
    }
  }

  /// Runs `body` and translates errors from the database layer. Other errors pass through.
  static func translating<Value>(_ path: String, _ body: () throws -> Value) throws -> Value {
    do {
      return try body()
    } catch let error as DatabaseError {
      throw StoreError(error, path: path)
    } catch is RowDecodingError {
      // The message of this error would show the row.
      throw StoreError.damagedRow(path: path, table: nil, row: nil, column: "")
    } catch let error as UnreadableColumn {
      throw StoreError.damagedRow(path: path, table: nil, row: nil, column: error.name)
    }
  }

  /// Returns the value of a system call; an error names the path and the operation.
  static func naming<Value>(
    _ path: String, _ operation: String, _ value: @autoclosure () throws(SystemError) -> Value
  ) throws -> Value {
    do {
      return try value()
    } catch {
      throw StoreError.inputOutput(path: path, operation: operation, code: error.code)
    }
  }

  init(_ error: DatabaseError, path: String) {
    switch error.resultCode {
    case .SQLITE_CORRUPT:
      self = .damaged(path: path, detail: Self.detail(error.message ?? "database disk image is malformed"))
    case .SQLITE_NOTADB: self = .foreign(path: path)
    case .SQLITE_BUSY, .SQLITE_LOCKED: self = .heldByAnotherRun(path: path, holder: nil)
    case .SQLITE_CANTOPEN:
      self = .databaseFile(path: path, operation: "open the database", code: error.resultCode.rawValue)
    case .SQLITE_FULL: self = .databaseFile(path: path, operation: "write (disk full)", code: error.resultCode.rawValue)
    case .SQLITE_READONLY: self = .databaseFile(path: path, operation: "write", code: error.resultCode.rawValue)
    case .SQLITE_IOERR:
      self = .databaseFile(path: path, operation: "read or write", code: error.extendedResultCode.rawValue)
    default: self = .database(code: error.extendedResultCode.rawValue, message: error.message ?? "")
    }
  }

  /// Drops the text after "malformed database schema": it may come from another table's page and contain recorded data.
  private static func detail(_ message: String) -> String {
    let schema = "malformed database schema"
    return message.hasPrefix(schema) ? schema : message
  }
}

extension StoreError: CustomStringConvertible {
  private static let remedy =
    "keep the file; 'store check --store FILE' lists the damage, and 'store salvage --store FILE --to NEW' copies the intact data"

  private static func otherForm(_ table: String, _ column: String?) -> String {
    column.map { "table '\(table)' has no column '\($0)'" } ?? "table '\(table)' is missing"
  }

  private static func invalid(_ column: String) -> String {
    "\(column.isEmpty ? "a column" : "column '\(column)'") holds an invalid value"
  }

  /// The problem, for a list whose lines already name the place.
  var problem: String {
    switch self {
    case .damaged(_, let detail): detail
    case .damagedRow(_, _, _, let column): Self.invalid(column)
    case .damagedBlock: "the block of its events is damaged"
    case .inconsistent(let what): what
    case .otherForm(_, let table, let column): "\(Self.otherForm(table, column)): another build created the store"
    default: "\(self)"
    }
  }

  package var description: String {
    switch self {
    case .address(let address):
      "\(address.printable): error: a store is a local file; 'store backup' and 'store restore' copy it to and from a bucket"
    case .missing(let path, let other):
      "\(path.printable): error: no such store"
        + (other.map { "; to use the store at \($0.printable), name it with --store" } ?? "")
    case .heldByAnotherRun(let path, let holder):
      "\(path.printable): error: another run holds the store\(holder.map { ": \($0)" } ?? ""); try again later"
    case .foreign(let path): "\(path.printable): error: the file is not an engage-batch store; nothing was changed"
    case .unfinished(let path):
      "\(path.printable): error: this is an unfinished salvage, not a store; delete it and salvage again"
    case .notAFile(let path, let kind):
      "\(path.printable): error: the store is \(kind.rawValue), not a file; nothing was changed. Name a file with the job's 'store' or with --store"
    case .empty(let path):
      "\(path.printable): error: the file is empty: not a store, or one that lost its contents; nothing was changed. Restore a copy, or delete the file to start over"
    case .replaced(let path):
      "\(path.printable): error: the store was deleted or replaced while in use; changes since its last commit are lost, so run the command again"
    case .newer(let path, let version, let known):
      "\(path.printable): error: the store has schema \(version), but this release supports schemas only up to \(known); use a newer release"
    case .older(let path, let version, let known):
      "\(path.printable): error: the store has schema \(version) and must be upgraded to \(known); any 'run' or 'post' upgrades it"
    case .otherForm(let path, let table, let column):
      "\(path.printable): error: an older build created the store in another format (\(Self.otherForm(table, column))); nothing was changed. Send everything that is pending with that build, then start a new store"
    case .damaged(let path, let detail):
      "\(path.printable): error: the store is damaged (\(detail)); \(Self.remedy)"
    case .damagedRow(let path, let table, let row, let column):
      "\(path.printable): error: the store is damaged: "
        + (table.map { "table \($0)" + (row.map { ", row \($0)" } ?? "") + ", " } ?? "")
        + "\(Self.invalid(column)); \(Self.remedy)"
    case .exists(let path):
      "\(path.printable): error: already exists; nothing was changed. Name a new file"
    case .otherChain(let path, let file):
      "\(path.printable): error: the store already uses the file number of '\(file.printable)' for another file; partition with --after, or on the machine that has the job's store"
    case .result(let path):
      "\(path.printable): error: this store is the result of 'decide' for one part and holds the only copy of that part's device states, so nothing was changed. Add it to the job's store with 'collect' and change that store instead. To remove people, use 'forget --result'; to limit how long states are kept, set LocalEventStore.expireDevicesAfterNumDays for 'decide'"
    case .digestFile(let path):
      "\(path.printable): error: the file was changed or damaged; nothing was stored. Copy it again, from the same night or a later one"
    case .damagedBlock: "error: a block of stored events is damaged; \(Self.remedy)"
    case .inconsistent(let what): "error: the store is inconsistent: \(what); \(Self.remedy)"
    case .inputOutput(let path, let operation, let code):
      unsafe "\(path.printable): error: cannot \(operation): \(String(cString: strerror(code)))"
    case .databaseFile(let path, let operation, let code):
      unsafe "\(path.printable): error: cannot \(operation): \(String(cString: sqlite3_errstr(code))) (SQLite error \(code)); check the disk and the file's permissions"
    case .database(let code, let message): "error: the database reported: \(message) (SQLite error \(code))"
    }
  }
}
