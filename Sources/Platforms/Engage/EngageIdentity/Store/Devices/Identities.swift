package import BatchFoundation
package import BatchStore
package import EngageEvents
import GRDB

/// How far the set-up of a device is.
package enum DeviceProgress: Int, Sendable {
  case waiting = 0
  /// A recipient may have been added; whether it was is to be read before another is.
  case adding = 1
  case ready = 2
  /// Without a mobile user id and without the right to make one.
  case impossible = 3
  /// Ready, and its recipient is whom the answer to an addition named: nobody has read yet whose it is.
  case added = 4
}

/// Who a device is, as far as the store knows: what its records said last, and what was found out since.
package struct KnownDevice: Sendable, Equatable {
  package var device: String
  package var firstSeen: Instant
  package var progress = DeviceProgress.waiting
  package var recorded = DeviceIdentity()
  package var identity = DeviceIdentity()
  /// The mobile user id with which it got its recipient; empty if that is the one it has.
  package var setUpAs = ""

  /// Takes over what records say. An id that they did not say before replaces what was found out earlier.
  package mutating func take(_ said: DeviceIdentity) {
    if !said.recipientId.isEmpty, !said.recipientId.isIdentical(to: recorded.recipientId) {
      recorded.recipientId = said.recipientId
      identity.recipientId = said.recipientId
      progress = .waiting
    }
    if !said.mobileUserId.isEmpty, !said.mobileUserId.isIdentical(to: recorded.mobileUserId) {
      recorded.mobileUserId = said.mobileUserId
      if progress == .impossible { progress = .waiting }
      // Whom its recipient was added for is known no more, but of an automatic id.
      if progress == .added, !identity.mobileUserId.isIdentical(to: AutomaticMobileUserId.id(of: device)) {
        progress = .ready
      }
      identity.mobileUserId = said.mobileUserId
    }
  }
}

/// Who devices are at the service: checks that wait, devices, recipients, and what was published to events.
package struct Identities: Sendable {
  let connection: StoreConnection

  /// Notes devices that a run has seen; known ones keep what was found out about them.
  package func note(_ setups: [DeviceSetup]) throws {
    if setups.isEmpty { return }
    try connection.writeTogether { try Self.insert(setups, into: $0) }
  }

  static func insert(_ setups: [DeviceSetup], into db: Database) throws {
    for setup in setups {
      var known = try device(setup.device, in: db) ?? KnownDevice(device: setup.device, firstSeen: setup.firstSeen)
      known.take(DeviceIdentity(recipientId: setup.recipientId, mobileUserId: setup.mobileUserId))
      try save(known, first: setup.source, in: db)
    }
  }

  package func device(_ device: String) throws -> KnownDevice? {
    try connection.read { try Self.device(device, in: $0) }
  }

  /// The record that asked for a plan, for a set-up the first one of its device; nil where nobody kept it, as that of a place.
  package func recordSource(of plan: MergePlan) throws -> RecordSource? {
    plan.scenario == .location ? nil : try recordSource(ofCheck: plan.checkId, of: plan.device)
  }

  /// The record that asked for a check, or without one the first record of the device; nil where nobody kept it.
  package func recordSource(ofCheck check: Int64?, of device: String) throws -> RecordSource? {
    try connection.read { db in
      let row =
        if let check {
          try Row.fetchOne(db, sql: "SELECT file, line FROM identity_check WHERE id = ?", arguments: [check])
        } else {
          try Row.fetchOne(db, sql: "SELECT file, line FROM identity_device WHERE device = ?", arguments: [device])
        }
      return try row.flatMap { try Self.recordSource($0.value("file"), $0.value("line")) }
    }
  }

  static func recordSource(_ file: String, _ line: Int64) -> RecordSource? {
    file.isEmpty ? nil : RecordSource(file: file, line: UInt64(bitPattern: line))
  }

  /// Every device with a recipient, by recipient and device.
  package func devicesWithRecipient() throws -> [KnownDevice] {
    try connection.read { db in
      try Row.fetchAll(
        db,
        sql: """
          SELECT \(Self.deviceColumns), set_up_as FROM identity_device
          WHERE recipient_id <> '' AND state IN (?, ?) ORDER BY recipient_id, device
          """, arguments: [DeviceProgress.ready.rawValue, DeviceProgress.added.rawValue]
      ).map { row in
        var device = try Self.device(row)
        device.setUpAs = try row.value("set_up_as")
        return device
      }
    }
  }

  /// Forgets a recipient that the service has no more: the next run gives its devices another one.
  ///
  /// - Returns: how many devices had it.
  package func forgetRecipient(_ recipient: String) throws -> Int {
    try connection.writeTogether { db in
      try db.execute(sql: "DELETE FROM identity_period WHERE recipient_id = ?", arguments: [recipient])
      try db.execute(
        sql: """
          UPDATE identity_device SET recipient_id = '', recorded_recipient_id = '', state = ? WHERE recipient_id = ?
          """, arguments: [DeviceProgress.waiting.rawValue, recipient])
      return db.changesCount
    }
  }

  /// Takes a recipient back that answers to additions named, and that is another's: its devices may have one that is to be looked for.
  func withdrawAddition(of recipient: String) throws {
    try connection.writeTogether { db in
      let added = "recipient_id = ? AND state = \(DeviceProgress.added.rawValue)"
      try db.execute(
        sql: """
          DELETE FROM identity_period WHERE recipient_id = ?
            AND device IN (SELECT CAST(device AS BLOB) FROM identity_device WHERE \(added))
          """, arguments: [recipient, recipient])
      try db.execute(
        sql: "UPDATE identity_device SET recipient_id = '', state = ? WHERE \(added)",
        arguments: [DeviceProgress.adding.rawValue, recipient])
    }
  }

  /// Another device with this mobile user id that has a recipient.
  package func device(withUser mobileUserId: String) throws -> KnownDevice? {
    try connection.read { db in
      try Row.fetchOne(
        db.cachedStatement(
          sql: """
            SELECT \(Self.deviceColumns) FROM identity_device
            WHERE mobile_user_id = ? AND recipient_id <> '' ORDER BY first_seen, device LIMIT 1
            """), arguments: [mobileUserId]
      ).map { try Self.device($0) }
    }
  }

  /// Whether a device with another mobile user id has this recipient, or had it before it moved to another. Ids are compared without regard
  /// to the case of ASCII letters.
  package func knows(recipient: String, ofAnotherUserThan mobileUserId: String) throws -> Bool {
    try connection.read { db in
      try Int.fetchOne(
        db.cachedStatement(
          sql: """
            SELECT 1 FROM identity_device
            WHERE recipient_id = ?1 AND mobile_user_id <> '' AND lower(mobile_user_id) <> lower(?2)
            UNION ALL SELECT 1 FROM merge_plan
            WHERE loser = ?1 AND user_before <> '' AND lower(user_before) <> lower(?2) LIMIT 1
            """), arguments: [recipient, mobileUserId]) != nil
    }
  }

  package func save(_ devices: [KnownDevice]) throws {
    try connection.writeTogether { db in for device in devices { try Self.save(device, in: db) } }
  }

  /// Stores who a device turned out to be, for all its events that name no recipient, and finishes checks with it.
  package func finishSetup(_ device: KnownDevice) throws {
    try connection.writeTogether { db in
      try Self.save(device, in: db)
      try MergeJournal.endRefusals(of: device.device, in: db)
      try Self.publish(
        [
          IdentityPeriod(
            device: Array(device.device.utf8), fromEmission: 0, recipientId: device.identity.recipientId,
            mobileUserId: "", fillsOnly: true)
        ], into: db)
    }
  }

  /// Ends a check that needs no plan, for a device that is who it was.
  package func finish(_ check: PendingCheck, as device: KnownDevice, run: RunID) throws {
    try connection.writeTogether { db in
      try Self.publish(
        device.identity, replacing: device.identity, device: device.device, emission: check.check.emission, in: db)
      try Self.save(device, in: db)
      try MergeJournal.finish(check.id, run: run, in: db)
    }
  }

  /// Devices of which a check or a plan is unfinished: with `Recipient.holdEventsUntilIdentified` their events wait. What is asked
  /// for a recipient says nothing of who a device is.
  package func devicesWithoutIdentity() throws -> [String] {
    try connection.readIdentities(orElse: []) { db in
      try String.fetchAll(
        db,
        sql: """
          SELECT device FROM identity_check WHERE finished_run IS NULL AND instruction IS NULL
          UNION SELECT device FROM identity_device WHERE state < 2
          UNION SELECT device FROM merge_plan
            WHERE state NOT IN ('done', 'undone', 'dropped') AND scenario NOT IN (\(MergeJournal.instructions))
          ORDER BY 1
          """)
    }
  }

  /// Makes known who a device is from an event on. Nothing is stored where its events say so by themselves.
  static func publish(
    _ identity: DeviceIdentity, replacing before: DeviceIdentity, device: String, emission: Int64, in db: Database
  ) throws {
    try db.cachedStatement(
      sql: """
        UPDATE identity_device SET recipient_id = ?1, mobile_user_id = ?2, state = 2,
          set_up_as = iif(recipient_id = ?1, set_up_as, '')
        WHERE device = ?3
        """
    ).execute(arguments: [identity.recipientId, identity.mobileUserId, device])
    let bytes = Array(device.utf8)
    let latest = try identityPeriods(of: bytes, in: db).last { $0.fromEmission <= emission + 1 }
    if identity == before, latest?.recipientId.isIdentical(to: identity.recipientId) ?? true,
      latest?.mobileUserId.isEmpty ?? true
    {
      return
    }
    let namesUser =
      !identity.mobileUserId.isIdentical(to: before.mobileUserId) || latest?.mobileUserId.isEmpty == false
    try publish(
      [
        IdentityPeriod(
          device: bytes, fromEmission: emission + 1, recipientId: identity.recipientId,
          mobileUserId: namesUser ? identity.mobileUserId : "")
      ], into: db)
  }

  /// - Parameter first: its first record; kept for a device that is new.
  static func save(_ device: KnownDevice, first: RecordSource? = nil, in db: Database) throws {
    try db.cachedStatement(
      sql: """
        INSERT INTO identity_device (device, first_seen, state, recorded_recipient_id, recorded_mobile_user_id,
          recipient_id, mobile_user_id, file, line)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT (device) DO UPDATE SET state = excluded.state, recorded_recipient_id = excluded.recorded_recipient_id,
          recorded_mobile_user_id = excluded.recorded_mobile_user_id, recipient_id = excluded.recipient_id,
          mobile_user_id = excluded.mobile_user_id,
          set_up_as = CASE
            WHEN excluded.recipient_id <> recipient_id THEN ''
            WHEN set_up_as = '' AND recipient_id <> '' AND excluded.mobile_user_id <> mobile_user_id THEN mobile_user_id
            ELSE set_up_as END
        """
    ).execute(arguments: [
      device.device, device.firstSeen.milliseconds, device.progress.rawValue, device.recorded.recipientId,
      device.recorded.mobileUserId, device.identity.recipientId, device.identity.mobileUserId, first?.file ?? "",
      Int64(bitPattern: first?.line ?? 0),
    ])
  }

  static func device(_ device: String, in db: Database) throws -> KnownDevice? {
    try Row.fetchOne(
      db.cachedStatement(
        sql: "SELECT \(Self.deviceColumns) FROM identity_device WHERE device = ?"), arguments: [device]
    ).map { try Self.device($0) }
  }

  /// What ``device(_:)`` reads of a row.
  static let deviceColumns =
    "device, first_seen, state, recorded_recipient_id, recorded_mobile_user_id, recipient_id, mobile_user_id"

  static func device(_ row: Row) throws -> KnownDevice {
    guard let progress = try DeviceProgress(rawValue: row.value("state")) else {
      throw StoreError.inconsistent("state of a device")
    }
    return try KnownDevice(
      device: row.value("device"), firstSeen: row.value("first_seen"), progress: progress,
      recorded: DeviceIdentity(
        recipientId: row.value("recorded_recipient_id"), mobileUserId: row.value("recorded_mobile_user_id")),
      identity: DeviceIdentity(recipientId: row.value("recipient_id"), mobileUserId: row.value("mobile_user_id")))
  }
}
