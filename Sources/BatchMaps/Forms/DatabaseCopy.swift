import BatchFoundation
import GRDB
import GRDBSQLite
import Glibc

/// A copy of a database with its log, which is nobody's but this process's: it has no name any more once it is open.
final class DatabaseCopy {
  private let folder: String
  private var draft: DraftFile?

  private var path: String { folder + "/store" }

  /// - Parameter temporary: the folder below which it is made.
  init(in temporary: String) throws(SystemError) {
    var template = Array("\(temporary)/engage-store-XXXXXX".utf8CString)
    guard
      unsafe template.withUnsafeMutableBufferPointer({ unsafe $0.baseAddress.flatMap { unsafe mkdtemp($0) } }) != nil
    else { throw SystemError(errno) }
    folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    draft = try DraftFile(for: folder + "/store")
  }

  deinit { remove() }

  func write(_ bytes: UnsafeRawBufferPointer) throws(SystemError) { try unsafe draft?.write(bytes) }

  func write(_ bytes: [UInt8]) throws(SystemError) { try draft?.write(bytes) }

  /// Opens what was written.
  ///
  /// - Parameters:
  ///   - original: the path of the database, whose log is copied, too.
  ///   - longest: bytes of a value beyond which reading it is an error.
  func open(logBeside original: String, longest: Int) throws -> DatabaseQueue {
    defer { remove() }
    try draft?.replace()
    do {
      let log = try DraftFile(for: path + "-wal")
      try log.write(RegularFile.read(original + "-wal"))
      try log.replace()
    } catch RegularFile.Failure.system(SystemError(ENOENT)) {
      // Nothing of it stands in a log.
    }
    var configuration = Configuration()
    configuration.prepareDatabase { database in
      // The schema is somebody else's: of its expressions none is computed, and no value is read that could not be a line.
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
    // Opens the log as well.
    try queue.inDatabase { try $0.execute(sql: "SELECT count(*) FROM sqlite_schema") }
    return queue
  }

  private func remove() {
    draft = nil
    for suffix in ["", "-wal", "-shm", "-journal"] { unsafe unlink(path + suffix) }
    unsafe rmdir(folder)
  }
}
