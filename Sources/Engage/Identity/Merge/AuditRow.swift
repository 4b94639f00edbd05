import BatchFoundation
import BatchStore
import EngageRules

/// The row that records one merge, column by column (reference identity 5.5).
struct AuditRow {
  var key: IdentityColumn
  var loser: IdentityColumn
  var winner: IdentityColumn
  var date: IdentityColumn

  /// In the order in which the plan keeps them; the table's key comes first.
  var columns: [IdentityColumn] { [key, loser, winner, date] }
}

extension AuditRow {
  /// The row as a step of a plan wrote it.
  ///
  /// - Throws: ``StoreError/inconsistent(_:)`` for a step that holds no audit row.
  init(_ step: MergeStep) throws {
    guard step.name == .audit, step.changes.count == 4 else {
      throw StoreError.inconsistent("step \(step.name.rawValue) of a merge plan holds no audit row")
    }
    let columns = step.changes.map { IdentityColumn(name: $0.name, value: $0.after) }
    self.init(key: columns[0], loser: columns[1], winner: columns[2], date: columns[3])
  }

  /// The step that writes it.
  func step(table: String) -> MergeStep {
    MergeStep(
      .audit, target: table, changes: columns.map { ColumnChange(name: $0.name, before: "", after: $0.value) })
  }

  /// The row that stays behind when the merge is taken back: the same columns, the other way round, under a key of its own.
  func reversed(key: String) -> AuditRow {
    var row = self
    row.key.value = key
    (row.loser.value, row.winner.value) = (winner.value, loser.value)
    return row
  }
}
