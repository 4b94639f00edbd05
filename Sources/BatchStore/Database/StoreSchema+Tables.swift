/// The steps of ``StoreSchema``.
extension StoreSchema {
  /// Statuses and outcomes are the numbers of ``ChunkStatus`` and ``AttemptOutcome``. Times are milliseconds since
  /// 1970.
  ///
  /// A run's `mode`, `exit` and `report` are its kind, its exit code and its report. `reported_run` is the run whose
  /// report covers this run's unknown outcomes: the run itself, or a later one if it was killed; null until there is
  /// one. `known_until` is the known time, up to which all devices were processed; null while the run reads records,
  /// and for a run that reads none. `run_setting` has the settings of each configuration, without secrets. `input_file`
  /// has the files that runs read, each with the last run that read it; blocks refer to these files by number. A path
  /// has several numbers if parts were collected.
  ///
  /// `known_file` has the files whose lines were all accepted, with the times of their records (``KnownFile``). Its
  /// rows only save work, so they are deleted whenever the store may know fewer lines than before.
  ///
  /// `collected_partition` is the chain of partitions whose parts were collected, in order; `previous` is the identity
  /// of the partition that each one continues. `collected_part` has a row for each collected part. While parts are
  /// missing, `half_partition` has the last id of each table before the first of these parts was collected, so that
  /// they can be removed. `decided_part` has one row in the store of a part's result, and none in other stores.
  ///
  /// `pack` has several encoded blocks with their checksums (``BlockSums``). `chunk` has a small row for each block,
  /// which is a future request, with its place in the pack. `series` and `rank` order the chunks of one batch.
  /// `grouping` is the platform's group of its events. A device's `bucket` is the one in which its records are read, so
  /// that rows stored together are adjacent. `body_digest` is set once a chunk is frozen.
  ///
  /// `digest_segment` has the digests of accepted lines by bucket, and, in buckets from 256 on, those of record ids
  /// (``RecordIDs``). In the store of a part's result, the digests of earlier nights are in a `file` next to it
  /// (``DigestFile``): `lines` digests from byte `offset` on, verified by `sum`. These four columns are null if the
  /// digests are in the row.
  ///
  /// Each row of `state_segment` has the states of devices as one batch left them (``StateSegment``). It replaces the
  /// states that earlier rows have for the same devices.
  ///
  /// `device_night` has the nights of a bucket's devices within the rewind window, `night_run` the rules of each run
  /// (``StoredNight``), and `night_rules` the settings for each digest of rules. `event_change` has the events that a
  /// rewind changed, until ``Ledger/settleChanges(by:limits:)`` settles them. `correction` has the changed events
  /// that a service has, or may have, in an outdated version. Its `produced` is the event as the rules produced it when
  /// it was sent; if `is_moved` is set, only the number differs. A row with `chunk` 0 is about an event that was not
  /// sent: it is pending under a different number, because a sent event has its number.
  ///
  /// `known_since` has at most one row: the instant before which digests and states were purged. The `kind` of a
  /// quarantined line is the kind of input that it was read as, and null for anything else. A line is pending until it
  /// is replayed or gets a `resolution`; `seen_run` is the last run that read the unchanged line and refused it again.
  /// `block` is a quarantined event in its platform's format, and null for lines. `quarantine_overflow` counts lines
  /// that were not kept. `erasure` and the two tables after it are proofs: `code` is a keyed hash of an id, `mark` a
  /// short one (``PersonHash``), and `what` a status of events or a kind of rows. `destination` has at most one row,
  /// the service that the events are for. `platform_schema` has the number of steps that were run for a platform's
  /// tables.
  static let first = """
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
      known_until INTEGER,
      finished INTEGER,
      counters TEXT,
      mode TEXT,
      exit INTEGER,
      report BLOB,
      reported_run INTEGER
    ) STRICT;
    CREATE TABLE run_setting (
      configuration_digest TEXT NOT NULL,
      name TEXT NOT NULL,
      value TEXT NOT NULL,
      origin TEXT NOT NULL,
      PRIMARY KEY (configuration_digest, name)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE input_file (
      id INTEGER PRIMARY KEY,
      path TEXT NOT NULL,
      last_run INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX input_file_by_path ON input_file (path);

    CREATE TABLE known_file (
      proof BLOB PRIMARY KEY,
      size INTEGER NOT NULL,
      lines INTEGER NOT NULL,
      first INTEGER NOT NULL,
      last INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE collected_partition (
      id INTEGER PRIMARY KEY,
      identity TEXT NOT NULL UNIQUE,
      previous TEXT,
      parts INTEGER NOT NULL,
      configuration TEXT NOT NULL
    ) STRICT;
    CREATE TABLE collected_part (
      partition INTEGER NOT NULL,
      part INTEGER NOT NULL,
      run INTEGER NOT NULL,
      PRIMARY KEY (partition, part)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE half_partition (
      name TEXT PRIMARY KEY,
      last INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE decided_part (
      partition TEXT NOT NULL,
      part INTEGER NOT NULL
    ) STRICT;

    CREATE TABLE pack (
      id INTEGER PRIMARY KEY,
      chunks INTEGER NOT NULL,
      bytes BLOB NOT NULL,
      sums BLOB
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
      grouping INTEGER NOT NULL DEFAULT 0,
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
    CREATE INDEX attempt_unknown ON attempt (run) WHERE outcome = \(AttemptOutcome.unknown.rawValue);

    CREATE TABLE state_segment (
      id INTEGER PRIMARY KEY,
      bucket INTEGER NOT NULL,
      devices INTEGER NOT NULL,
      added INTEGER NOT NULL,
      held INTEGER NOT NULL,
      holding INTEGER NOT NULL,
      due INTEGER,
      states BLOB NOT NULL
    ) STRICT;
    CREATE INDEX state_by_bucket ON state_segment (bucket, devices, added, held, holding, due);

    CREATE TABLE digest_segment (
      id INTEGER PRIMARY KEY,
      bucket INTEGER NOT NULL,
      first INTEGER NOT NULL,
      last INTEGER NOT NULL,
      digests BLOB NOT NULL,
      file INTEGER,
      offset INTEGER,
      lines INTEGER,
      sum INTEGER
    ) STRICT;
    CREATE INDEX digest_by_bucket ON digest_segment (bucket, last, first);

    CREATE TABLE night_run (
      run INTEGER PRIMARY KEY,
      rules TEXT NOT NULL,
      known_before INTEGER,
      known INTEGER
    ) STRICT;
    CREATE TABLE night_rules (
      digest TEXT PRIMARY KEY,
      settings TEXT NOT NULL
    ) STRICT;
    CREATE TABLE device_night (
      id INTEGER PRIMARY KEY,
      bucket INTEGER NOT NULL,
      run INTEGER NOT NULL,
      until INTEGER NOT NULL,
      records INTEGER NOT NULL,
      nights BLOB NOT NULL
    ) STRICT;
    CREATE INDEX device_night_by_bucket ON device_night (bucket);

    CREATE TABLE event_change (
      id INTEGER PRIMARY KEY,
      run INTEGER NOT NULL,
      device BLOB NOT NULL,
      key BLOB NOT NULL,
      before_at INTEGER,
      before_emission INTEGER,
      before BLOB,
      after BLOB,
      file INTEGER NOT NULL,
      line INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX event_change_by_time ON event_change (run, before_at, device, key);
    CREATE TABLE correction (
      id INTEGER PRIMARY KEY,
      run INTEGER NOT NULL,
      device BLOB NOT NULL,
      key BLOB NOT NULL,
      chunk INTEGER NOT NULL,
      is_moved INTEGER NOT NULL,
      sent_at INTEGER NOT NULL,
      sent_emission INTEGER NOT NULL,
      sent BLOB NOT NULL,
      produced BLOB NOT NULL,
      right_at INTEGER,
      right_emission INTEGER,
      right BLOB,
      file INTEGER NOT NULL,
      line INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX correction_by_device ON correction (device);

    CREATE TABLE known_since (
      at INTEGER NOT NULL
    ) STRICT;

    CREATE TABLE quarantine (
      id INTEGER PRIMARY KEY,
      run INTEGER NOT NULL,
      file TEXT NOT NULL,
      line INTEGER NOT NULL,
      offset INTEGER NOT NULL,
      reason TEXT NOT NULL,
      detail TEXT NOT NULL,
      raw BLOB NOT NULL,
      kind INTEGER,
      seen_run INTEGER,
      replayed_run INTEGER,
      resolution TEXT,
      block BLOB
    ) STRICT;
    CREATE INDEX quarantine_by_place ON quarantine (file, line);
    CREATE TABLE quarantine_overflow (
      run INTEGER NOT NULL,
      file TEXT NOT NULL,
      reason TEXT NOT NULL,
      lines INTEGER NOT NULL,
      PRIMARY KEY (run, file, reason)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE erasure (
      id INTEGER PRIMARY KEY,
      at INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE erased_id (
      erasure INTEGER NOT NULL,
      kind TEXT NOT NULL,
      code BLOB NOT NULL,
      mark INTEGER NOT NULL,
      is_refused INTEGER NOT NULL,
      PRIMARY KEY (erasure, kind, code)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE erased_count (
      erasure INTEGER NOT NULL,
      what TEXT NOT NULL,
      count INTEGER NOT NULL,
      PRIMARY KEY (erasure, what)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE destination (
      kind TEXT NOT NULL,
      address TEXT,
      share TEXT,
      is_used INTEGER NOT NULL DEFAULT 0
    ) STRICT;

    CREATE TABLE platform_schema (
      name TEXT PRIMARY KEY,
      steps INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    """

  /// Adds the window that a run was to read. A bound is null if the window is open on that side, or if the release that
  /// wrote the row did not record it.
  static let windows = """
    ALTER TABLE run ADD COLUMN window_from INTEGER;
    ALTER TABLE run ADD COLUMN window_to INTEGER;
    """
}
