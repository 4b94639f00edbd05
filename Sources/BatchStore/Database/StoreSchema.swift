import GRDB

/// The tables of the store, as numbered steps that are never changed after a release. In the file, `application_id`
/// identifies a store, and `user_version` is the number of its last step.
enum StoreSchema {
  /// "EngB"
  static let applicationID: Int32 = 0x456E_6742
  /// "EngS": an unfinished salvage.
  static let salvageID: Int32 = 0x456E_6753

  /// The steps; the number of a step is its index plus 1. Each runs in a transaction that also sets its number.
  static let migrations: [String] = [first, windows]

  static var currentVersion: Int { migrations.count }

  static func migrate(_ db: Database) throws {
    let version = try Int.fetchOne(db, sql: "PRAGMA user_version") ?? 0
    for number in version..<max(version, currentVersion) {
      try db.inTransaction(.exclusive) {
        try db.execute(sql: migrations[number])
        // A PRAGMA cannot have bound parameters. Both numbers are constants of this type.
        try db.execute(sql: "PRAGMA application_id = \(applicationID)")
        try db.execute(sql: "PRAGMA user_version = \(number + 1)")
        return .commit
      }
    }
  }

  /// The indexes of chunks by status, by time and in listing order.
  ///
  /// They are not part of a step: a first run creates them after storing everything, because rows do not arrive in
  /// chronological order, and each transaction would touch, log and write every page of these indexes. Without them,
  /// queries are slower.
  static let indexesByTime = """
    CREATE INDEX IF NOT EXISTS chunk_by_status ON chunk (status, first, id, events, expired);
    CREATE INDEX IF NOT EXISTS chunk_by_time ON chunk (last, first);
    CREATE INDEX IF NOT EXISTS chunk_by_order ON chunk (first, id);
    """

  /// Creates the tables of a platform, or runs its missing steps. A store that belongs to a different platform is not
  /// changed.
  ///
  /// - Throws: ``StoreError/newer`` for tables from a later release.
  static func migrate(_ db: Database, _ format: StoreFormat, path: String) throws {
    let known = format.migrations.count
    guard known > 0, try isOwn(db, format) else { return }
    let done = try steps(db, format, path: path)
    guard done <= known else { throw StoreError.newer(path: path, version: done, known: known) }
    guard done < known else { return try checkForm(of: tables(of: format), db, path: path) }
    try db.inTransaction(.exclusive) {
      for step in format.migrations[done...] { try db.execute(sql: step) }
      try db.execute(
        sql: """
          INSERT INTO platform_schema (name, steps) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET steps = excluded.steps
          """, arguments: [format.destination, known])
      return .commit
    }
  }

  /// Checks that the platform's tables are those of this release.
  ///
  /// - Throws: ``StoreError/older`` or ``StoreError/newer`` for tables from another release.
  static func check(_ db: Database, _ format: StoreFormat, path: String) throws {
    let known = format.migrations.count
    guard known > 0, try isOwn(db, format) else { return }
    let done = try steps(db, format, path: path)
    guard done <= known else { throw StoreError.newer(path: path, version: done, known: known) }
    guard done == known else { throw StoreError.older(path: path, version: done, known: known) }
    try checkForm(of: tables(of: format), db, path: path)
  }

  /// Returns the platform of the store; nil if no platform has tables in it and it was never bound to a destination.
  static func platform(of db: Database) throws -> String? {
    // A damaged value counts as none here. Reading the destination reports it.
    try String.fetchOne(
      db,
      sql: """
        SELECT coalesce((SELECT kind FROM destination WHERE typeof(kind) = 'text'),
          (SELECT name FROM platform_schema WHERE typeof(name) = 'text' LIMIT 1))
        """)
  }

  private static func isOwn(_ db: Database, _ format: StoreFormat) throws -> Bool {
    try String.fetchOne(db, sql: "SELECT kind FROM destination WHERE typeof(kind) = 'text'")
      .map { $0.utf8.elementsEqual(format.destination.utf8) } ?? true
  }

  /// Returns the number of the platform's steps that were already run.
  private static func steps(_ db: Database, _ format: StoreFormat, path: String) throws -> Int {
    let steps =
      try Int.fetchOne(
        db, sql: "SELECT steps FROM platform_schema WHERE name = ? AND typeof(steps) = 'integer'",
        arguments: [format.destination]) ?? 0
    guard steps >= 0 else {
      throw StoreError.damaged(path: path, detail: "its platform's tables have the invalid version \(steps)")
    }
    return steps
  }
}
