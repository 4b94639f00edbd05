import BatchFoundation
package import GRDB

/// A connection to a store, through which all its tables are read and written. Functions throw as ``EventStore``
/// describes. There is no other connection except one for reading while this one writes (``beside()``).
///
/// Releasing a queue makes Dispatch free the objects that GRDB attached to it, on another thread; if no thread can be
/// created, Dispatch waits forever. Therefore the queue, a few kilobytes, lives until the process ends. The database
/// itself is closed.
package final class StoreConnection: Sendable {
  package let path: String
  package let format: StoreFormat
  let queue: DatabaseQueue
  private let lock: StoreLock?
  private let isScratch: Bool
  private let group = GroupCommit()
  private let reader = Guarded<StoreConnection?>(nil)

  /// - Parameters:
  ///   - isScratch: as in ``EventStore/open(_:format:isResult:isScratch:)``.
  ///   - format: returns the format of the events; called once the file is open.
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

  // A writer has already closed the queue and received the errors. The last connection to be closed removes the
  // write-ahead log, so it must be this one, which may write.
  deinit {
    try? reader.withLock { $0 }?.queue.close()
    try? queue.close()
  }

  /// Returns a connection for reading, which does not wait while this one writes, and sees what has been committed. It
  /// is closed with this one. A store that is not written, or has no write-ahead log, needs none and returns this one.
  ///
  /// - Throws: ``StoreError/replaced(path:)`` if the file was deleted or replaced.
  func beside() throws -> StoreConnection {
    guard let lock, !isScratch else { return self }
    return try reader.withLock { reader in
      if let reader { return reader }
      let opened = Result {
        try StoreError.translating(path) {
          try StoreConnection(EventStore.queueBeside(path), path: path) { _ in format }
        }
      }
      // The path may lead to another file by now, or to none.
      try lock.check()
      let fresh = try opened.get()
      reader = fresh
      return fresh
    }
  }

  /// Writes everything into the main file, closes it, and releases the lock.
  func close() throws {
    defer { lock?.release() }
    try StoreError.translating(path) {
      try reader.withLock { $0 }?.queue.close()
      // Marks the file as having a write-ahead log, like every other store.
      if isScratch { try queue.writeWithoutTransaction { try $0.execute(sql: "PRAGMA journal_mode = WAL") } }
      try queue.close()
    }
  }

  /// Runs `body` with read access to all tables, including the platform's. It sees everything committed so far.
  package func read<Value>(_ body: (Database) throws -> Value) throws -> Value {
    try StoreError.translating(path) {
      try queue.unsafeRead { db in try Self.locating(path, db) { try body(db) } }
    }
  }

  /// Returns what `value` makes of each row of a query.
  func all<Value>(
    _ sql: String, _ arguments: StatementArguments = [], _ value: (Row) throws -> Value
  ) throws -> [Value] {
    try read { try Row.fetchAll($0, sql: sql, arguments: arguments).map(value) }
  }

  /// Returns what `value` makes of the first row of a query; nil if there is no row.
  func first<Value>(
    _ sql: String, _ arguments: StatementArguments = [], _ value: (Row) throws -> Value?
  ) throws -> Value? {
    try read { try Row.fetchOne($0, sql: sql, arguments: arguments).flatMap(value) }
  }

  /// Passes each row of a query to `body`, which must not use the connection.
  func forEach(_ sql: String, _ arguments: StatementArguments = [], _ body: (Row) throws -> Void) throws {
    try read { try $0.forEachRow(sql, arguments, body) }
  }

  /// Returns the integer in the first column of the first row; 0 for NULL or if there is no row.
  func count(_ sql: String, _ arguments: StatementArguments = []) throws -> Int {
    try read { try $0.count(sql, arguments) }
  }

  /// Runs `body` in one transaction, which is durable when this returns.
  ///
  /// - Throws: ``StoreError/replaced(path:)`` if the file was deleted or replaced.
  package func write<Value>(_ body: (Database) throws -> Value) throws -> Value {
    try StoreError.translating(path) {
      try queue.write { db in
        let value = try Self.locating(path, db) { try body(db) }
        // Data written to a deleted file would be lost.
        try lock?.check()
        return value
      }
    }
  }

  /// Runs `body` in a transaction and rolls it back.
  func rehearse<Value>(_ body: (Database) throws -> Value) throws -> Value {
    try outsideTransaction { db in
      var value: Value?
      try db.inTransaction {
        value = try Self.locating(path, db) { try body(db) }
        return .rollback
      }
      guard let value else { throw StoreError.inconsistent("a transaction did not run") }
      return value
    }
  }

  private func outsideTransaction<Value>(_ body: (Database) throws -> Value) throws -> Value {
    try StoreError.translating(path) { try queue.writeWithoutTransaction(body) }
  }

  /// Writes the whole store into a file that does not exist yet.
  func copy(to path: String) throws {
    try StoreError.translating(path) {
      try queue.writeWithoutTransaction { try $0.execute(sql: "VACUUM INTO ?", arguments: [path]) }
    }
  }

  /// Writes the write-ahead log into the main file, for readers that only read that file.
  func emptyLog() throws {
    _ = try outsideTransaction { try $0.checkpoint(.truncate) }
  }

  /// Rewrites the whole file and empties its write-ahead log, so that neither contains deleted data.
  func rebuild() throws {
    try outsideTransaction { try $0.execute(sql: "VACUUM") }
    try emptyLog()
    try lock?.check()
  }

  /// Runs `body` in one transaction with another store attached as `part`, which is not changed.
  ///
  /// - Parameter path: the path of a closed store from this release and platform. Its bytes must have been verified by
  ///   a digest.
  func attaching(_ path: String, _ body: (Database) throws -> Void) throws {
    // Rejects an unusable store before anything is written. Its pages were verified by a digest.
    let part = try EventStore.openProved(path, format: format)
    try part.connection.read { db in try StoreSchema.check(db, part.format, path: path) }
    try part.close()
    try outsideTransaction { db in
      let location = EventStore.uri(EventStore.location(try StoreFile(path).path)) + "?immutable=1"
      try db.execute(sql: "ATTACH DATABASE ? AS part", arguments: [location])
      defer {
        // If this fails, the store is detached when the connection is closed.
        try? db.execute(sql: "DETACH DATABASE part")
      }
      try db.inTransaction {
        try Self.locating(self.path, db) { try body(db) }
        return .commit
      }
      try lock?.check()
    }
  }

  /// Adds the table and the row to the error for an unreadable column.
  private static func locating<Value>(_ path: String, _ db: Database, _ body: () throws -> Value) throws -> Value {
    do {
      return try body()
    } catch let error as UnreadableColumn {
      throw EventStore.located(error, in: db, path: path)
    }
  }

  /// Runs `body` like ``write(_:)``, in a transaction that many threads with small changes may share. An error of
  /// `body` rolls back only its own changes; if the commit fails, all these threads get the error.
  package func writeTogether<Value>(_ body: (Database) throws -> Value) throws -> Value {
    try StoreError.translating(path) {
      try group.run(in: { change in try write { try change($0) } }, body)
    }
  }
}
