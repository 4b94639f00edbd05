import BatchFoundation
import GRDB
import GRDBSQLite
import Glibc

/// The file of a store, before SQLite opens it. Only stores are opened, and a store is created only where nothing
/// exists. SQLite itself would wait on a FIFO, roll back the journal of another program's database, or use an empty
/// file.
struct StoreFile {
  /// The path as given, for messages.
  let shown: String
  /// The path with symbolic links resolved. The write-ahead log is next to this file.
  let path: String

  init(_ path: String) throws {
    shown = path
    if RemoteAddress(path) != nil { throw StoreError.address(path) }
    self.path = try StoreError.naming(path, "open", PathText.resolvingLinks(path))
  }

  /// Whether a write-ahead log next to the file may have changes that are not in the file yet.
  var hasLog: Bool {
    get throws { try (Self.status(path + "-wal", shown)?.size ?? 0) > 0 }
  }

  /// The path of the draft that a salvage to this file writes.
  var salvage: String { path + Self.salvageEnd }
  private static let salvageEnd = ".salvage"

  /// Returns whether a store exists at the path.
  ///
  /// - Throws: ``StoreError`` if there is anything else, which is left unchanged, or if there is an unfinished salvage,
  ///   because a new store in its place would resend what the damaged store has sent.
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
      // Any other file of that name is unrelated to the store.
      if case .unfinished = error { throw error }
    }
  }

  /// Checks by its header that the file is a store and not an unfinished salvage.
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
      throw StoreError.damaged(path: shown, detail: "the file is truncated to \(Int(size).counted("byte"))")
    }
    let application = header[68..<72].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    guard application != UInt32(bitPattern: StoreSchema.salvageID) else { throw StoreError.unfinished(path: shown) }
    guard application == UInt32(bitPattern: StoreSchema.applicationID) else { throw StoreError.foreign(path: shown) }
  }

  /// Creates an empty store; returns false if something has appeared at the path in the meantime. The file gets its
  /// name only when it has all its tables, so a kill leaves either no store or a complete one. It never replaces
  /// another file.
  func create(_ format: StoreFormat) throws -> Bool {
    let connection = try StoreConnection(try DatabaseQueue(), path: shown) { _ in format }
    let draft = try StoreError.naming(shown, "create", DraftFile(for: path))
    try connection.queue.inDatabase { db in
      // A store consists mainly of packs of 64 KiB. With larger pages, they take fewer writes.
      try db.execute(sql: "PRAGMA page_size = 16384")
      try StoreSchema.migrate(db)
      try StoreSchema.migrate(db, format, path: shown)
      var count: Int64 = 0
      guard let bytes = unsafe sqlite3_serialize(db.sqliteConnection, "main", &count, 0) else {
        throw StoreError.inputOutput(path: shown, operation: "create", code: ENOMEM)
      }
      defer { unsafe sqlite3_free(bytes) }
      // These header bytes select a write-ahead log, so that the file never has a rollback journal.
      unsafe bytes[18] = 2
      unsafe bytes[19] = 2
      try StoreError.naming(
        shown, "write", unsafe draft.write(UnsafeRawBufferPointer(start: bytes, count: Int(count))))
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
    try StoreError.naming(shown, "open", FileStatus.at(path))
  }
}
