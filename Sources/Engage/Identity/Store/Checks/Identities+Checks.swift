import BatchFoundation
import BatchStore
package import EngageRules
import GRDB

/// An unfinished identity check.
package struct PendingCheck: Sendable, Equatable {
  package var id: Int64
  package var check: IdentityCheck
}

extension Identities {
  /// Returns up to `limit` unfinished checks after `last`, sorted by time, then device, then order of arrival.
  package func pendingChecks(after last: PendingCheck?, limit: Int) throws -> [PendingCheck] {
    let page = try connection.readIdentities(orElse: []) { db in
      try Row.fetchAll(
        db.cachedStatement(
          sql: """
            SELECT \(Self.checkColumns) FROM identity_check
            WHERE finished_run IS NULL AND (timestamp, device, id) > (?, ?, ?)
            ORDER BY timestamp, device, id LIMIT ?
            """),
        arguments: [
          last?.check.timestamp.milliseconds ?? -1, last?.check.device ?? "", last?.id ?? -1, limit,
        ]
      ).map { try Self.pendingCheck($0, in: db) }
    }
    return try EventStore.inOrder(page, after: last, "identity checks") {
      ($0.check.timestamp.milliseconds, ByteText($0.check.device), $0.id)
        < ($1.check.timestamp.milliseconds, ByteText($1.check.device), $1.id)
    }
  }

  /// Returns the check with this number; nil if there is none or it is finished.
  package func pendingCheck(_ id: Int64) throws -> PendingCheck? {
    try connection.read { db in
      try Row.fetchOne(
        db.cachedStatement(
          sql: """
            SELECT \(Self.checkColumns) FROM identity_check
            WHERE finished_run IS NULL AND id = ?
            """), arguments: [id]
      ).map { try Self.pendingCheck($0, in: db) }
    }
  }

  /// Returns the number of unfinished checks.
  package func pendingCheckCount() throws -> Int {
    try connection.readIdentities(orElse: 0) {
      try Int.fetchOne($0, sql: "SELECT count(*) FROM identity_check WHERE finished_run IS NULL") ?? 0
    }
  }

  /// Returns the names of the columns that unfinished checks search, without duplicates.
  package func searchedColumns() throws -> [String] {
    try connection.read { db in
      try String.fetchAll(
        db,
        sql: """
          SELECT DISTINCT name FROM identity_check_column
          WHERE value <> '' AND check_id IN (SELECT id FROM identity_check WHERE finished_run IS NULL) ORDER BY name
          """)
    }
  }

  /// Returns up to `limit` people after `last` whose set-up is due, in the order in which they were first named.
  ///
  /// - Parameter follows: True for only the people who may be the same as an earlier person of their device, and so
  ///   come after that person's checks; false for only the others; nil for all.
  package func personsToSetUp(after last: Person?, limit: Int, follows: Bool? = nil, renames: Bool = false) throws
    -> [Person]
  {
    let page = try connection.readIdentities(orElse: []) { db in
      try Row.fetchAll(
        db.cachedStatement(
          sql: """
            SELECT \(Self.personColumns) FROM identity_person p
            WHERE state < 2 AND (first_seen, device, person) > (?1, ?2, ?3) AND (?5 IS NULL OR ?5 = EXISTS (
              SELECT 1 FROM identity_device b JOIN identity_person q ON q.person = b.person
              WHERE b.device = p.device AND b.from_emission < p.from_emission AND (b.is_automatic OR ?6)
                AND q.person <> p.person AND q.state <> \(SetUpProgress.unnamed.rawValue)))
            ORDER BY first_seen, device, person LIMIT ?4
            """),
        arguments: [
          last?.firstSeen.milliseconds ?? -1, last?.device ?? "", last?.key ?? "", limit, follows, renames,
        ]
      ).map { try Self.person($0) }
    }
    return try EventStore.inOrder(page, after: last, "people to set up") {
      ($0.firstSeen.milliseconds, ByteText($0.device), ByteText($0.key))
        < ($1.firstSeen.milliseconds, ByteText($1.device), ByteText($1.key))
    }
  }

  /// Whether somebody needs a recipient.
  package func needsRecipients() throws -> Bool {
    try connection.readIdentities(orElse: false) { db in
      try Int.fetchOne(db, sql: "SELECT 1 FROM identity_person WHERE state < 2 AND recipient_id = '' LIMIT 1") != nil
    }
  }

  private static let checkColumns =
    "id, device, timestamp, emission, mobile_user_id, anonymous_id, recipient_id, file, line, instruction, target"

  private static func pendingCheck(_ row: Row, in db: Database) throws -> PendingCheck {
    let id: Int64 = try row.value("id")
    let columns = try Row.fetchAll(
      db.cachedStatement(sql: "SELECT name, value FROM identity_check_column WHERE check_id = ? ORDER BY ordinal"),
      arguments: [id])
    let instruction = try (row.value("instruction") as String?).map { name in
      guard let instruction = try ContactInstruction(name: name, target: row.value("target")) else {
        throw StoreError.inconsistent("identity check \(id) has an unknown instruction")
      }
      return instruction
    }
    return try PendingCheck(
      id: id,
      check: IdentityCheck(
        device: row.value("device"), timestamp: row.value("timestamp"),
        emission: row.emission("emission"), instruction: instruction,
        ids: columns.map { try ColumnValue($0.value("name"), $0.value("value")) },
        mobileUserId: row.value("mobile_user_id"), anonymousId: row.value("anonymous_id"),
        recipientId: row.value("recipient_id"), source: recordSource(row.value("file"), row.value("line"))))
  }
}
