import BatchFoundation
import GRDB

/// The format of a store: the name of its platform, the format of its events, and the platform's own tables.
package struct StoreFormat: Sendable {
  /// The value of `destination` in jobs, which is the name of the platform in the store.
  package var destination: String
  package var wireForm: WireForm
  /// The steps that create the platform's tables, in order; they are never changed after a release.
  package var migrations: [String]
  /// The changes that the platform makes to stored events; nil if it makes none.
  package var amendment: (any BlockAmendment)?
  /// A SQL condition on the platform's tables. It is true if the service has, or may have, something from the store
  /// other than events, or if the store has something from the service. Nil if this is never the case.
  package var footprint: String?
  /// The rows that a purge deletes from the platform's tables; nil if there are none.
  package var retention: AgingRows?
  /// The data about people in the platform's tables; nil if there is none.
  package var personal: (any PersonalTables)?

  /// The SQL that imports platform rows from a part's store.
  package var collection: Collection

  /// The SQL with which a store collects parts, and removes them again while other parts of their partition are
  /// missing.
  package struct Collection: Sendable {
    /// The tables with an `id` to which rows are only appended. Collected rows are removed by their ids.
    package var appended: [String]
    /// SQL that imports rows from the same tables of an attached store, `part`; `?1` is the run.
    package var statements: [String]
    /// SQL that reverts the other changes made by `statements`, before the collected rows in `appended` are removed.
    package var withdrawal: [String]
    /// SQL that deletes the data that only `withdrawal` needs, once no part is missing.
    package var settlement: [String]

    package init(
      appended: [String] = [], statements: [String] = [], withdrawal: [String] = [], settlement: [String] = []
    ) {
      self.appended = appended
      self.statements = statements
      self.withdrawal = withdrawal
      self.settlement = settlement
    }
  }

  /// The rows in a platform's tables that are deleted when they are old enough.
  package struct AgingRows: Sendable {
    /// The kind of rows in one word, used as a JSON member.
    package var name: String
    /// SQL that deletes the rows whose time is `?1` (in milliseconds since 1970) or earlier.
    package var statements: [String]

    package init(name: String, statements: [String]) {
      self.name = name
      self.statements = statements
    }
  }

  package init(
    destination: String, wireForm: WireForm, migrations: [String] = [], amendment: (any BlockAmendment)? = nil,
    footprint: String? = nil, retention: AgingRows? = nil,
    personal: (any PersonalTables)? = nil, collection: Collection = Collection()
  ) {
    self.collection = collection
    self.destination = destination
    self.wireForm = wireForm
    self.migrations = migrations
    self.amendment = amendment
    self.footprint = footprint
    self.retention = retention
    self.personal = personal
  }
}

extension StoreSchema {
  /// Checks that tables have this program's columns, because development builds changed steps without changing their
  /// numbers.
  ///
  /// - Parameter isWhole: whether all tables must exist; false checks only those that do.
  /// - Throws: ``StoreError/otherForm``.
  static func checkForm(_ db: Database, path: String, isWhole: Bool = true) throws {
    try checkForm(of: coreTables.get(), db, path: path, isWhole: isWhole)
  }

  static func checkForm(of tables: [StoredTable], _ db: Database, path: String, isWhole: Bool = true) throws {
    for table in tables {
      let columns = try Set(String.fetchAll(db, sql: "SELECT name FROM pragma_table_info(?)", arguments: [table.name]))
      if columns.isEmpty {
        guard isWhole else { continue }
        throw StoreError.otherForm(path: path, table: table.name, column: nil)
      }
      guard let column = table.columns.first(where: { !columns.contains($0.name) }) else { continue }
      throw StoreError.otherForm(path: path, table: table.name, column: column.name)
    }
  }

  /// The core tables that the migrations create.
  private static let coreTables = Result { try made.get().read(StoredTable.all) }
  /// The tables of each platform, by the migrations that create them.
  private static let platformTables = Guarded<[[String]: [StoredTable]]>([:])

  /// An in-memory database with the core tables.
  private static let made = Result {
    let queue = try DatabaseQueue()
    // Releasing a queue may hang (``StoreConnection``), so this one is kept.
    try queue.write { db in for step in migrations { try db.execute(sql: step) } }
    return queue
  }

  /// Returns the platform's own tables.
  static func tables(of format: StoreFormat) throws -> [StoredTable] {
    try platformTables.withLock { known in
      if let tables = known[format.migrations] { return tables }
      let core = try Set(coreTables.get().map(\.name))
      var tables: [StoredTable] = []
      try made.get().writeWithoutTransaction { db in
        try db.inTransaction {
          for step in format.migrations { try db.execute(sql: step) }
          tables = try StoredTable.all(in: db).filter { !core.contains($0.name) }
          // The next platform also starts from the core tables.
          return .rollback
        }
      }
      known[format.migrations] = tables
      return tables
    }
  }
}
