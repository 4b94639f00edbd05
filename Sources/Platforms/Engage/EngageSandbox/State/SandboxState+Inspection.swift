import BatchSandbox

extension SandboxState {
  /// What `GET /sandbox/state` shows of Engage.
  private enum Snapshot {
    struct List: Encodable {
      struct Recipient: Encodable {
        var id: String
        var values: [ExactText: ExactText]
        var optedOut: Bool
      }
      var id: ExactText
      var name: ExactText
      var keyColumns: [ExactText]
      var columns: [ExactText]
      var recipients: [Recipient]
    }
    struct Table: Encodable {
      var id: ExactText
      var name: ExactText
      var keyColumns: [ExactText]
      var rows: [[ExactText: ExactText]]
    }
    struct JobLine: Encodable {
      var id: Int
      var status: String
      var description: String
    }
  }

  mutating func inspection() -> [String: String] {
    api.settleJobs()
    let lists = api.organization.sortedLists.map { list in
      Snapshot.List(
        id: list.id, name: list.name, keyColumns: list.keyColumns, columns: list.columns.map(\.name),
        recipients: list.all.map { recipient in
          var values: [ExactText: ExactText] = [:]
          for (position, column) in list.columns.enumerated() where !recipient.value(position).isEmpty {
            values[column.name] = recipient.value(position)
          }
          return Snapshot.List.Recipient(id: "\(recipient.id)", values: values, optedOut: recipient.optedOut != nil)
        })
    }
    let tables = api.organization.tables.values.sorted { $0.id < $1.id }.map { table in
      Snapshot.Table(
        id: table.id, name: table.name, keyColumns: table.keyColumns, rows: table.order.compactMap { table.rows[$0] })
    }
    let jobs = api.organization.jobs.values.sorted { $0.id < $1.id }.map {
      Snapshot.JobLine(id: $0.id, status: $0.status.rawValue, description: $0.description)
    }
    return [
      "lists": sandboxJSON(lists), "tables": sandboxJSON(tables), "jobs": sandboxJSON(jobs),
      "appliedEvents": sandboxJSON(events.applied), "refusedEvents": "\(events.refused.count)",
    ]
  }
}
