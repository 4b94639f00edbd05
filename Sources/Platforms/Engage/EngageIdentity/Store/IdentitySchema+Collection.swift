import BatchStore

extension IdentitySchema {
  /// What the rules found of the devices of a part, as ``IdentityRows`` and ``KnownDevice/take(_:)`` add it row by row. Nothing was
  /// asked or merged there yet.
  ///
  /// What a device had before stays in the tables named `half_` until all parts are there: nulls for a row that was not.
  static let collection = StoreFormat.Collection(
    appended: ["identity_check"], statements: keeping + statements, withdrawal: withdrawal,
    settlement: half.map { "DELETE FROM \($0)" })

  private static let half = ["half_identity_moment", "half_location_update", "half_identity_device"]

  private static let keeping = [
    """
    INSERT OR IGNORE INTO main.half_identity_moment (device, emission, of_emission)
    SELECT p.device, p.emission, m.of_emission FROM part.identity_moment AS p
    LEFT JOIN main.identity_moment AS m ON m.device = p.device AND m.emission = p.emission
    """,
    """
    INSERT OR IGNORE INTO main.half_location_update (device, recipient_id, address, at)
    SELECT p.device, m.recipient_id, m.address, m.at FROM part.location_update AS p
    LEFT JOIN main.location_update AS m ON m.device = p.device
    """,
    """
    INSERT OR IGNORE INTO main.half_identity_device
      (device, first_seen, state, recorded_recipient_id, recorded_mobile_user_id, recipient_id, mobile_user_id, file, line,
        set_up_as)
    SELECT p.device, m.first_seen, m.state, m.recorded_recipient_id, m.recorded_mobile_user_id, m.recipient_id,
      m.mobile_user_id, m.file, m.line, m.set_up_as
    FROM part.identity_device AS p LEFT JOIN main.identity_device AS m ON m.device = p.device
    """,
  ]

  private static let withdrawal = [
    """
    DELETE FROM identity_check_column
    WHERE check_id > (SELECT last FROM half_partition WHERE name = 'identity_check')
    """,
    """
    DELETE FROM identity_moment
    WHERE EXISTS (
      SELECT 1 FROM half_identity_moment AS h
      WHERE h.device = identity_moment.device AND h.emission = identity_moment.emission)
    """,
    "INSERT INTO identity_moment SELECT * FROM half_identity_moment WHERE of_emission IS NOT NULL",
    "DELETE FROM location_update WHERE device IN (SELECT device FROM half_location_update)",
    "INSERT INTO location_update SELECT * FROM half_location_update WHERE at IS NOT NULL",
    "DELETE FROM identity_device WHERE device IN (SELECT device FROM half_identity_device)",
    "INSERT INTO identity_device SELECT * FROM half_identity_device WHERE state IS NOT NULL",
  ]

  private static let statements = [
    """
    INSERT INTO main.identity_check_column (check_id, ordinal, name, value)
    SELECT check_id + (SELECT coalesce(max(id), 0) FROM main.identity_check), ordinal, name, value
    FROM part.identity_check_column
    """,
    """
    INSERT INTO main.identity_check
      (id, run, device, timestamp, emission, mobile_user_id, anonymous_id, recipient_id, file, line, instruction, target)
    SELECT id + (SELECT coalesce(max(id), 0) FROM main.identity_check), ?1, device, timestamp, emission, mobile_user_id,
      anonymous_id, recipient_id, file, line, instruction, target
    FROM part.identity_check ORDER BY id
    """,
    """
    INSERT OR REPLACE INTO main.identity_moment (device, emission, of_emission)
    SELECT device, emission, of_emission FROM part.identity_moment
    """,
    """
    INSERT INTO main.location_update (device, recipient_id, address, at)
    SELECT device, recipient_id, address, at FROM part.location_update WHERE true
    ON CONFLICT (device) DO UPDATE SET recipient_id = excluded.recipient_id, address = excluded.address, at = excluded.at
    WHERE excluded.at >= at
    """,
    """
    INSERT INTO main.identity_device
      (device, first_seen, state, recorded_recipient_id, recorded_mobile_user_id, recipient_id, mobile_user_id, file, line)
    SELECT device, first_seen, state, recorded_recipient_id, recorded_mobile_user_id, recipient_id, mobile_user_id, file, line
    FROM part.identity_device WHERE true
    ON CONFLICT (device) DO UPDATE SET
      state = CASE
        WHEN \(isNew("recipient_id")) THEN \(DeviceProgress.waiting.rawValue)
        WHEN state = \(DeviceProgress.impossible.rawValue) AND \(isNew("mobile_user_id"))
          THEN \(DeviceProgress.waiting.rawValue)
        WHEN state = \(DeviceProgress.added.rawValue) AND \(isNew("mobile_user_id")) THEN \(DeviceProgress.ready.rawValue)
        ELSE state END,
      set_up_as = CASE
        WHEN \(isNew("recipient_id")) THEN ''
        WHEN set_up_as = '' AND recipient_id <> '' AND \(isNew("mobile_user_id")) THEN mobile_user_id
        ELSE set_up_as END,
      recipient_id = \(taken("recipient_id", for: "recipient_id")),
      recorded_recipient_id = \(taken("recipient_id", for: "recorded_recipient_id")),
      mobile_user_id = \(taken("mobile_user_id", for: "mobile_user_id")),
      recorded_mobile_user_id = \(taken("mobile_user_id", for: "recorded_mobile_user_id"))
    """,
  ]

  /// Whether records say an id that they did not say before.
  private static func isNew(_ id: String) -> String {
    "(excluded.recorded_\(id) <> '' AND excluded.recorded_\(id) <> recorded_\(id))"
  }

  private static func taken(_ id: String, for column: String) -> String {
    "CASE WHEN \(isNew(id)) THEN excluded.recorded_\(id) ELSE \(column) END"
  }
}
