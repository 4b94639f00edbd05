/// The tables of devices, merge plans, their journal and their locks (reference identity 5.6).
enum IdentitySchema {
  /// `state` are the numbers of ``DeviceProgress``; `merge_plan.state` and `scenario`, `merge_journal.entry` and `step` are words,
  /// as an operator reads them.
  ///
  /// `merge_journal` is only ever appended to. `recipient_lock` holds the recipients of plans that are not ended.
  static let migration = """
    ALTER TABLE identity_period ADD COLUMN fills_only INTEGER NOT NULL DEFAULT 0;

    CREATE TABLE identity_device (
      device TEXT PRIMARY KEY,
      first_seen INTEGER NOT NULL,
      state INTEGER NOT NULL,
      recorded_recipient_id TEXT NOT NULL,
      recorded_mobile_user_id TEXT NOT NULL,
      recipient_id TEXT NOT NULL,
      mobile_user_id TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX identity_device_waiting ON identity_device (first_seen, device) WHERE state < 2;
    CREATE INDEX identity_device_by_user ON identity_device (mobile_user_id);

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
      created INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX merge_plan_by_state ON merge_plan (state) WHERE state NOT IN ('done', 'undone', 'dropped');
    CREATE INDEX merge_plan_by_device ON merge_plan (device, id);
    CREATE INDEX merge_plan_by_check ON merge_plan (check_id);

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
    """

  /// Why a plan is taken back, which was told by its reason before.
  static let undoCause = """
    ALTER TABLE merge_plan ADD COLUMN undo_cause TEXT;
    UPDATE merge_plan SET undo_cause = iif(reason = 'undone by an operator', 'operator', 'refused-step')
    WHERE state IN ('undoing', 'undone');
    """

  /// Events that carry who their device was at an earlier moment; see ``IdentityMoment``.
  static let moments = """
    CREATE TABLE identity_moment (
      device BLOB NOT NULL,
      emission INTEGER NOT NULL,
      as_of INTEGER NOT NULL,
      PRIMARY KEY (device, emission)
    ) STRICT, WITHOUT ROWID;
    """
}
