package import BatchStore
package import EngageRules
import GRDB

extension MergeJournal {
  /// Returns all plans that have not ended, oldest first.
  package func openPlans() throws -> [MergePlan] {
    try plans("SELECT id FROM merge_plan WHERE state NOT IN ('done', 'undone', 'dropped') ORDER BY id")
  }

  /// Returns all plans, oldest first.
  package func plans() throws -> [MergePlan] {
    try plans("SELECT id FROM merge_plan ORDER BY id")
  }

  /// Returns up to `limit` plans from a run and from `others`: unfinished ones first, then sorted by record time and
  /// device, because their numbers depend on the threads.
  package func plans(of run: RunID, or others: [Int64], limit: Int) throws -> [MergePlan] {
    try plans(
      """
      SELECT plan.id FROM merge_plan plan LEFT JOIN identity_check ON identity_check.id = plan.check_id
      WHERE plan.run = ? OR plan.id IN (SELECT value FROM json_each(?))
      ORDER BY plan.state = ?, coalesce(identity_check.timestamp, plan.created), plan.device, plan.id LIMIT ?
      """, [run.number, "[\(others.map(String.init).joined(separator: ","))]", MergeState.done.rawValue, limit])
  }

  /// Returns all plans of a device, oldest first.
  package func plans(of device: String) throws -> [MergePlan] {
    try plans("SELECT id FROM merge_plan WHERE device = ? ORDER BY id", [device])
  }

  /// Returns the plans with the numbers that a query selects, in its order.
  private func plans(_ numbers: String, _ arguments: StatementArguments = []) throws -> [MergePlan] {
    try connection.readIdentities(orElse: []) { db in
      try Int64.fetchAll(db.cachedStatement(sql: numbers), arguments: arguments)
        .compactMap { try Self.plan($0, in: db) }
    }
  }

  /// Returns the recipients to which completed plans wrote all of these values.
  package func recipients(with ids: [ColumnValue]) throws -> Set<String> {
    try connection.read { db in
      let found = try ids.map { id in
        Set(
          try String.fetchAll(
            db,
            sql: """
              SELECT target FROM merge_step_column AS changed
              JOIN merge_step ON merge_step.plan = changed.plan AND merge_step.ordinal = changed.step
              JOIN merge_plan ON merge_plan.id = changed.plan AND merge_plan.state = 'done'
              WHERE changed.name = ? AND changed.after = ?
              """, arguments: [id.name, id.value]))
      }
      return found.dropFirst().reduce(found.first ?? []) { $0.intersection($1) }
    }
  }

  /// The scenarios of instructions, as an SQL list.
  static let instructions = MergeScenario.allCases.filter(\.isInstruction).map { "'\($0.rawValue)'" }.joined(
    separator: ", ")

  /// Returns the number of the last plan that was carried out later for the same device or recipients and so depends on
  /// this one; nil if there is none.
  package func laterPlan(than plan: MergePlan) throws -> Int64? {
    try connection.read { try Self.laterPlan(than: plan, in: $0) }
  }

  static func laterPlan(than plan: MergePlan, in db: Database) throws -> Int64? {
    try Int64.fetchOne(
      db,
      sql: """
        SELECT max(id) FROM merge_plan WHERE id > ? AND state = 'done'
          AND scenario NOT IN (\(instructions)) AND (device = ? OR loser IN (?, ?) OR winner IN (?, ?))
        """,
      arguments: [plan.id, plan.device, plan.loser, plan.winner, plan.loser, plan.winner])
  }

  /// Returns the plan with this number; nil if there is none.
  package func plan(_ id: Int64) throws -> MergePlan? {
    try connection.readIdentities(orElse: nil) { try Self.plan(id, in: $0) }
  }

  /// Returns the journal of a plan in the order in which it was written.
  package func journal(of plan: Int64) throws -> [JournalLine] {
    try connection.read { try Self.journal(of: plan, in: $0) }
  }
}
