package import BatchStore
import EngageRules
import GRDB

/// The tables of devices, identity checks, merge plans, their journal and their locks (reference identity 5.6), as
/// numbered steps that are never edited after a release.
enum IdentitySchema {
  static let migrations: [String] = [first]

  /// An SQL condition that is true if data other than events may have passed between the store and Engage.
  static let footprint = """
    EXISTS (SELECT 1 FROM merge_plan) OR EXISTS (SELECT 1 FROM identity_person WHERE state IN
      (\(SetUpProgress.adding.rawValue), \(SetUpProgress.ready.rawValue), \(SetUpProgress.added.rawValue)))
    """

  /// `identity_person.state` contains the numbers of ``SetUpProgress``; `merge_plan.state`, `scenario` and
  /// `undo_cause`, `merge_journal.entry` and `step` contain words, as shown to an operator. `identity_moment` contains
  /// events that carry the identity of their device at an earlier moment; see ``IdentityMoment``. `file` and `line`
  /// name the record that requests a check or first names a person; '' and 0 if there is none. `instruction` and
  /// `target` are those of ``ContactInstruction``, null and '' for an `identify` record. `location_written` contains
  /// the time and the device of the location written to each recipient.
  ///
  /// `identity_device` contains the person whom a device records from an emission number on, `identity_person` the
  /// recipient of each mobile user id and the device that first named it. `person` is the ``Person/key(_:)`` of a
  /// mobile user id. `known_as` is the mobile user id of the recipient into which the person's own was merged
  /// elsewhere. The recipient of a `merge_plan` that `is_void` no longer exists, so the plan determines no identity.
  ///
  /// `merge_journal` is append-only. `recipient_lock` contains the recipients of plans that have not ended.
  private static let first = """
    CREATE TABLE identity_check (
      id INTEGER PRIMARY KEY,
      run INTEGER NOT NULL,
      device TEXT NOT NULL,
      timestamp INTEGER NOT NULL,
      emission INTEGER NOT NULL,
      mobile_user_id TEXT NOT NULL,
      anonymous_id TEXT NOT NULL,
      recipient_id TEXT NOT NULL,
      finished_run INTEGER,
      file TEXT NOT NULL DEFAULT '',
      line INTEGER NOT NULL DEFAULT 0,
      instruction TEXT,
      target TEXT NOT NULL DEFAULT ''
    ) STRICT;
    CREATE INDEX identity_check_pending ON identity_check (timestamp, device, id) WHERE finished_run IS NULL;
    CREATE INDEX identity_check_by_device ON identity_check (device, timestamp);

    CREATE TABLE identity_check_column (
      check_id INTEGER NOT NULL,
      ordinal INTEGER NOT NULL,
      name TEXT NOT NULL,
      value TEXT NOT NULL,
      PRIMARY KEY (check_id, ordinal)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE location_update (
      device TEXT NOT NULL,
      mobile_user_id TEXT NOT NULL,
      recipient_id TEXT NOT NULL,
      address TEXT NOT NULL,
      at INTEGER NOT NULL,
      PRIMARY KEY (device, mobile_user_id)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE location_written (
      recipient_id TEXT PRIMARY KEY,
      at INTEGER NOT NULL,
      device TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE identity_device (
      device TEXT NOT NULL,
      from_emission INTEGER NOT NULL,
      person TEXT NOT NULL,
      mobile_user_id TEXT NOT NULL,
      recipient_id TEXT NOT NULL,
      is_automatic INTEGER NOT NULL,
      run INTEGER NOT NULL,
      PRIMARY KEY (device, from_emission)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX identity_device_by_person ON identity_device (person);
    CREATE INDEX identity_device_by_recipient ON identity_device (recipient_id);
    CREATE INDEX identity_device_by_run ON identity_device (run);

    CREATE TABLE identity_person (
      person TEXT PRIMARY KEY,
      mobile_user_id TEXT NOT NULL,
      device TEXT NOT NULL,
      first_seen INTEGER NOT NULL,
      from_emission INTEGER NOT NULL,
      state INTEGER NOT NULL,
      recipient_id TEXT NOT NULL,
      known_as TEXT NOT NULL,
      run INTEGER NOT NULL,
      file TEXT NOT NULL,
      line INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX identity_person_due ON identity_person (first_seen, device, person) WHERE state < 2;
    CREATE INDEX identity_person_by_device ON identity_person (device);
    CREATE INDEX identity_person_by_recipient ON identity_person (recipient_id);

    CREATE TABLE merge_plan (
      id INTEGER PRIMARY KEY,
      merge_key TEXT NOT NULL,
      scenario TEXT NOT NULL,
      state TEXT NOT NULL,
      reason TEXT NOT NULL,
      list TEXT NOT NULL,
      loser TEXT NOT NULL,
      winner TEXT NOT NULL,
      date TEXT NOT NULL,
      device TEXT NOT NULL,
      check_id INTEGER,
      emission INTEGER NOT NULL,
      recipient_before TEXT NOT NULL,
      user_before TEXT NOT NULL,
      recipient_after TEXT NOT NULL,
      user_after TEXT NOT NULL,
      run INTEGER NOT NULL,
      created INTEGER NOT NULL,
      undo_cause TEXT,
      keeps_history INTEGER NOT NULL DEFAULT 0,
      is_void INTEGER NOT NULL DEFAULT 0
    ) STRICT;
    CREATE INDEX merge_plan_by_state ON merge_plan (state) WHERE state NOT IN ('done', 'undone', 'dropped');
    CREATE INDEX merge_plan_by_device ON merge_plan (device, id);
    CREATE INDEX merge_plan_by_check ON merge_plan (check_id);
    CREATE INDEX merge_plan_by_recipients ON merge_plan (loser, winner);

    CREATE TABLE merge_plan_id (
      plan INTEGER NOT NULL,
      ordinal INTEGER NOT NULL,
      name TEXT NOT NULL,
      value TEXT NOT NULL,
      PRIMARY KEY (plan, ordinal)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE merge_step (
      plan INTEGER NOT NULL,
      ordinal INTEGER NOT NULL,
      name TEXT NOT NULL,
      target TEXT NOT NULL,
      PRIMARY KEY (plan, ordinal)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE merge_step_column (
      plan INTEGER NOT NULL,
      step INTEGER NOT NULL,
      ordinal INTEGER NOT NULL,
      name TEXT NOT NULL,
      before TEXT NOT NULL,
      after TEXT NOT NULL,
      is_date INTEGER NOT NULL,
      PRIMARY KEY (plan, step, ordinal)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE merge_journal (
      id INTEGER PRIMARY KEY,
      plan INTEGER NOT NULL,
      entry TEXT NOT NULL,
      step TEXT NOT NULL
    ) STRICT;
    CREATE INDEX merge_journal_by_plan ON merge_journal (plan, id);

    CREATE TABLE recipient_lock (
      recipient TEXT PRIMARY KEY,
      plan INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE merge_refusal (
      list TEXT NOT NULL,
      loser TEXT NOT NULL,
      winner TEXT NOT NULL,
      PRIMARY KEY (list, loser, winner)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE identity_moment (
      device BLOB NOT NULL,
      emission INTEGER NOT NULL,
      of_emission INTEGER NOT NULL,
      PRIMARY KEY (device, emission)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE half_identity_moment (
      device BLOB NOT NULL,
      emission INTEGER NOT NULL,
      of_emission INTEGER,
      PRIMARY KEY (device, emission)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE half_location_update (
      device TEXT NOT NULL,
      mobile_user_id TEXT NOT NULL,
      recipient_id TEXT,
      address TEXT,
      at INTEGER,
      PRIMARY KEY (device, mobile_user_id)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE half_identity_device (
      device TEXT NOT NULL,
      from_emission INTEGER NOT NULL,
      PRIMARY KEY (device, from_emission)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE half_identity_person (
      person TEXT PRIMARY KEY,
      mobile_user_id TEXT,
      device TEXT,
      first_seen INTEGER,
      from_emission INTEGER,
      state INTEGER,
      recipient_id TEXT,
      known_as TEXT,
      run INTEGER,
      file TEXT,
      line INTEGER
    ) STRICT, WITHOUT ROWID;
    """
}

extension StoreFormat {
  /// The format of a store for Engage: its events and the identity tables.
  package static let engage = StoreFormat(
    destination: "engage", wireForm: WireForm.engage, migrations: IdentitySchema.migrations,
    amendment: PublishedIdentities(), footprint: IdentitySchema.footprint, personal: PersonalIdentities(),
    collection: IdentitySchema.collection)
}

extension EventStore {
  package var merges: MergeJournal { MergeJournal(connection: connection) }
  package var identities: Identities { Identities(connection: connection) }
}

extension StoreConnection {
  /// Reads Engage's tables; returns `none` for a store of a different platform, which does not have them.
  func readIdentities<Value>(orElse none: Value, _ body: (Database) throws -> Value) throws -> Value {
    guard format.destination == StoreFormat.engage.destination else { return none }
    return try read(body)
  }
}

extension EventStore {
  private static let identityTables = [
    "identity_check", "identity_check_column", "identity_device", "identity_person", "merge_plan", "merge_plan_id",
    "merge_step", "merge_step_column", "merge_journal", "recipient_lock", "merge_refusal", "location_update",
    "location_written",
  ]

  /// Returns an in-memory store with everything that this one knows about identities, for planning a run.
  package func planningCopy() throws -> EventStore {
    let copy = try EventStore.temporary(format: format)
    for table in Self.identityTables {
      // Table names cannot be bound as parameters; these are constants of this type.
      let rows = try read { try Row.fetchAll($0, sql: "SELECT * FROM \(table)") }
      guard let first = rows.first else { continue }
      let places = Array(repeating: "?", count: first.count).joined(separator: ", ")
      try copy.write { db in
        let statement = try db.makeStatement(sql: "INSERT INTO \(table) VALUES (\(places))")
        for row in rows { try statement.execute(arguments: StatementArguments(row.databaseValues)) }
      }
    }
    return copy
  }
}
