import GRDB

/// The tables of the store, as numbered steps that are never edited after a release.
///
/// The file says what it is: `application_id` marks a store, `user_version` is the number of its last step.
enum StoreSchema {
  /// "EngB"
  static let applicationID: Int32 = 0x456E_6742

  /// Step n+1 is the element n; each runs in a transaction of its own together with its number.
  static let migrations: [String] = [
    first, IdentitySchema.migration, quarantineKind, IdentitySchema.undoCause, destination, platforms,
    IdentitySchema.moments, runEndings, quarantinedEvents,
  ]

  static var currentVersion: Int { migrations.count }

  static func migrate(_ db: Database) throws {
    let version = try Int.fetchOne(db, sql: "PRAGMA user_version") ?? 0
    for number in version..<max(version, currentVersion) {
      try db.inTransaction(.exclusive) {
        try db.execute(sql: migrations[number])
        // A PRAGMA takes no bound parameters; both numbers are constants of this type.
        try db.execute(sql: "PRAGMA application_id = \(applicationID)")
        try db.execute(sql: "PRAGMA user_version = \(number + 1)")
        return .commit
      }
    }
  }

  /// Chunks by status and by time.
  ///
  /// Not part of a step, because a first run makes them when it has stored all its chunks: while they come, they come in no order of
  /// time, and each transaction would touch, log and write every page of these indexes. Without them all is found, if slower.
  static let chunkIndexes = """
    CREATE INDEX IF NOT EXISTS chunk_by_status ON chunk (status, first, id, events, expired);
    CREATE INDEX IF NOT EXISTS chunk_by_time ON chunk (last, first);
    """

  /// Statuses and outcomes are the numbers of ``ChunkStatus`` and ``AttemptOutcome``, times are milliseconds since 1970.
  ///
  /// `pack` holds encoded blocks, several in a row, `chunk` one small row for each of them: a future request with its place in
  /// the pack. `series` and `rank` order the chunks of one batch. A device's `bucket` is the one that its
  /// records are read in, so that what is stored together stands together. `body_digest` is there once a chunk is frozen.
  private static let first = """
    CREATE TABLE report_key (
      bytes BLOB NOT NULL
    ) STRICT;
    INSERT INTO report_key (bytes) VALUES (randomblob(32));

    CREATE TABLE run (
      id INTEGER PRIMARY KEY,
      job TEXT NOT NULL,
      configuration_digest TEXT NOT NULL,
      started INTEGER NOT NULL,
      as_of INTEGER NOT NULL,
      finished INTEGER,
      counters TEXT
    ) STRICT;

    CREATE TABLE pack (
      id INTEGER PRIMARY KEY,
      chunks INTEGER NOT NULL,
      bytes BLOB NOT NULL
    ) STRICT;

    CREATE TABLE chunk (
      id INTEGER PRIMARY KEY,
      run INTEGER NOT NULL,
      series INTEGER NOT NULL,
      rank INTEGER NOT NULL,
      status INTEGER NOT NULL,
      events INTEGER NOT NULL,
      expired INTEGER NOT NULL,
      first INTEGER NOT NULL,
      last INTEGER NOT NULL,
      pack INTEGER,
      offset INTEGER NOT NULL,
      length INTEGER NOT NULL,
      body_bytes INTEGER NOT NULL,
      failures INTEGER NOT NULL DEFAULT 0,
      form INTEGER NOT NULL DEFAULT 0,
      body_digest BLOB,
      parent INTEGER,
      settled_run INTEGER,
      reason TEXT
    ) STRICT;

    CREATE TABLE service_mark (
      name TEXT PRIMARY KEY,
      value TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE event_exception (
      chunk INTEGER NOT NULL,
      ordinal INTEGER NOT NULL,
      status INTEGER NOT NULL,
      reason TEXT NOT NULL,
      PRIMARY KEY (chunk, ordinal)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE attempt (
      id INTEGER PRIMARY KEY,
      chunk INTEGER NOT NULL,
      number INTEGER NOT NULL,
      run INTEGER NOT NULL,
      body_digest BLOB NOT NULL,
      started INTEGER NOT NULL,
      finished INTEGER,
      outcome INTEGER,
      reason TEXT
    ) STRICT;
    CREATE INDEX attempt_by_chunk ON attempt (chunk);
    CREATE INDEX attempt_open ON attempt (chunk) WHERE outcome IS NULL;

    CREATE TABLE device (
      id INTEGER PRIMARY KEY,
      bucket INTEGER NOT NULL,
      name BLOB NOT NULL,
      version INTEGER NOT NULL,
      held INTEGER NOT NULL,
      due INTEGER,
      state BLOB NOT NULL,
      UNIQUE (bucket, name)
    ) STRICT;
    CREATE INDEX device_due ON device (bucket, due) WHERE due IS NOT NULL;
    CREATE INDEX device_holding ON device (held) WHERE held > 0;

    CREATE TABLE digest_segment (
      id INTEGER PRIMARY KEY,
      bucket INTEGER NOT NULL,
      first INTEGER NOT NULL,
      last INTEGER NOT NULL,
      digests BLOB NOT NULL
    ) STRICT;
    CREATE INDEX digest_by_bucket ON digest_segment (bucket, last, first);

    CREATE TABLE quarantine (
      id INTEGER PRIMARY KEY,
      run INTEGER NOT NULL,
      file TEXT NOT NULL,
      line INTEGER NOT NULL,
      offset INTEGER NOT NULL,
      reason TEXT NOT NULL,
      detail TEXT NOT NULL,
      raw BLOB NOT NULL,
      replayed_run INTEGER
    ) STRICT;
    CREATE INDEX quarantine_by_place ON quarantine (file, line);

    CREATE TABLE identity_check (
      id INTEGER PRIMARY KEY,
      run INTEGER NOT NULL,
      device TEXT NOT NULL,
      timestamp INTEGER NOT NULL,
      emission INTEGER NOT NULL,
      mobile_user_id TEXT NOT NULL,
      anonymous_id TEXT NOT NULL,
      recipient_id TEXT NOT NULL,
      finished_run INTEGER
    ) STRICT;
    CREATE INDEX identity_check_pending ON identity_check (timestamp, device, id) WHERE finished_run IS NULL;

    CREATE TABLE identity_check_column (
      check_id INTEGER NOT NULL,
      ordinal INTEGER NOT NULL,
      name TEXT NOT NULL,
      value TEXT NOT NULL,
      PRIMARY KEY (check_id, ordinal)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE identity_period (
      device BLOB NOT NULL,
      from_emission INTEGER NOT NULL,
      recipient_id TEXT NOT NULL,
      mobile_user_id TEXT NOT NULL,
      PRIMARY KEY (device, from_emission)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE location_update (
      device TEXT PRIMARY KEY,
      recipient_id TEXT NOT NULL,
      address TEXT NOT NULL,
      at INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    """

  /// Which input a quarantined line was read as; null for what is not a line.
  private static let quarantineKind = "ALTER TABLE quarantine ADD COLUMN kind INTEGER;"

  /// `destination` has one row at most: whom the events are for. A quarantined line ends by a replay or by a `resolution`; `seen_run`
  /// is the last run that read it as it is and refused it again.
  private static let destination = """
    CREATE TABLE destination (
      kind TEXT NOT NULL,
      address TEXT,
      list TEXT,
      is_used INTEGER NOT NULL DEFAULT 0
    ) STRICT;
    ALTER TABLE quarantine ADD COLUMN resolution TEXT;
    ALTER TABLE quarantine ADD COLUMN seen_run INTEGER;
    """

  /// What a chunk's events have in common that others lack, and how far the tables of the platform are.
  private static let platforms = """
    ALTER TABLE chunk ADD COLUMN grouping INTEGER NOT NULL DEFAULT 0;
    CREATE TABLE platform_schema (
      name TEXT PRIMARY KEY,
      steps INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    """

  /// How a run was asked and how it ended, with its report; and what the settings of a configuration were, secrets left out.
  private static let runEndings = """
    ALTER TABLE run ADD COLUMN mode TEXT;
    ALTER TABLE run ADD COLUMN exit INTEGER;
    ALTER TABLE run ADD COLUMN report BLOB;
    CREATE TABLE run_setting (
      configuration_digest TEXT NOT NULL,
      name TEXT NOT NULL,
      value TEXT NOT NULL,
      origin TEXT NOT NULL,
      PRIMARY KEY (configuration_digest, name)
    ) STRICT, WITHOUT ROWID;
    """

  /// A quarantined event as its platform keeps events; null for lines.
  private static let quarantinedEvents = "ALTER TABLE quarantine ADD COLUMN block BLOB;"

  /// Makes the tables of a platform, or adds what they lack.
  ///
  /// - Throws: ``StoreError/newer`` for tables of a later release.
  static func migrate(_ db: Database, _ format: StoreFormat, path: String) throws {
    guard !format.migrations.isEmpty else { return }
    let done =
      try Int.fetchOne(db, sql: "SELECT steps FROM platform_schema WHERE name = ?", arguments: [format.destination])
      ?? 0
    let known = format.migrations.count
    guard done >= 0 else {
      throw StoreError.damaged(path: path, detail: "its platform's tables have the number \(done)")
    }
    guard done <= known else { throw StoreError.newer(path: path, version: done, known: known) }
    guard done < known else { return }
    try db.inTransaction(.exclusive) {
      for step in format.migrations[done...] { try db.execute(sql: step) }
      try db.execute(
        sql: """
          INSERT INTO platform_schema (name, steps) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET steps = excluded.steps
          """, arguments: [format.destination, known])
      return .commit
    }
  }
}
