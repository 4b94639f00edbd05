import BatchFoundation
package import GRDB

/// All data that a job keeps between runs: one SQLite database, which one process at a time writes through one connection.
///
/// Committed data survives a kill and, if the disk honors flushes, a power failure (write-ahead log,
/// `synchronous=FULL`). A store that is opened for reading is not changed.
///
/// Functions of the store and its parts throw ``StoreError``: for damaged rows and blocks, if SQLite or the system
/// fails and, when writing, if the file was deleted or replaced (``StoreError/replaced(path:)``). Errors that closures
/// throw pass through, except those of GRDB, which become ``StoreError``. An error rolls back its transaction.
package struct EventStore: Sendable {
  package let connection: StoreConnection
  package let quarantine: Quarantine

  private init(_ connection: StoreConnection) {
    self.connection = connection
    quarantine = Quarantine(connection: connection)
  }

  package var ledger: Ledger { Ledger(connection: connection) }
  package var timelines: Timelines { Timelines(connection: connection) }
  package var runs: Runs { Runs(connection: connection) }
  package var parts: Parts { Parts(connection: connection) }
  package var retention: Retention { Retention(connection: connection) }
  package var erasures: Erasures { Erasures(connection: connection) }

  package var path: String { connection.path }
  package var format: StoreFormat { connection.format }

  /// Opens the store for a run and creates it if nothing exists at the path; see ``open(_:isResult:isScratch:_:)``.
  package static func open(
    _ path: String, format: StoreFormat, isResult: Bool = false, isScratch: Bool = false
  ) throws -> EventStore {
    try open(path, isResult: isResult, isScratch: isScratch) { _ in format }
  }

  /// Opens the store for a run with the format of its platform, and creates it if nothing exists at the path.
  ///
  /// - Parameters:
  ///   - isResult: whether the store may be a part's result, which has the only copy of its devices' states.
  ///   - isScratch: whether the store is discarded if the process ends before closing it. If so, pages are written once
  ///     and in place, and the caller must make the file durable after closing it.
  ///   - format: returns the format for the store's platform, which is nil for a new store.
  /// - Throws: ``StoreError``; anything else at the path is left unchanged.
  package static func open(
    _ path: String, isResult: Bool = false, isScratch: Bool = false,
    _ format: (_ platform: String?) throws -> StoreFormat
  ) throws -> EventStore {
    let file = try StoreFile(path)
    return try StoreError.translating(path) {
      // Another run may create the store between the test and the creation.
      while try !file.isThere() {
        if try file.create(try format(nil)) { break }
      }
      let lock = try StoreLock(store: file.path, shown: path)
      // The file may have been replaced before it was locked.
      try lock.check()
      let queue = try DatabaseQueue(
        path: location(file.path), configuration: configuration(readOnly: false, isDurable: !isScratch))
      let connection = try StoreConnection(queue, path: path, lock: lock, isScratch: isScratch) { db in
        try checkHeader(db, path, mayMigrate: true)
        // Checking pages would execute code that is in the schema.
        try refuseCode(db, path)
        try checkPages(db, file)
        if !isResult, try isOfResult(db) { throw StoreError.result(path: path) }
        if try db.count("PRAGMA user_version") == StoreSchema.currentVersion {
          try StoreSchema.checkForm(db, path: path)
        }
        // A scratch store rolls back from memory, because a write-ahead log would write everything twice.
        try db.execute(sql: "PRAGMA journal_mode = \(isScratch ? "MEMORY" : "WAL")")
        try StoreSchema.migrate(db)
        let format = try format(StoreSchema.platform(of: db))
        try StoreSchema.migrate(db, format, path: path)
        return format
      }
      return EventStore(connection)
    }
  }

  /// Opens an existing store, passes it to `body`, which may change it, and closes it. No run may have it open.
  ///
  /// - Parameter format: the format for the store's platform, which is nil if no platform has used the store.
  /// - Throws: ``StoreError/missing(path:other:)`` if no file exists, other ``StoreError``, and what `body` throws.
  package static func change<Value>(
    _ path: String, _ format: (_ platform: String?) throws -> StoreFormat, _ body: (EventStore) throws -> Value
  ) throws -> Value {
    // Opening a missing store would create one.
    guard try StoreFile(path).isThere() else { throw StoreError.missing(path: path) }
    let store = try open(path, format)
    let (result, end) = (Result { try body(store) }, Result { try store.close() })
    let value = try result.get()
    try end.get()
    return value
  }

  /// Changes a store as ``change(_:_:_:)`` does, with the format of its platform.
  package static func change<Value>(
    _ path: String, format: StoreFormat, _ body: (EventStore) throws -> Value
  ) throws -> Value {
    try change(path, { _ in format }, body)
  }

  /// Returns whether there is a store at the path, even if it is damaged or unfinished.
  package static func isStore(_ path: String) -> Bool {
    do {
      return try StoreFile(path).isThere()
    } catch StoreError.damaged, StoreError.unfinished {
      return true
    } catch {
      // Opening the store reports the problem.
      return false
    }
  }

  /// Opens an existing store for reading. If there is a write-ahead log from a current or killed run, it is read as
  /// well. Otherwise the main file is complete.
  ///
  /// - Parameter checksPages: whether a store with damaged pages is rejected; false to inspect what is left of it.
  /// - Throws: ``StoreError/missing(path:other:)`` if no file exists, and other ``StoreError``.
  package static func openReading(
    _ path: String, format: StoreFormat, checksPages: Bool = true
  ) throws -> EventStore {
    try openReading(path, checksPages: checksPages) { _ in format }
  }

  /// Opens a part's store for reading. Its bytes must have been verified by a digest.
  ///
  /// - Throws: ``StoreError/missing(path:other:)`` if no file exists, and ``StoreError/damaged(path:detail:)`` if its
  ///   schema contains code.
  package static func openProved(_ path: String, format: StoreFormat) throws -> EventStore {
    let store = try openReading(path, format: format, checksPages: false)
    try store.read { db in try refuseCode(db, path) }
    return store
  }

  /// Opens an existing store for reading with the format of its platform.
  ///
  /// - Parameters:
  ///   - checksPages: whether a store that is damaged or contains code in its schema is rejected. If false, call
  ///     ``checkSchema(_:_:)`` before reading the store.
  ///   - format: returns the format for the store's platform, which is nil if no platform has used the store.
  /// - Throws: as ``openReading(_:format:checksPages:)``, and what `format` throws.
  package static func openReading(
    _ path: String, checksPages: Bool = true, _ format: (_ platform: String?) throws -> StoreFormat
  ) throws -> EventStore {
    let file = try StoreFile(path)
    guard try file.isThere() else { throw StoreError.missing(path: path) }
    return try StoreError.translating(path) {
      let location = try file.hasLog ? location(file.path) : uri(location(file.path)) + "?immutable=1"
      let queue = try DatabaseQueue(path: location, configuration: configuration(readOnly: true))
      let connection = try StoreConnection(queue, path: path) { db in
        try checkHeader(db, path, mayMigrate: false, mayBeDamaged: !checksPages)
        if checksPages {
          try refuseCode(db, path)
          try checkPages(db, file)
        }
        // Damage must not be reported as a different schema; `check(_:)` covers both.
        if checksPages { try StoreSchema.checkForm(db, path: path) }
        // In an unchecked store, these names may belong to views.
        let tellsPlatform = try checksPages || plainTables(db).isSuperset(of: ["destination", "platform_schema"])
        let format = try format(tellsPlatform ? StoreSchema.platform(of: db) : nil)
        if checksPages { try StoreSchema.check(db, format, path: path) }
        return format
      }
      return EventStore(connection)
    }
  }

  /// Returns an empty store for data that a run does not keep; see ``temporaryQueue()``.
  package static func temporary(format: StoreFormat) throws -> EventStore {
    let queue = try temporaryQueue()
    return try StoreError.translating(temporaryPath) {
      let connection = try StoreConnection(queue, path: temporaryPath) { db in
        try StoreSchema.migrate(db)
        try StoreSchema.migrate(db, format, path: temporaryPath)
        return format
      }
      return EventStore(connection)
    }
  }

  static let temporaryPath = "temporary store"

  /// Returns an empty database that only its connection can reach. It is in memory while small, then in an unnamed
  /// temporary file, and disappears with the connection or the process.
  static func temporaryQueue() throws -> DatabaseQueue {
    try StoreError.translating(temporaryPath) {
      let queue = try DatabaseQueue(path: "", configuration: configuration(readOnly: false, isDurable: false))
      try queue.writeWithoutTransaction { db in
        try db.execute(sql: "PRAGMA page_size = 16384; PRAGMA journal_mode = MEMORY")
      }
      return queue
    }
  }

  /// Copies the store to a path where nothing exists, in a folder that only its user can access, and opens the copy,
  /// which is not durable.
  ///
  /// - Throws: ``StoreError``, also if a file exists at the path.
  package func copied(to path: String) throws -> EventStore {
    try connection.copy(to: path)
    return try Self.open(path, format: format, isScratch: true)
  }

  /// The store for reading what has been committed, without waiting while other threads write; see
  /// ``StoreConnection/beside()``.
  package func beside() throws -> EventStore { EventStore(try connection.beside()) }

  /// Opens a second connection to a store that is open, for reading.
  static func queueBeside(_ path: String) throws -> DatabaseQueue {
    var configuration = configuration(readOnly: true)
    configuration.prepareDatabase { try $0.execute(sql: "PRAGMA cache_size = -1024") }
    return try DatabaseQueue(path: location(StoreFile(path).path), configuration: configuration)
  }

  /// Writes everything into the main file, closes it, and releases the lock, even if writing or closing throws.
  package func close() throws { try connection.close() }

  /// Whether the store has never accepted a record.
  package var isEmpty: Bool {
    get throws {
      try connection.count(
        "SELECT EXISTS (SELECT 1 FROM state_segment) OR EXISTS (SELECT 1 FROM digest_segment)") == 0
    }
  }

  // MARK: Access

  /// Runs `body` with read access to all tables; see ``StoreConnection/read(_:)``.
  package func read<Value>(_ body: (Database) throws -> Value) throws -> Value { try connection.read(body) }

  /// Runs `body` in one transaction, which is durable when this returns.
  package func write<Value>(_ body: (Database) throws -> Value) throws -> Value { try connection.write(body) }

  // MARK: Opening

  private static func configuration(readOnly: Bool, isDurable: Bool = true) -> Configuration {
    var configuration = Configuration()
    configuration.readonly = readOnly
    configuration.foreignKeysEnabled = false
    configuration.busyMode = .timeout(5)
    configuration.prepareDatabase { db in
      // Sorting (for example, chunks for an index) may need more memory than the process should use. Beyond the cache,
      // SQLite uses files in TMPDIR.
      try db.execute(
        sql: """
          PRAGMA trusted_schema = OFF;
          PRAGMA cell_size_check = ON;
          PRAGMA synchronous = \(isDurable ? "FULL" : "OFF");
          PRAGMA temp_store = FILE;
          PRAGMA cache_size = -16384;
          PRAGMA wal_autocheckpoint = 512;
          """)
    }
    return configuration
  }

  static let noNumber = "its schema has no version number"

  private static func checkHeader(
    _ db: Database, _ path: String, mayMigrate: Bool, mayBeDamaged: Bool = false
  ) throws {
    let application = try Int32.fetchOne(db, sql: "PRAGMA application_id") ?? 0
    let version = try Int.fetchOne(db, sql: "PRAGMA user_version") ?? 0
    guard application != StoreSchema.salvageID else { throw StoreError.unfinished(path: path) }
    guard application == StoreSchema.applicationID else { throw StoreError.foreign(path: path) }
    let known = StoreSchema.currentVersion
    guard version <= known else { throw StoreError.newer(path: path, version: version, known: known) }
    // A new store gets its version number before its file name.
    guard version >= 1 else {
      guard mayBeDamaged else { throw StoreError.damaged(path: path, detail: noNumber) }
      return
    }
    guard version == known || mayMigrate else { throw StoreError.older(path: path, version: version, known: known) }
  }

  private static func refuseCode(_ db: Database, _ path: String) throws {
    try checkSchema(db) { throw StoreError.damaged(path: path, detail: $0.problem) }
  }

  /// Checks all pages of a store of up to 32 MiB. For a larger store, only checks that no pages are missing at the end.
  private static func checkPages(_ db: Database, _ file: StoreFile) throws {
    let path = file.shown
    let pages = try Int64.fetchOne(db, sql: "PRAGMA page_count") ?? 0
    let pageSize = try Int64.fetchOne(db, sql: "PRAGMA page_size") ?? 0
    let size = try StoreFile.status(file.path, path)?.size ?? 0
    if try !file.hasLog, size < pages * pageSize {
      let missing = Int(pages * pageSize - size).counted("byte")
      throw StoreError.damaged(path: path, detail: "the file is \(missing) too short")
    }
    if pages * pageSize <= 32 << 20 {
      let verdict = try String.fetchOne(db, sql: "PRAGMA quick_check(1)") ?? ""
      guard verdict == "ok" else { throw StoreError.damaged(path: path, detail: verdict) }
    }
  }

  /// Returns whether the store is a part's result. This must be known before the first write, because a digest covers
  /// even the header.
  private static func isOfResult(_ db: Database) throws -> Bool {
    guard try db.tableExists("decided_part") else { return false }
    return try Bool.fetchOne(db, sql: "SELECT EXISTS (SELECT 1 FROM decided_part)") ?? false
  }

  /// Returns a path that SQLite does not mistake for a special name such as `:memory:`.
  static func location(_ path: String) -> String {
    path.utf8.first == UInt8(ascii: "/") ? path : "./" + path
  }

  static func uri(_ path: String) -> String {
    var text = Array("file:".utf8)
    PercentEncoding.append(path.utf8, keeping: "/", to: &text)
    return String(decoding: text, as: UTF8.self)
  }
}
