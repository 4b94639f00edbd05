package import BatchStore
import GRDB

extension EventStore {
  private static let identityTables = [
    "identity_check", "identity_check_column", "identity_device", "identity_person", "merge_plan", "merge_plan_id",
    "merge_step", "merge_step_column", "merge_journal", "recipient_lock", "merge_refusal", "location_update",
    "location_written",
  ]

  /// Returns an in-memory store with everything this one knows about identities, for planning a run.
  package func planningCopy() throws -> EventStore {
    let copy = try EventStore.temporary(format: format)
    for table in Self.identityTables {
      // Table names cannot be bound as parameters; these are constants of this type.
      let rows = try read { try Row.fetchAll($0, sql: "SELECT * FROM \(table)") }
      guard let first = rows.first else { continue }
      let places = Array(repeating: "?", count: first.count).joined(separator: ", ")
      try copy.write { db in
        let statement = try db.makeStatement(sql: "INSERT INTO \(table) VALUES (\(places))")
        for row in rows { try statement.execute(arguments: StatementArguments(row.databaseValues)) }
      }
    }
    return copy
  }
}
