import BatchFoundation
import BatchStore
import EngageRules

/// The row that records one merge, column by column (reference identity 5.5).
struct AuditRow {
  var key: ColumnValue
  var loser: ColumnValue
  var winner: ColumnValue
  var date: ColumnValue

  /// The columns in the order of the plan, with the table's key first.
  var columns: [ColumnValue] { [key, loser, winner, date] }
}

extension AuditRow {
  /// Restores the row that a step of a plan wrote.
  ///
  /// - Throws: ``StoreError/inconsistent(_:)`` if the step holds no audit row.
  init(_ step: MergeStep) throws {
    guard step.name == .audit, step.changes.count == 4 else {
      throw StoreError.inconsistent("step \(step.name.rawValue) of a merge plan holds no audit row")
    }
    let columns = step.changes.map { ColumnValue($0.name, $0.after) }
    self.init(key: columns[0], loser: columns[1], winner: columns[2], date: columns[3])
  }

  /// Returns the step that writes the row.
  func step(table: String) -> MergeStep {
    MergeStep(
      .audit, target: table, changes: columns.map { ColumnChange(name: $0.name, before: "", after: $0.value) })
  }

  /// Returns the row left after the merge is undone: the same columns, reversed, under another key.
  func reversed(key: String) -> AuditRow {
    var row = self
    row.key.value = key
    (row.loser.value, row.winner.value) = (winner.value, loser.value)
    return row
  }
}
