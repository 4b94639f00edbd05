import BatchFoundation
package import GRDB

/// The only connection to a store, through which all its tables are read and written.
///
/// When a queue is released, a Dispatch thread frees what GRDB attached to it, and Dispatch waits forever if it gets no
/// thread. So the queue, a few kilobytes, lives until the process ends; the database is closed.
package final class StoreConnection: Sendable {
  package let path: String
  package let format: StoreFormat
  let queue: DatabaseQueue
  private let lock: StoreLock?
  private let isScratch: Bool
  private let group = GroupCommit()

  /// - Parameters:
  ///   - isScratch: as for ``EventStore/open(_:format:isResult:isScratch:)``.
  ///   - format: the format of the events, requested once the file is known to be a store.
  init(
    _ queue: DatabaseQueue, path: String, lock: StoreLock? = nil, isScratch: Bool = false,
    _ format: (Database) throws -> StoreFormat
  ) throws {
    self.queue = queue
    self.path = path
    self.lock = lock
    self.isScratch = isScratch
    _ = unsafe Unmanaged.passRetained(queue)
    do {
      self.format = try queue.inDatabase(format)
    } catch {
      try? queue.close()
      throw error
    }
  }

  // The writer has already closed the queue and received its errors.
  deinit { try? queue.close() }

  /// Writes everything into the main file, closes it and releases the lock.
  func close() throws {
    defer { lock?.release() }
    try StoreError.translating(path) {
      // Marks the file as having a write-ahead log again, like every store.
      if isScratch { try queue.writeWithoutTransaction { try $0.execute(sql: "PRAGMA journal_mode = WAL") } }
      try queue.close()
    }
  }

  /// Runs `body` for reading, including platform tables; it sees everything committed before.
  package func read<Value>(_ body: (Database) throws -> Value) throws -> Value {
    try StoreError.translating(path) {
      try queue.unsafeRead { db in try Self.locating(path, db) { try body(db) } }
    }
  }

  /// Runs `body` in one transaction, which is durable on return.
  ///
  /// - Throws: ``StoreError/replaced(path:)`` if the file was deleted or replaced.
  package func write<Value>(_ body: (Database) throws -> Value) throws -> Value {
    try StoreError.translating(path) {
      try queue.write { db in
        let value = try Self.locating(path, db) { try body(db) }
        // Writes to an unlinked file are lost.
        try lock?.check()
        return value
      }
    }
  }

  /// Runs `body` as ``write(_:)`` does and rolls it back.
  func rehearse<Value>(_ body: (Database) throws -> Value) throws -> Value {
    try StoreError.translating(path) {
      try queue.writeWithoutTransaction { db in
        var value: Value?
        try db.inTransaction {
          value = try Self.locating(path, db) { try body(db) }
          return .rollback
        }
        guard let value else { throw StoreError.inconsistent("a transaction did not run") }
        return value
      }
    }
  }

  /// Writes the whole store into a file that does not exist yet.
  func copy(to path: String) throws {
    try StoreError.translating(path) {
      try queue.writeWithoutTransaction { db in try db.execute(sql: "VACUUM INTO ?", arguments: [path]) }
    }
  }

  /// Writes the log into the main file, for readers of that file alone.
  func emptyLog() throws {
    try StoreError.translating(path) {
      try queue.writeWithoutTransaction { db in _ = try db.checkpoint(.truncate) }
    }
  }

  /// Rewrites the whole file and empties its log, so that neither holds data that no row has.
  func rebuild() throws {
    try StoreError.translating(path) {
      try queue.writeWithoutTransaction { db in
        try db.execute(sql: "VACUUM")
        _ = try db.checkpoint(.truncate)
      }
      try lock?.check()
    }
  }

  /// Runs `body` in one transaction with another store attached as `part`, which is not changed.
  ///
  /// - Parameter path: a closed store of this release and platform, whose bytes were verified by their digest.
  func attaching(_ path: String, _ body: (Database) throws -> Void) throws {
    // Rejects unusable stores before anything is written. A digest has verified the pages.
    let part = try EventStore.openProved(path, format: format)
    try part.connection.read { db in try StoreSchema.check(db, part.format, path: path) }
    try part.close()
    try StoreError.translating(self.path) {
      try queue.writeWithoutTransaction { db in
        let location = EventStore.uri(EventStore.location(try StoreFile(path).path)) + "?immutable=1"
        try db.execute(sql: "ATTACH DATABASE ? AS part", arguments: [location])
        defer {
          // A store still attached is detached with the connection.
          try? db.execute(sql: "DETACH DATABASE part")
        }
        try db.inTransaction {
          try Self.locating(self.path, db) { try body(db) }
          return .commit
        }
        try lock?.check()
      }
    }
  }

  /// Adds table and row to the error of an unreadable column.
  private static func locating<Value>(_ path: String, _ db: Database, _ body: () throws -> Value) throws -> Value {
    do {
      return try body()
    } catch let error as UnreadableColumn {
      throw EventStore.located(error, in: db, path: path)
    }
  }

  /// Runs `body` as ``write(_:)`` does, for many threads with small changes.
  package func writeTogether<Value>(_ body: (Database) throws -> Value) throws -> Value {
    try StoreError.translating(path) {
      try group.run(in: { change in try write { try change($0) } }, body)
    }
  }
}
