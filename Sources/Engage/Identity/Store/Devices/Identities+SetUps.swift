package import BatchFoundation
import BatchPipeline
import BatchStore
package import EngageRules
import GRDB

extension Identities {
  /// Stores the progress and the recipients of known people; does nothing for others.
  package func save(_ persons: [Person]) throws {
    try connection.writeTogether { db in for person in persons { try Self.save(person, in: db) } }
  }

  static func save(_ person: Person, in db: Database) throws {
    try db.cachedStatement(
      sql: "UPDATE identity_person SET state = ?, recipient_id = ?, known_as = ? WHERE person = ?"
    ).execute(arguments: [person.progress.rawValue, person.recipientId, person.knownAs, person.key])
  }

  /// Stores a person's recipient, which the person's events carry from now on.
  package func finishSetup(_ person: Person) throws {
    try connection.writeTogether { db in
      try Self.save(person, in: db)
      try MergeJournal.endRefusals(of: person, in: db)
    }
  }

  /// Marks the set-ups of devices without a recorded id as due, so that an id is generated for them.
  func nameDevices() throws {
    let unnamed = try connection.readIdentities(orElse: nil) {
      try Int.fetchOne(
        $0, sql: "SELECT 1 FROM identity_person WHERE state = ? LIMIT 1", arguments: [SetUpProgress.unnamed.rawValue])
    }
    guard unnamed != nil else { return }
    try connection.writeTogether { db in
      try db.execute(
        sql: "UPDATE identity_person SET state = ? WHERE state = ?",
        arguments: [SetUpProgress.pending.rawValue, SetUpProgress.unnamed.rawValue])
    }
  }

  /// A device with a due set-up, and the clock (`asOf`) of the run that found it.
  package struct Awaiting: Sendable, Equatable {
    package var device: String
    package var since: Instant
  }

  /// Returns the devices that record a person whose recipient is pending, the longest pending first.
  package func awaiting() throws -> [Awaiting] {
    try connection.readIdentities(orElse: []) { db in
      try Row.fetchAll(
        db,
        sql: """
          SELECT d.device, coalesce(min(r.as_of), 0) AS since FROM identity_person p
          JOIN identity_device d ON d.person = p.person LEFT JOIN run r ON r.id = p.run
          WHERE p.state < 2 GROUP BY d.device ORDER BY since, d.device
          """
      ).map { try Awaiting(device: $0.value("device"), since: $0.value("since")) }
    }
  }

  /// Gives up the pending recipients of a device's people, which releases its events; returns the number of people.
  package func abandonSetups(of device: String) throws -> Int {
    try connection.writeTogether { db in
      let persons = try Row.fetchAll(
        db,
        sql: """
          SELECT \(Self.personColumns) FROM identity_person
          WHERE state < 2 AND person IN (SELECT person FROM identity_device WHERE device = ?)
          """, arguments: [device]
      ).map { try Self.person($0) }
      for person in persons { try Self.abandon(person, for: device, in: db) }
      return persons.count
    }
  }

  /// Gives up a person's recipient for one device only, which has no person until it records another.
  static func abandon(_ person: Person, for device: String, in db: Database) throws {
    try MergeJournal.endRefusals(of: person, in: db)
    try db.execute(
      sql: "UPDATE identity_device SET person = '' WHERE device = ? AND person = ?", arguments: [device, person.key])
    try db.execute(
      sql:
        "DELETE FROM identity_person WHERE person = ?1 AND NOT EXISTS (SELECT 1 FROM identity_device WHERE person = ?1)",
      arguments: [person.key])
    try db.execute(
      sql: """
        UPDATE identity_person SET file = '', line = 0, (device, from_emission) = (
          SELECT device, from_emission FROM identity_device WHERE person = ?1 ORDER BY from_emission, device LIMIT 1)
        WHERE person = ?1 AND device = ?2
        """, arguments: [person.key, device])
  }

  /// Counts the devices that recorded a different person in the run after one with a recorded id, how many of these
  /// already had a recipient, and all devices with a recipient.
  func newOwners(of run: RunID) throws -> NewOwners {
    try connection.readIdentities(orElse: NewOwners()) { db in
      let hasRecipient = "(b.recipient_id <> '' OR p.recipient_id <> '')"
      let row = try Row.fetchOne(
        db,
        sql: """
          SELECT count(DISTINCT d.device) AS devices, count(DISTINCT iif(\(hasRecipient), d.device, NULL)) AS known
          FROM identity_device d JOIN identity_device b ON b.device = d.device AND b.from_emission = (
            SELECT max(from_emission) FROM identity_device WHERE device = d.device AND from_emission < d.from_emission)
          LEFT JOIN identity_person p ON p.person = b.person
          WHERE d.run = ? AND b.person <> d.person AND NOT b.is_automatic
          """, arguments: [run.number])
      let all = try Int.fetchOne(
        db,
        sql: """
          SELECT count(DISTINCT b.device) FROM identity_device b LEFT JOIN identity_person p ON p.person = b.person
          WHERE \(hasRecipient)
          """)
      return try NewOwners(devices: row?.value("devices") ?? 0, known: row?.value("known") ?? 0, all: all ?? 0)
    }
  }

  /// Returns the last known locations that are not yet written to the service, sorted by device.
  package func pendingLocations() throws -> [LastKnownLocation] {
    try connection.readIdentities(orElse: []) { db in
      try Row.fetchAll(
        db,
        sql:
          "SELECT device, mobile_user_id, recipient_id, address, at FROM location_update ORDER BY device, mobile_user_id"
      ).map { row in
        try LastKnownLocation(
          device: row.value("device"), mobileUserId: row.value("mobile_user_id"),
          recipientId: row.value("recipient_id"), address: row.value("address"), at: row.value("at"))
      }
    }
  }

  /// Returns the time and the device of the latest location written to a recipient; nil if there is none.
  package func writtenLocation(on recipient: String) throws -> (at: Instant, device: String)? {
    try connection.readIdentities(orElse: nil) { db in
      try Row.fetchOne(
        db.cachedStatement(sql: "SELECT at, device FROM location_written WHERE recipient_id = ?"),
        arguments: [recipient]
      ).map { try ($0.value("at"), $0.value("device")) }
    }
  }

  /// Removes updates that need no further call; newer ones that have arrived in the meantime are left in place.
  ///
  /// - Parameter written: The update that the service now has, and its recipient; nil if nothing was written.
  package func finishLocations(
    _ locations: [LastKnownLocation], written: (location: LastKnownLocation, recipient: String)? = nil
  ) throws {
    try connection.writeTogether { db in
      for location in locations {
        try db.execute(
          sql: "DELETE FROM location_update WHERE device = ? AND mobile_user_id = ? AND at <= ?",
          arguments: [location.device, location.mobileUserId, location.at.milliseconds])
      }
      guard let written else { return }
      try db.execute(
        sql: "INSERT OR REPLACE INTO location_written (recipient_id, at, device) VALUES (?, ?, ?)",
        arguments: [written.recipient, written.location.at.milliseconds, written.location.device])
    }
  }
}
