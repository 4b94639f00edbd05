import BatchFoundation
package import GRDB

/// The one connection to a store, by which all its tables are read and written.
///
/// What GRDB attaches to a queue is freed by a thread of Dispatch when the queue goes, and Dispatch waits for ever for one that it does not get.
/// So the queue, a few kilobytes, stays to the end of the process; the database is closed.
package final class StoreConnection: Sendable {
  package let path: String
  /// What the store's events are.
  package let format: StoreFormat
  let queue: DatabaseQueue
  private let lock: StoreLock?
  private let isScratch: Bool
  private let group = GroupCommit()

  /// - Parameters:
  ///   - isScratch: as for ``EventStore/open(_:format:isResult:isScratch:)``.
  ///   - format: what its events are, once the file is known to be a store.
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

  // Whoever wrote has closed it and was told of errors.
  deinit { try? queue.close() }

  /// Writes everything into the main file, closes it and lets others have it.
  func close() throws {
    defer { lock?.release() }
    try StoreError.translating(path) {
      // The file says again that it has a log, as every store does.
      if isScratch { try queue.writeWithoutTransaction { try $0.execute(sql: "PRAGMA journal_mode = WAL") } }
      try queue.close()
    }
  }

  /// Reads, also tables of a platform; sees everything that was committed before.
  package func read<Value>(_ body: (Database) throws -> Value) throws -> Value {
    try StoreError.translating(path) {
      try queue.unsafeRead { db in try Self.locating(path, db) { try body(db) } }
    }
  }

  /// Runs `body` in one transaction; when this returns, it is durable.
  package func write<Value>(_ body: (Database) throws -> Value) throws -> Value {
    try StoreError.translating(path) {
      try queue.write { db in
        let value = try Self.locating(path, db) { try body(db) }
        // What is written to a file without a name is lost.
        try lock?.check()
        return value
      }
    }
  }

  /// Does what ``write(_:)`` does and takes it back.
  func rehearse<Value>(_ body: (Database) throws -> Value) throws -> Value {
    try StoreError.translating(path) {
      try queue.writeWithoutTransaction { db in
        var value: Value?
        try db.inTransaction {
          value = try Self.locating(path, db) { try body(db) }
          return .rollback
        }
        guard let value else { throw StoreError.inconsistent("a transaction that did not run") }
        return value
      }
    }
  }

  /// Writes all of the store into a file that is not there yet.
  func copy(to path: String) throws {
    try StoreError.translating(path) {
      try queue.writeWithoutTransaction { db in try db.execute(sql: "VACUUM INTO ?", arguments: [path]) }
    }
  }

  /// Writes what the log holds into the main file, where it stands for whoever looks at that alone.
  func emptyLog() throws {
    try StoreError.translating(path) {
      try queue.writeWithoutTransaction { db in _ = try db.checkpoint(.truncate) }
    }
  }

  /// Writes the whole file anew and empties its log, so that nothing is left in either that no row has.
  func rebuild() throws {
    try StoreError.translating(path) {
      try queue.writeWithoutTransaction { db in
        try db.execute(sql: "VACUUM")
        _ = try db.checkpoint(.truncate)
      }
      try lock?.check()
    }
  }

  /// Runs `body` in one transaction, with another store beside this one as `part`; the other stays as it is.
  ///
  /// - Parameter path: of a closed store of this release and platform, whose bytes were compared with their digest.
  func attaching(_ path: String, _ body: (Database) throws -> Void) throws {
    // What cannot be right is found before anything is written. That its pages are those that were written, a digest has proved.
    let part = try EventStore.openProved(path, format: format)
    try part.connection.read { db in try StoreSchema.check(db, part.format, path: path) }
    try part.close()
    try StoreError.translating(self.path) {
      try queue.writeWithoutTransaction { db in
        let location = EventStore.uri(EventStore.location(try StoreFile(path).path)) + "?immutable=1"
        try db.execute(sql: "ATTACH DATABASE ? AS part", arguments: [location])
        defer {
          // What is left attached goes with the connection.
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

  /// Adds table and row to a column that could not be read.
  private static func locating<Value>(_ path: String, _ db: Database, _ body: () throws -> Value) throws -> Value {
    do {
      return try body()
    } catch let error as UnreadableColumn {
      throw EventStore.located(error, in: db, path: path)
    }
  }

  /// As ``write(_:)``, for many threads with small changes.
  package func writeTogether<Value>(_ body: (Database) throws -> Value) throws -> Value {
    try StoreError.translating(path) {
      try group.run(in: { change in try write { try change($0) } }, body)
    }
  }
}
