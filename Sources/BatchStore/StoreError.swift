package import BatchFoundation
import GRDB
import GRDBSQLite
import Glibc

/// What can be wrong with a store.
package enum StoreError: Error, Equatable, Sendable {
  /// There is no file at the path.
  case missing(path: String)
  /// Another process has the store open for writing.
  ///
  /// - `holder`: what that process noted about itself; nil if it did not.
  case heldByAnotherRun(path: String, holder: StoreHolder?)
  /// An SQLite database, or some other file, that is no store.
  case foreign(path: String)
  /// A device, a folder or the like stands at the path.
  case notAFile(path: String, kind: FileStatus.Kind)
  /// A file without bytes: it may have been a store that lost its contents.
  case empty(path: String)
  /// The file was deleted or replaced while it was open.
  case replaced(path: String)
  /// Written by a later release: its schema number and the greatest one known here.
  case newer(path: String, version: Int, known: Int)
  /// Written by an earlier release and opened without the right to change it.
  case older(path: String, version: Int, known: Int)
  /// SQLite finds the file damaged.
  case damaged(path: String, detail: String)
  /// A block of events does not read back.
  case damagedBlock
  /// A row that must be there is not, or holds what it may not.
  case inconsistent(String)
  /// The system refused to create, lock or write a file.
  case inputOutput(path: String, operation: String, code: Int32)
  /// SQLite refused an operation for another reason.
  case database(code: Int32, message: String)

  /// The exit code that ends a run because of it (reference command-line 4).
  package var exit: RunExit {
    switch self {
    case .missing: .noInput
    case .heldByAnotherRun: .storeIsHeld
    case .foreign, .empty, .newer, .older: .configuration
    case .notAFile: .cannotWrite
    case .damaged, .damagedBlock, .inconsistent: .inputRefused
    case .inputOutput(_, "create", _): .cannotWrite
    case .replaced, .inputOutput, .database: .inputOutput
    }
  }

  /// Turns an error of the database layer into one of these; anything else stays.
  static func translating<Value>(_ path: String, _ body: () throws -> Value) throws -> Value {
    do {
      return try body()
    } catch let error as DatabaseError {
      throw StoreError(error, path: path)
    }
  }

  init(_ error: DatabaseError, path: String) {
    switch error.resultCode {
    case .SQLITE_CORRUPT:
      self = .damaged(path: path, detail: error.message ?? "database disk image is malformed")
    case .SQLITE_NOTADB: self = .foreign(path: path)
    case .SQLITE_BUSY, .SQLITE_LOCKED: self = .heldByAnotherRun(path: path, holder: nil)
    case .SQLITE_CANTOPEN:
      self = .inputOutput(path: path, operation: "open the database", code: error.resultCode.rawValue)
    case .SQLITE_FULL: self = .inputOutput(path: path, operation: "write (disk full)", code: error.resultCode.rawValue)
    case .SQLITE_READONLY: self = .inputOutput(path: path, operation: "write", code: error.resultCode.rawValue)
    case .SQLITE_IOERR:
      self = .inputOutput(path: path, operation: "read or write", code: error.extendedResultCode.rawValue)
    default: self = .database(code: error.extendedResultCode.rawValue, message: error.message ?? "")
    }
  }
}

extension StoreError: CustomStringConvertible {
  /// What a code of the system means, or of SQLite where SQLite was asked.
  private static func words(_ code: Int32, _ operation: String) -> String {
    switch operation {
    case "create", "lock", "open": String(cString: strerror(code))
    default:
      "\(String(cString: sqlite3_errstr(code))) (SQLite error \(code)); look at the disk and the rights of the file"
    }
  }

  package var description: String {
    switch self {
    case .missing(let path): "\(path): error: there is no store"
    case .heldByAnotherRun(let path, let holder):
      "\(path): error: another run holds the store\(holder.map { ": \($0)" } ?? ""); try later"
    case .foreign(let path): "\(path): error: the file is no store of engage-batch; nothing was changed"
    case .notAFile(let path, let kind):
      "\(path): error: \(kind.rawValue) stands where the store should be; nothing was changed. Name a file with 'store' of the job or --store"
    case .empty(let path):
      "\(path): error: the file is empty, so it is no store, or one that lost its contents; nothing was changed. Bring a copy back, or delete the file to begin anew"
    case .replaced(let path):
      "\(path): error: the store was deleted or replaced while it was in use; what was written since its last commit is lost, so run the job again"
    case .newer(let path, let version, let known):
      "\(path): error: the store has schema \(version) and this release knows \(known); use the newer release"
    case .older(let path, let version, let known):
      "\(path): error: the store has schema \(version) and must be upgraded to \(known); any 'run' or 'post' does it"
    case .damaged(let path, let detail):
      "\(path): error: the store is damaged (\(detail)); keep the file, and recover what is readable with 'sqlite3 FILE .recover'"
    case .damagedBlock: "error: a block of stored events is damaged"
    case .inconsistent(let what): "error: the store contradicts itself: \(what)"
    case .inputOutput(let path, let operation, let code):
      "\(path): error: cannot \(operation): \(Self.words(code, operation))"
    case .database(let code, let message): "error: the database refused: \(message) (SQLite error \(code))"
    }
  }
}
