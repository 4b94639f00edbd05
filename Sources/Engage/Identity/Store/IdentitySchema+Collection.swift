import BatchStore

extension IdentitySchema {
  /// The statements that collect a part's results row by row, as ``IdentityRows`` would store them. A part has no
  /// look-ups or merges yet.
  ///
  /// Until all parts are collected, the tables whose names begin with `half_` keep the previous rows; nulls mean that
  /// there was no such row.
  static let collection = StoreFormat.Collection(
    appended: ["identity_check"], statements: keeping + statements, withdrawal: withdrawal,
    settlement: half.map { "DELETE FROM \($0)" })

  private static let half = [
    "half_identity_moment", "half_location_update", "half_identity_device", "half_identity_person",
  ]

  private static let personColumns =
    "person, mobile_user_id, device, first_seen, from_emission, state, recipient_id, known_as, run, file, line"

  private static let keeping = [
    """
    INSERT OR IGNORE INTO main.half_identity_moment (device, emission, of_emission)
    SELECT p.device, p.emission, m.of_emission FROM part.identity_moment AS p
    LEFT JOIN main.identity_moment AS m ON m.device = p.device AND m.emission = p.emission
    """,
    """
    INSERT OR IGNORE INTO main.half_location_update (device, mobile_user_id, recipient_id, address, at)
    SELECT p.device, p.mobile_user_id, m.recipient_id, m.address, m.at FROM part.location_update AS p
    LEFT JOIN main.location_update AS m ON m.device = p.device AND m.mobile_user_id = p.mobile_user_id
    """,
    """
    INSERT OR IGNORE INTO main.half_identity_device (device, from_emission)
    SELECT p.device, p.from_emission FROM part.identity_device AS p
    LEFT JOIN main.identity_device AS m ON m.device = p.device AND m.from_emission = p.from_emission
    WHERE m.device IS NULL
    """,
    """
    INSERT OR IGNORE INTO main.half_identity_person (\(personColumns))
    SELECT p.person, m.mobile_user_id, m.device, m.first_seen, m.from_emission, m.state, m.recipient_id, m.known_as, m.run, m.file,
      m.line
    FROM part.identity_person AS p LEFT JOIN main.identity_person AS m ON m.person = p.person
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
    "DELETE FROM location_update WHERE (device, mobile_user_id) IN (SELECT device, mobile_user_id FROM half_location_update)",
    "INSERT INTO location_update SELECT * FROM half_location_update WHERE at IS NOT NULL",
    "DELETE FROM identity_device WHERE (device, from_emission) IN (SELECT device, from_emission FROM half_identity_device)",
    "DELETE FROM identity_person WHERE person IN (SELECT person FROM half_identity_person)",
    "INSERT INTO identity_person SELECT * FROM half_identity_person WHERE state IS NOT NULL",
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
    INSERT INTO main.location_update (device, mobile_user_id, recipient_id, address, at)
    SELECT device, mobile_user_id, recipient_id, address, at FROM part.location_update WHERE true
    ON CONFLICT (device, mobile_user_id)
    DO UPDATE SET recipient_id = excluded.recipient_id, address = excluded.address, at = excluded.at
    WHERE excluded.at >= at
    """,
    // A device's first row in a part may merely repeat the person who is already known.
    """
    INSERT OR REPLACE INTO main.identity_device
      (device, from_emission, person, mobile_user_id, recipient_id, is_automatic, run)
    SELECT device, from_emission, person, mobile_user_id, recipient_id, is_automatic, ?1 FROM part.identity_device AS p
    WHERE EXISTS (SELECT 1 FROM part.identity_device WHERE device = p.device AND from_emission < p.from_emission)
      OR NOT EXISTS (
        SELECT 1 FROM main.identity_device AS m WHERE m.device = p.device AND m.person = p.person
          AND (p.recipient_id = '' OR p.recipient_id = m.recipient_id) AND m.from_emission = (
            SELECT max(from_emission) FROM main.identity_device WHERE device = p.device AND from_emission <= p.from_emission))
    """,
    """
    INSERT INTO main.identity_person (\(personColumns))
    SELECT person, mobile_user_id, device, first_seen, from_emission, state, recipient_id, known_as, ?1, file, line
    FROM part.identity_person WHERE true
    ON CONFLICT (person) DO UPDATE SET \(Identities.takingOver)
    """,
  ]
}
