package import BatchFoundation
import BatchStore
import EngageEvents
import GRDB

/// What a store knows that Engage has of people.
package struct ServiceTraces: Sendable, Equatable {
  /// Ids of recipients.
  package var recipients: Set<String> = []
  /// Keys of audit rows, by table.
  package var auditRows: Set<AuditKey> = []
  /// Columns of the list by which the people were looked up, and with which value.
  package var columns: Set<LookedUp> = []

  package struct AuditKey: Sendable, Hashable {
    package var table: String
    package var column: String
    package var value: String
  }

  package struct LookedUp: Sendable, Hashable {
    package var column: String
    package var value: String
  }

  package init() {}
}

extension Identities {
  /// Where Engage has something of these people, as far as the store knows it: their recipients, those that were merged with them, and the
  /// audit rows of these merges.
  package func serviceTraces(of ids: [PersonID]) throws -> ServiceTraces {
    try connection.readIdentities(orElse: ServiceTraces()) { db in
      var traces = ServiceTraces()
      for id in ids {
        let value = id.value.string
        switch id.kind {
        case .recipient: traces.recipients.insert(value)
        case .device:
          traces.recipients.formUnion(
            try String.fetchAll(
              db, sql: "SELECT recipient_id FROM identity_device WHERE device = ?", arguments: [value]))
        case .user:
          for name in try String.fetchAll(
            db, sql: "SELECT DISTINCT name FROM identity_check_column WHERE value = ?", arguments: [value])
          {
            traces.columns.insert(ServiceTraces.LookedUp(column: name, value: value))
          }
        default: break
        }
        try Self.addMerges(of: id, to: &traces, in: db)
      }
      traces.recipients.remove("")
      return traces
    }
  }

  private static func addMerges(of id: PersonID, to traces: inout ServiceTraces, in db: Database) throws {
    let condition =
      switch id.kind {
      case .device: "device = ?1"
      case .recipient: "?1 IN (loser, winner)"
      case .mobileUserID: "?1 IN (user_before, user_after)"
      default: "id IN (SELECT plan FROM merge_plan_id WHERE value = ?1)"
      }
    let plans = try Row.fetchAll(
      db, sql: "SELECT id, loser, winner FROM merge_plan WHERE state = 'done' AND \(condition)",
      arguments: [id.value.string])
    for plan in plans {
      traces.recipients.formUnion([try plan.value("loser"), try plan.value("winner")])
      let rows = try Row.fetchAll(
        db,
        sql: """
          SELECT s.target, c.name, c.after FROM merge_step s
          JOIN merge_step_column c ON c.plan = s.plan AND c.step = s.ordinal AND c.ordinal = 0
          WHERE s.plan = ? AND s.name = '\(MergeStepName.audit.rawValue)'
          """, arguments: [try plan.value("id") as Int64])
      for row in rows {
        traces.auditRows.insert(
          ServiceTraces.AuditKey(
            table: try row.value("target"), column: try row.value("name"), value: try row.value("after")))
      }
    }
  }
}
