import BatchFoundation
package import GRDB

/// Everything a job keeps between runs, in one SQLite database with one connection and one process at a time.
///
/// What was committed survives a kill and, as far as the disk keeps its word, a power cut: write-ahead log with
/// `synchronous=FULL`. A store that is opened for reading creates and changes nothing.
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

  /// Opens the store for a run and creates it if nothing stands at the path.
  ///
  /// - Parameters:
  ///   - isResult: as below.
  ///   - isScratch: as below.
  /// - Throws: `StoreError`; whatever else stands at the path stays as it is.
  package static func open(
    _ path: String, format: StoreFormat, isResult: Bool = false, isScratch: Bool = false
  ) throws -> EventStore {
    try open(path, isResult: isResult, isScratch: isScratch) { _ in format }
  }

  /// - Parameters:
  ///   - path: of the file.
  ///   - isResult: whether it may be the store of a result of a part, which has the only states of its devices.
  ///   - isScratch: whether it is thrown away if the process ends before it is closed. Pages are then written once, in place, and
  ///     nothing is made durable: whoever keeps the closed file does that.
  ///   - format: of a store by the platform whose it is; nil for one that is new.
  package static func open(
    _ path: String, isResult: Bool = false, isScratch: Bool = false,
    _ format: (_ platform: String?) throws -> StoreFormat
  ) throws -> EventStore {
    let file = try StoreFile(path)
    return try StoreError.translating(path) {
      // Another run may make it between the look and the making.
      while try !file.isThere() {
        if try file.create(try format(nil)) { break }
      }
      let lock = try StoreLock(store: file.path, shown: path)
      // It may have been replaced before it was locked.
      try lock.check()
      let queue = try DatabaseQueue(
        path: location(file.path), configuration: configuration(readOnly: false, isDurable: !isScratch))
      let connection = try StoreConnection(queue, path: path, lock: lock, isScratch: isScratch) { db in
        try checkHeader(db, path, mayMigrate: true)
        // Looking at pages computes what has such code.
        try refuseCode(db, path)
        try checkPages(db, file)
        if !isResult, try isOfResult(db) { throw StoreError.result(path: path) }
        if try isCurrent(db) { try StoreSchema.checkForm(db, path: path) }
        // A transaction that fails is taken back from memory; a log would be written, read and written again.
        try db.execute(sql: "PRAGMA journal_mode = \(isScratch ? "MEMORY" : "WAL")")
        try StoreSchema.migrate(db)
        let format = try format(StoreSchema.platform(of: db))
        try StoreSchema.migrate(db, format, path: path)
        return format
      }
      return EventStore(connection)
    }
  }

  /// Whether a store stands there, also one that is damaged.
  package static func isStore(_ path: String) -> Bool {
    do {
      return try StoreFile(path).isThere()
    } catch StoreError.damaged, StoreError.unfinished {
      return true
    } catch {
      // Whoever opens it says what is wrong.
      return false
    }
  }

  /// Opens an existing store to look at it.
  ///
  /// Without a write-ahead log the main file is complete and is read as it stands; beside a running or killed run the log is
  /// read too.
  ///
  /// - Parameters:
  ///   - path: of the file.
  ///   - format: of the platform whose store it is.
  ///   - checksPages: false opens a store also where pages of it are damaged, to see what is left.
  package static func openReading(
    _ path: String, format: StoreFormat, checksPages: Bool = true
  ) throws -> EventStore {
    try openReading(path, checksPages: checksPages) { _ in format }
  }

  /// The store of a part, of whose bytes a digest proves that they are those that were written.
  package static func openProved(_ path: String, format: StoreFormat) throws -> EventStore {
    let store = try openReading(path, format: format, checksPages: false)
    try store.read { db in try refuseCode(db, path) }
    return store
  }

  /// - Parameters:
  ///   - path: of the file.
  ///   - checksPages: false opens a store also where pages of it are damaged or it has code, for whoever asks ``checkSchema(_:_:)``
  ///     before reading a table.
  ///   - format: of a store by the platform whose it is; nil for one that no platform has used.
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
        // Damage must not look like another form: who looks for it checks that with it.
        if checksPages { try StoreSchema.checkForm(db, path: path) }
        // Else a table may be none.
        let tellsPlatform = try checksPages || plainTables(db).isSuperset(of: ["destination", "platform_schema"])
        let format = try format(tellsPlatform ? StoreSchema.platform(of: db) : nil)
        if checksPages { try StoreSchema.check(db, format, path: path) }
        return format
      }
      return EventStore(connection)
    }
  }

  /// An empty store in memory: what a dry run reads when there is none yet.
  package static func temporary(format: StoreFormat) throws -> EventStore {
    try StoreError.translating(":memory:") {
      let queue = try DatabaseQueue(configuration: configuration(readOnly: false))
      let connection = try StoreConnection(queue, path: ":memory:") { db in
        try StoreSchema.migrate(db)
        try StoreSchema.migrate(db, format, path: ":memory:")
        return format
      }
      return EventStore(connection)
    }
  }

  /// A store of the same content at a path where nothing stands, below a folder of its user alone.
  package func copied(to path: String) throws -> EventStore {
    try connection.copy(to: path)
    return try Self.open(path, format: format)
  }

  /// Writes everything into the main file, closes it and lets others have it.
  package func close() throws { try connection.close() }

  /// Whether no record was ever taken in.
  package var isEmpty: Bool {
    get throws {
      try connection.read { db in
        try Bool.fetchOne(
          db, sql: "SELECT NOT EXISTS (SELECT 1 FROM device) AND NOT EXISTS (SELECT 1 FROM digest_segment)") ?? true
      }
    }
  }

  // MARK: Access

  package func read<Value>(_ body: (Database) throws -> Value) throws -> Value { try connection.read(body) }

  package func write<Value>(_ body: (Database) throws -> Value) throws -> Value { try connection.write(body) }

  package func writeTogether<Value>(_ body: (Database) throws -> Value) throws -> Value {
    try connection.writeTogether(body)
  }

  // MARK: Opening

  private static func configuration(readOnly: Bool, isDurable: Bool = true) -> Configuration {
    var configuration = Configuration()
    configuration.readonly = readOnly
    configuration.foreignKeysEnabled = false
    configuration.busyMode = .timeout(5)
    configuration.prepareDatabase { db in
      // What SQLite sorts, such as the chunks for an index, may be more than memory should hold: beyond the cache it goes to TMPDIR.
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

  static let noNumber = "its schema has no number"

  private static func checkHeader(
    _ db: Database, _ path: String, mayMigrate: Bool, mayBeDamaged: Bool = false
  ) throws {
    let application = try Int32.fetchOne(db, sql: "PRAGMA application_id") ?? 0
    let version = try Int.fetchOne(db, sql: "PRAGMA user_version") ?? 0
    guard application != StoreSchema.salvageID else { throw StoreError.unfinished(path: path) }
    guard application == StoreSchema.applicationID else { throw StoreError.foreign(path: path) }
    let known = StoreSchema.currentVersion
    guard version <= known else { throw StoreError.newer(path: path, version: version, known: known) }
    // A new store has its number before it has its name.
    guard version >= 1 else {
      guard mayBeDamaged else { throw StoreError.damaged(path: path, detail: noNumber) }
      return
    }
    guard version == known || mayMigrate else { throw StoreError.older(path: path, version: version, known: known) }
  }

  private static func refuseCode(_ db: Database, _ path: String) throws {
    try checkSchema(db) { throw StoreError.damaged(path: path, detail: $0.problem) }
  }

  private static func isCurrent(_ db: Database) throws -> Bool {
    try Int.fetchOne(db, sql: "PRAGMA user_version") == StoreSchema.currentVersion
  }

  /// A small store is checked page by page; of a large one only that all its pages are there, which takes no time.
  private static func checkPages(_ db: Database, _ file: StoreFile) throws {
    let path = file.shown
    let pages = try Int64.fetchOne(db, sql: "PRAGMA page_count") ?? 0
    let pageSize = try Int64.fetchOne(db, sql: "PRAGMA page_size") ?? 0
    let size = try StoreFile.status(file.path, path)?.size ?? 0
    if try !file.hasLog, size < pages * pageSize {
      throw StoreError.damaged(path: path, detail: "\(pages * pageSize - size) bytes are missing at its end")
    }
    if pages * pageSize <= 32 << 20 {
      let verdict = try String.fetchOne(db, sql: "PRAGMA quick_check(1)") ?? ""
      guard verdict == "ok" else { throw StoreError.damaged(path: path, detail: verdict) }
    }
  }

  /// Before anything is written: what is in the header of a result's store is proved by its digest.
  private static func isOfResult(_ db: Database) throws -> Bool {
    guard try db.tableExists("decided_part") else { return false }
    return try Bool.fetchOne(db, sql: "SELECT EXISTS (SELECT 1 FROM decided_part)") ?? false
  }

  /// The path for SQLite, which has a meaning of its own for names such as `:memory:`.
  static func location(_ path: String) -> String {
    path.utf8.first == UInt8(ascii: "/") ? path : "./" + path
  }

  static func uri(_ path: String) -> String {
    var text = "file:"
    for byte in path.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"), UInt8(ascii: "."), UInt8(ascii: "-"),
        UInt8(ascii: "_"):
        text.unicodeScalars.append(Unicode.Scalar(byte))
      default:
        text += "%" + Hexadecimal.text(of: byte)
      }
    }
    return text
  }
}
