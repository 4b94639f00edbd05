package import BatchConfiguration
import BatchFoundation
package import BatchStore
package import EngageRules

/// Compares the audit rows that the store's merges wrote with those at the service (reference identity 5.5).
package struct AuditRowReading {
  /// A row that a merge wrote.
  package struct Expected: Sendable {
    /// The columns as written, with the key first.
    package var columns: [ColumnValue]
    package var table: String
    package var plan: Int64
  }

  package enum Finding: Equatable, Sendable { case present, missing, different }

  private let transfer: ListTransfer
  private let table: Settings.Audit

  package init(_ transfer: ListTransfer, _ table: Settings.Audit) {
    self.transfer = transfer
    self.table = table
  }

  /// Returns the rows of completed merges in planning order, each key once. Undone merges are left out: their rows were
  /// deleted, or kept only at an operator's request.
  ///
  /// - Throws: ``StoreError/inconsistent(_:)`` for a step without an audit row; errors of the store.
  package static func expected(in store: EventStore) throws -> [Expected] {
    var rows: [Expected] = []
    var places: [ByteText: Int] = [:]
    for plan in try store.merges.plans() where plan.state == .done {
      for step in plan.steps where step.name == .audit && step.isDone {
        let row = Expected(columns: try step.auditRow(), table: step.target, plan: plan.id)
        let key = ByteText(row.columns[0].value)
        if let place = places[key] {
          rows[place] = row
        } else {
          places[key] = rows.count
          rows.append(row)
        }
      }
    }
    return rows
  }

  /// Returns a finding for each row, in order. Dates are ignored, because the service may format them differently.
  ///
  /// - Throws: ``RemoteFailure``, or ``ExportFault`` if the table could not be read completely.
  package func findings(for rows: [Expected]) throws -> [Finding] {
    let places = Dictionary(rows.indices.map { (ByteText(rows[$0].columns[0].value), $0) }) { $1 }
    var findings = [Finding](repeating: .missing, count: rows.count)
    try transfer.export(
      table: table.tableId, key: table.keyColumn, [table.oldRecipientIdColumn, table.newRecipientIdColumn]
    ) { key, values in
      guard let place = places[ByteText(key)] else { return }
      let wanted = rows[place].columns[1...2].map(\.value)
      findings[place] = zip(wanted, values).allSatisfy { ColumnKind.number.keeps($0, as: $1) } ? .present : .different
    }
    return findings
  }
}
