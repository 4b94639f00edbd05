import BatchFoundation
package import BatchStore
package import EngageEvents
package import GRDB

/// What the rules of a batch found for identities.
package struct IdentityRows: PlatformRows {
  package var checks: [IdentityCheck] = []
  package var moments: [IdentityMoment] = []
  /// Devices that identity has to know of; empty when it is off.
  package var setups: [DeviceSetup] = []
  package var locations: [LastKnownLocation] = []

  package init(
    checks: [IdentityCheck] = [], moments: [IdentityMoment] = [], setups: [DeviceSetup] = [],
    locations: [LastKnownLocation] = []
  ) {
    self.checks = checks
    self.moments = moments
    self.setups = setups
    self.locations = locations
  }

  package var isEmpty: Bool { checks.isEmpty && moments.isEmpty && setups.isEmpty && locations.isEmpty }

  package var byteCount: Int { 0 }

  package mutating func add(_ more: IdentityRows) {
    checks += more.checks
    moments += more.moments
    setups += more.setups
    locations += more.locations
  }

  package func insert(run: RunID, into db: Database) throws {
    try EventStore.insert(setups, into: db)
    try Self.insert(checks, run: run, into: db)
    try Self.insert(moments, into: db)
    try Self.insert(locations, into: db)
  }

  private static func insert(_ checks: [IdentityCheck], run: RunID, into db: Database) throws {
    for check in checks {
      try db.execute(
        sql: """
          INSERT INTO identity_check
            (run, device, timestamp, emission, mobile_user_id, anonymous_id, recipient_id, file, line)
          VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
          """,
        arguments: [
          run.number, check.device, check.timestamp.milliseconds, check.emission, check.mobileUserId,
          check.anonymousId, check.recipientId, check.source?.file ?? "", Int64(bitPattern: check.source?.line ?? 0),
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
      try db.cachedStatement(sql: "INSERT OR REPLACE INTO identity_moment (device, emission, as_of) VALUES (?, ?, ?)")
        .execute(arguments: [moment.device.blob, moment.emission, moment.asOf])
    }
  }

  private static func insert(_ locations: [LastKnownLocation], into db: Database) throws {
    for location in locations {
      try db.execute(
        sql: """
          INSERT INTO location_update (device, recipient_id, address, at) VALUES (?, ?, ?, ?)
          ON CONFLICT (device) DO UPDATE SET recipient_id = excluded.recipient_id, address = excluded.address,
            at = excluded.at
          WHERE excluded.at >= at
          """,
        arguments: [location.device, location.recipientId, location.address, location.at.milliseconds])
    }
  }
}
