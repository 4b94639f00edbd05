import BatchFoundation
import GRDB
import GRDBSQLite
import Glibc

/// The file of a store as the file system has it, before SQLite sees it.
///
/// Only a file that is a store is opened, and only where nothing stands one is made. Everything else stays as it is, because SQLite
/// would wait at a FIFO, roll back the journal of another program's database, or take an empty file for a new database.
struct StoreFile {
  /// As it was given, for messages.
  let shown: String
  /// Behind symbolic links, where the log stands too.
  let path: String

  /// - Parameter path: as it was given.
  init(_ path: String) throws {
    shown = path
    do {
      self.path = try PathText.behindLinks(path)
    } catch {
      throw StoreError.inputOutput(path: path, operation: "open", code: error.code)
    }
  }

  /// Whether a log of changes stands beside it that are not in the file yet.
  var hasLog: Bool {
    get throws { try (Self.status(path + "-wal", shown)?.size ?? 0) > 0 }
  }

  /// Where a salvage to this place writes until it is done.
  var salvage: String { path + Self.salvageEnd }
  private static let salvageEnd = ".salvage"

  /// Whether a store stands there.
  ///
  /// - Throws: ``StoreError`` for anything else that stands there, which stays as it is, and for a salvage that was stopped before it got
  ///   its name: a new store in its place would send again what the damaged one has sent.
  func isThere() throws -> Bool {
    guard let status = try Self.status(path, shown) else {
      try refuseUnfinishedSalvage()
      return false
    }
    guard status.kind == .file else { throw StoreError.notAFile(path: shown, kind: status.kind) }
    guard status.size > 0 else { throw StoreError.empty(path: shown) }
    for end in ["-wal", "-shm", "-journal"] {
      guard let beside = try Self.status(path + end, shown), beside.kind != .file else { continue }
      throw StoreError.notAFile(path: shown + end, kind: beside.kind)
    }
    try Self.checkHeader(path, shown, status.size)
    return true
  }

  private func refuseUnfinishedSalvage() throws {
    guard let draft = try Self.status(salvage, shown), draft.kind == .file else { return }
    do {
      try Self.checkHeader(salvage, shown + Self.salvageEnd, draft.size)
    } catch let error as StoreError {
      // Whatever else has such a name has nothing to do with the store.
      if case .unfinished = error { throw error }
    }
  }

  /// The first bytes say that SQLite wrote it, and for this program.
  private static func checkHeader(_ path: String, _ shown: String, _ size: Int64) throws {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
    guard descriptor >= 0 else { throw StoreError.inputOutput(path: shown, operation: "open", code: errno) }
    defer { close(descriptor) }
    var header = [UInt8](repeating: 0, count: 100)
    let count = unsafe pread(descriptor, &header, header.count, 0)
    guard count >= 0 else { throw StoreError.inputOutput(path: shown, operation: "read", code: errno) }
    let magic = Array("SQLite format 3\0".utf8)
    guard header.prefix(count).starts(with: magic) else { throw StoreError.foreign(path: shown) }
    guard size >= 512, count == header.count else {
      throw StoreError.damaged(path: shown, detail: "the file is cut off at \(size) bytes")
    }
    let application = header[68..<72].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    guard application != UInt32(bitPattern: StoreSchema.salvageID) else { throw StoreError.unfinished(path: shown) }
    guard application == UInt32(bitPattern: StoreSchema.applicationID) else { throw StoreError.foreign(path: shown) }
  }

  /// Makes an empty store. It gets its name only when its tables are there, so a kill leaves either none or a whole one, and it takes
  /// the place of nothing.
  ///
  /// - Returns: false if something stands there meanwhile.
  func create(_ format: StoreFormat) throws -> Bool {
    let connection = try StoreConnection(try DatabaseQueue(), path: shown) { _ in format }
    let draft: DraftFile
    do {
      draft = try DraftFile(for: path)
    } catch {
      throw StoreError.inputOutput(path: shown, operation: "create", code: error.code)
    }
    try connection.queue.inDatabase { db in
      // Most of a store are packs of 64 KiB: larger pages are fewer writes for the same bytes.
      try db.execute(sql: "PRAGMA page_size = 16384")
      try StoreSchema.migrate(db)
      try StoreSchema.migrate(db, format, path: shown)
      var count: Int64 = 0
      guard let bytes = unsafe sqlite3_serialize(db.sqliteConnection, "main", &count, 0) else {
        throw StoreError.inputOutput(path: shown, operation: "create", code: ENOMEM)
      }
      defer { unsafe sqlite3_free(bytes) }
      // It begins with a write-ahead log, so that it never has a journal of the other kind.
      unsafe bytes[18] = 2
      unsafe bytes[19] = 2
      do {
        try unsafe draft.write(UnsafeRawBufferPointer(start: bytes, count: Int(count)))
      } catch let error as SystemError {
        throw StoreError.inputOutput(path: shown, operation: "fill", code: error.code)
      }
    }
    try connection.queue.close()
    do {
      try draft.publish()
      return true
    } catch {
      guard error.code == EEXIST else {
        throw StoreError.inputOutput(path: shown, operation: "create", code: error.code)
      }
      return false
    }
  }

  static func status(_ path: String, _ shown: String) throws -> FileStatus? {
    do {
      return try FileStatus.at(path)
    } catch {
      throw StoreError.inputOutput(path: shown, operation: "open", code: error.code)
    }
  }

  static func status(of descriptor: Int32, _ shown: String) throws -> FileStatus {
    do {
      return try FileStatus.of(descriptor)
    } catch {
      throw StoreError.inputOutput(path: shown, operation: "open", code: error.code)
    }
  }
}
