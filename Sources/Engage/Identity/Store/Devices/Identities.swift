package import BatchFoundation
package import BatchStore
import EngageRules
import GRDB

/// The identities of devices at the service: pending checks, the people that devices record, and their recipients.
/// Functions throw ``StoreError``; see ``EventStore``.
package struct Identities: Sendable {
  let connection: StoreConnection

  /// Stores the people that devices record. Known people keep the results of their set-ups.
  static func insert(_ setups: [DeviceSetup], run: RunID, into db: Database) throws {
    for setup in setups {
      let automatic = AutomaticMobileUserId.id(of: setup.device)
      let person = Person(
        mobileUserId: setup.mobileUserId.isEmpty ? automatic : setup.mobileUserId, device: setup.device,
        firstSeen: setup.firstSeen, fromEmission: setup.fromEmission ?? 0, progress: setup.progress(automatic),
        recipientId: setup.recipientId)
      if let emission = setup.fromEmission {
        let before = try span(of: setup.device, at: emission, in: db)
        let isSame = before?.person == person.key
        if isSame, setup.recipientId.isEmpty || before?.recipient.isIdentical(to: setup.recipientId) == true {
          continue
        }
        try db.cachedStatement(
          sql: """
            INSERT OR REPLACE INTO identity_device
              (device, from_emission, person, mobile_user_id, recipient_id, is_automatic, run) VALUES (?, ?, ?, ?, ?, ?, ?)
            """
        ).execute(arguments: [
          setup.device, emission, person.key, setup.mobileUserId, setup.recipientId,
          person.mobileUserId.isIdentical(to: automatic), run.number,
        ])
      }
      try insert(person, setup.source, run: run, into: db)
    }
  }

  /// The SQL update for another record of a known person. Keeps the results of a set-up, and recipients that earlier
  /// runs read in records; before there are any, the earliest record counts. A recipient that a later record names
  /// belongs to the device from that record on, so the person still gets their own.
  static let takingOver: String = {
    let (pending, unnamed) = (SetUpProgress.pending.rawValue, SetUpProgress.unnamed.rawValue)
    let isOpen =
      "(state IN (\(pending), \(unnamed)) OR state = \(SetUpProgress.recorded.rawValue) AND run = excluded.run)"
    let isFirst = "\(isOpen) AND (excluded.first_seen, excluded.device) < (first_seen, device)"
    let replaces = "state <> \(unnamed) AND excluded.state <> \(unnamed) AND \(isFirst)"
    let ofTheFirst = ["device", "file", "line", "from_emission", "first_seen"]
    return ofTheFirst.map { "\($0) = iif(\(isFirst), excluded.\($0), \($0))" }.joined(separator: ", ") + """
      , state = iif(state = \(unnamed) OR \(replaces), excluded.state, state),
      recipient_id = iif(state = \(unnamed) AND recipient_id = '' OR \(replaces), excluded.recipient_id, recipient_id)
      """
  }()

  private static func insert(_ person: Person, _ source: RecordSource?, run: RunID, into db: Database) throws {
    try db.cachedStatement(
      sql: """
        INSERT INTO identity_person
          (person, mobile_user_id, device, first_seen, from_emission, state, recipient_id, known_as, run, file, line)
        VALUES (?, ?, ?, ?, ?, ?, ?, '', ?, ?, ?)
        ON CONFLICT (person) DO UPDATE SET \(takingOver)
        """
    ).execute(arguments: [
      person.key, person.mobileUserId, person.device, person.firstSeen.milliseconds, person.fromEmission,
      person.progress.rawValue, person.recipientId, run.number, source?.file ?? "",
      Int64(bitPattern: source?.line ?? 0),
    ])
  }

  private static func span(
    of device: String, at emission: Int64, in db: Database
  ) throws -> (person: String, recipient: String)? {
    try Row.fetchOne(
      db.cachedStatement(
        sql: """
          SELECT person, mobile_user_id, recipient_id FROM identity_device WHERE device = ? AND from_emission <= ?
          ORDER BY from_emission DESC LIMIT 1
          """), arguments: [device, emission]
    ).map { row in
      let (person, user): (String, String) = try (row.value("person"), row.value("mobile_user_id"))
      // If an operator released the device, this is the person that it would otherwise have.
      let named = Person.key(user.isEmpty ? AutomaticMobileUserId.id(of: device) : user)
      return try (person.isEmpty ? named : person, row.value("recipient_id"))
    }
  }

  /// Whether a device records a person whom it was not known to record at that moment.
  static func isNews(_ setup: DeviceSetup, in db: Database) throws -> Bool {
    let user = setup.mobileUserId.isEmpty ? AutomaticMobileUserId.id(of: setup.device) : setup.mobileUserId
    guard let emission = setup.fromEmission else { return try person(user, in: db) == nil }
    return try span(of: setup.device, at: emission, in: db)?.person != Person.key(user)
  }

  // MARK: Who is who

  /// Passes a ``WhoIsWho`` for the current state of the store to `body`.
  func who<Value>(_ body: (inout WhoIsWho) throws -> Value) throws -> Value {
    try connection.read { db in
      var who = try WhoIsWho(db)
      return try body(&who)
    }
  }

  /// Returns the person with a mobile user id; nil if no record or check has named it.
  package func person(_ user: String) throws -> Person? { try connection.read { try Self.person(user, in: $0) } }

  /// Returns the device of a location with its person and current identity; nil if the store does not know the person.
  func known(_ location: LastKnownLocation) throws -> KnownDevice? {
    try who { who in
      let last = try who.spans(of: location.device).last?.person
      let key = location.mobileUserId.isEmpty ? last : Person.key(location.mobileUserId)
      guard let person = try key.flatMap({ try who.person(key: $0) }) else { return nil }
      let identity = try who.identity(of: location.device, location.mobileUserId, recorded: location.recipientId)
      return KnownDevice(device: location.device, person: person, identity: identity)
    }
  }

  /// Returns the device with the given person's predecessor: the same person under an earlier id, whose recipient the
  /// given person takes over. Returns nil if there is none.
  func predecessor(of person: Person, renames: Bool) throws -> KnownDevice? {
    try who {
      try $0.predecessor(of: person.key, on: person.device, from: person.fromEmission, renames: renames)
    }
  }

  /// Ends a check that needs no plan.
  package func finish(_ check: PendingCheck, as device: KnownDevice, run: RunID) throws {
    try connection.writeTogether { db in
      try Self.save(device.person, in: db)
      try MergeJournal.finish(check.id, run: run, in: db)
    }
  }

  /// Forgets a recipient that no longer exists at the service, so that its devices get another; returns the number of
  /// devices.
  package func forgetRecipient(_ recipient: String) throws -> Int {
    try connection.writeTogether { db in
      let devices = try Self.latest(in: db).filter { $0.identity.recipientId.isIdentical(to: recipient) }
      for device in devices {
        try db.execute(
          sql: "UPDATE identity_person SET recipient_id = '', known_as = '', state = ? WHERE person = ?",
          arguments: [SetUpProgress.pending.rawValue, device.person])
      }
      try db.execute(
        sql: "UPDATE identity_person SET recipient_id = '', known_as = '', state = ? WHERE recipient_id = ?",
        arguments: [SetUpProgress.pending.rawValue, recipient])
      try db.execute(sql: "UPDATE identity_device SET recipient_id = '' WHERE recipient_id = ?", arguments: [recipient])
      try db.execute(sql: "UPDATE merge_plan SET is_void = 1 WHERE recipient_after = ?", arguments: [recipient])
      return devices.count
    }
  }

  /// Withdraws a recipient that responses to additions named wrongly; the right recipients may exist and must be looked
  /// up.
  func withdrawAddition(of recipient: String) throws {
    try connection.writeTogether { db in
      try db.execute(
        sql: "UPDATE identity_person SET recipient_id = '', state = ? WHERE recipient_id = ? AND state = ?",
        arguments: [SetUpProgress.adding.rawValue, recipient, SetUpProgress.added.rawValue])
    }
  }

  /// Whether a person with a different mobile user id (ignoring ASCII case) has this recipient, or had it before a
  /// merge.
  package func knows(recipient: String, ofAnotherUserThan mobileUserId: String) throws -> Bool {
    try connection.read { db in
      try Int.fetchOne(
        db.cachedStatement(
          sql: """
            SELECT 1 FROM identity_person WHERE recipient_id = ?1 AND lower(mobile_user_id) <> lower(?2)
            UNION ALL SELECT 1 FROM identity_device WHERE recipient_id = ?1 AND lower(mobile_user_id) <> lower(?2)
            UNION ALL SELECT 1 FROM merge_plan
            WHERE loser = ?1 AND user_before <> '' AND lower(user_before) <> lower(?2) LIMIT 1
            """), arguments: [recipient, mobileUserId]) != nil
    }
  }

  // MARK: Devices

  /// Returns the devices with each person whom they recorded, and their current identity as that person.
  private static func latest(
    in db: Database
  ) throws -> [(device: String, person: String, identity: DeviceIdentity)] {
    var who = try WhoIsWho(db)
    return try Row.fetchAll(
      db,
      sql: """
        SELECT device, person, max(from_emission) AS start FROM identity_device GROUP BY device, person
        ORDER BY device, start
        """
    ).map { row in
      let device: String = try row.value("device")
      return try (device, row.value("person"), who.identity(of: device, from: row.emission("start")))
    }
  }

  /// Returns the devices, once for each recorded person who has a recipient, sorted by recipient and device.
  package func devicesWithRecipient() throws -> [KnownDevice] {
    try connection.read { db in
      try Self.latest(in: db).compactMap { device in
        guard let person = try Self.person(key: device.person, in: db), !person.progress.isDue,
          !device.identity.recipientId.isEmpty
        else { return nil }
        return KnownDevice(device: device.device, person: person, identity: device.identity)
      }.sorted {
        (ByteText($0.identity.recipientId), ByteText($0.device)) < (
          ByteText($1.identity.recipientId), ByteText($1.device)
        )
      }
    }
  }

  /// Returns the devices whose events are pending if `Recipient.holdEventsUntilIdentified` is set: those with an
  /// unfinished check, set-up or plan. Instructions do not count, because they do not affect identity.
  package func devicesWithoutIdentity() throws -> [String] {
    try connection.readIdentities(orElse: []) { db in
      try String.fetchAll(
        db,
        sql: """
          SELECT device FROM identity_check WHERE finished_run IS NULL AND instruction IS NULL
          UNION SELECT d.device FROM identity_device d JOIN identity_person p ON p.person = d.person WHERE p.state < 2
          UNION SELECT device FROM merge_plan
            WHERE state NOT IN ('done', 'undone', 'dropped') AND scenario NOT IN (\(MergeJournal.instructions))
          ORDER BY 1
          """)
    }
  }

  // MARK: Records

  /// Returns the record that requested a plan or, for a set-up, the one that first named the person; nil if it is not
  /// stored, as for a location.
  package func recordSource(of plan: MergePlan) throws -> RecordSource? {
    plan.scenario == .location ? nil : try recordSource(ofCheck: plan.checkId, of: plan.device)
  }

  /// Returns the record that requested the check or, if `check` is nil, the one that first named the person for whom
  /// the device is held; nil if it is not stored.
  package func recordSource(ofCheck check: Int64?, of device: String) throws -> RecordSource? {
    try connection.read { db in
      let row =
        if let check {
          try Row.fetchOne(db, sql: "SELECT file, line FROM identity_check WHERE id = ?", arguments: [check])
        } else {
          try Row.fetchOne(
            db, sql: "SELECT file, line FROM identity_person WHERE device = ? ORDER BY state, first_seen LIMIT 1",
            arguments: [device])
        }
      return try row.flatMap { try Self.recordSource($0.value("file"), $0.value("line")) }
    }
  }

  static func recordSource(_ file: String, _ line: Int64) -> RecordSource? {
    file.isEmpty ? nil : RecordSource(file: file, line: UInt64(bitPattern: line))
  }

  // MARK: Rows

  static func person(_ user: String, in db: Database) throws -> Person? { try person(key: Person.key(user), in: db) }

  static func person(key: String, in db: Database) throws -> Person? {
    try Row.fetchOne(
      db.cachedStatement(sql: "SELECT \(personColumns) FROM identity_person WHERE person = ?"), arguments: [key]
    ).map { try person($0) }
  }

  /// The columns that ``person(_:)`` reads.
  static let personColumns =
    "mobile_user_id, device, first_seen, from_emission, state, recipient_id, known_as"

  static func person(_ row: Row) throws -> Person {
    guard let progress = try SetUpProgress(rawValue: row.value("state")) else {
      throw StoreError.inconsistent("a person has an unknown state")
    }
    return try Person(
      mobileUserId: row.value("mobile_user_id"), device: row.value("device"), firstSeen: row.value("first_seen"),
      fromEmission: row.emission("from_emission"), progress: progress, recipientId: row.value("recipient_id"),
      knownAs: row.value("known_as"))
  }
}

extension DeviceSetup {
  /// Returns the progress of a person who has not been looked up.
  fileprivate func progress(_ automatic: String) -> SetUpProgress {
    if mobileUserId.isEmpty { return .unnamed }
    if recipientId.isEmpty || mobileUserId.isIdentical(to: automatic) { return .pending }
    return .recorded
  }
}
