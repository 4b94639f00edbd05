import BatchFoundation
package import BatchStore
package import EngageRules
package import GRDB

/// A batch of the rules' results for identities.
package struct IdentityRows: PlatformRows {
  package var checks: [IdentityCheck] = []
  package var moments: [IdentityMoment] = []
  /// The set-ups of devices; empty if identity is off.
  package var setups: [DeviceSetup] = []
  package var locations: [LastKnownLocation] = []

  package var isEmpty: Bool { checks.isEmpty && moments.isEmpty && setups.isEmpty && locations.isEmpty }

  package var byteCount: Int { 0 }

  package mutating func add(_ more: any PlatformRows) {
    guard let more = more as? IdentityRows else { return }
    checks += more.checks
    moments += more.moments
    setups += more.setups
    locations += more.locations
  }

  package func insert(run: RunID, into db: Database) throws {
    // A check also names the person whom its device records from then on.
    try Identities.insert(setups + checks.map(\.setup), run: run, into: db)
    try Self.insert(checks, run: run, into: db)
    try Self.insert(moments, into: db)
    try Self.insert(locations, into: db)
  }

  /// Returns the rows without known set-ups and checks; nil if nothing is left. Checks are equal if they have the same
  /// instant, instruction, ids and record, regardless of emission numbers.
  package func without(_ known: any PlatformRows) -> (any PlatformRows)? {
    guard let known = known as? IdentityRows else { return self }
    var rows = self
    rows.checks.removeAll { check in
      known.checks.contains {
        $0.timestamp == check.timestamp && $0.instruction == check.instruction && $0.ids == check.ids
          && $0.source == check.source
      }
    }
    rows.setups.removeAll { known.setups.contains($0) }
    return rows.isEmpty ? nil : rows
  }

  /// Returns the checks in the span that the store lacks, and the people whom devices were not known to record; nil if
  /// there are none. Moments and locations are left out.
  package func unknown(of span: ReplacedSpan, in db: Database) throws -> (any PlatformRows)? {
    var rows = IdentityRows()
    rows.checks = try checks.filter { check in
      try span.contains(check.timestamp) && !span.excluded.contains(Array(check.device.utf8))
        && !Self.knows(check, in: db)
    }
    rows.setups = try setups.filter { try span.contains($0.firstSeen) && Identities.isNews($0, in: db) }
    return rows.isEmpty ? nil : rows
  }

  private static func knows(_ check: IdentityCheck, in db: Database) throws -> Bool {
    let wanted = check.ids.map { [$0.name, $0.value] }
    let known = try Int64.fetchAll(
      db.cachedStatement(
        sql: """
          SELECT id FROM identity_check
          WHERE device = ? AND timestamp = ? AND mobile_user_id = ? AND anonymous_id = ? AND recipient_id = ?
            AND instruction IS ? AND target = ?
          """),
      arguments: [
        check.device, check.timestamp.milliseconds, check.mobileUserId, check.anonymousId, check.recipientId,
        check.instruction?.name, check.instruction?.target ?? "",
      ])
    return try known.contains { id in
      try Row.fetchAll(
        db.cachedStatement(sql: "SELECT name, value FROM identity_check_column WHERE check_id = ? ORDER BY ordinal"),
        arguments: [id]
      ).map { [try $0.value("name") as String, try $0.value("value")] } == wanted
    }
  }

  private static func insert(_ checks: [IdentityCheck], run: RunID, into db: Database) throws {
    for check in checks {
      try db.execute(
        sql: """
          INSERT INTO identity_check
            (run, device, timestamp, emission, mobile_user_id, anonymous_id, recipient_id, file, line, instruction, target)
          VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
          """,
        arguments: [
          run.number, check.device, check.timestamp.milliseconds, check.emission, check.mobileUserId,
          check.anonymousId, check.recipientId, check.source?.file ?? "", Int64(bitPattern: check.source?.line ?? 0),
          check.instruction?.name, check.instruction?.target ?? "",
        ])
      let id = db.lastInsertedRowID
      for (ordinal, column) in check.ids.enumerated() {
        try db.execute(
          sql: "INSERT INTO identity_check_column (check_id, ordinal, name, value) VALUES (?, ?, ?, ?)",
          arguments: [id, ordinal, column.name, column.value])
      }
    }
  }

  private static func insert(_ moments: [IdentityMoment], into db: Database) throws {
    for moment in moments {
      try db.cachedStatement(
        sql: "INSERT OR REPLACE INTO identity_moment (device, emission, of_emission) VALUES (?, ?, ?)"
      )
      .execute(arguments: [moment.device.blob, moment.emission, moment.asOf])
    }
  }

  private static func insert(_ locations: [LastKnownLocation], into db: Database) throws {
    for location in locations {
      try db.execute(
        sql: """
          INSERT INTO location_update (device, mobile_user_id, recipient_id, address, at) VALUES (?, ?, ?, ?, ?)
          ON CONFLICT (device, mobile_user_id) DO UPDATE SET recipient_id = excluded.recipient_id, address = excluded.address,
            at = excluded.at
          WHERE excluded.at >= at
          """,
        arguments: [
          location.device, location.mobileUserId, location.recipientId, location.address, location.at.milliseconds,
        ])
    }
  }
}

extension IdentityCheck {
  fileprivate var setup: DeviceSetup {
    DeviceSetup(
      device: device, firstSeen: timestamp, fromEmission: emission + 1, mobileUserId: mobileUserId,
      recipientId: recipientId, source: source)
  }
}
