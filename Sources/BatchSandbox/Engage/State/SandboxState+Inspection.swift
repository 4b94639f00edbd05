import BatchFoundation

extension SandboxState {
  /// What `GET /sandbox/state` shows of Engage.
  mutating func inspection() -> [String: String] {
    api.settleJobs()
    let lists = api.organization.sortedLists.map { list -> JSONNode in
      let recipients = list.all.map { recipient -> JSONNode in
        let values = list.columns.enumerated().map { ($1.name.string, recipient.value($0)) }
        return [
          "id": .text("\(recipient.id)"), "optedOut": .flag(recipient.optedOut != nil),
          "values": .object(values.filter { !$1.isEmpty }.map { ($0, .text($1.string)) }),
        ]
      }
      return [
        "id": .text(list.id.string), "name": .text(list.name.string),
        "keyColumns": .texts(list.keyColumns.map(\.string)), "columns": .texts(list.columns.map(\.name.string)),
        "recipients": .array(recipients),
      ]
    }
    let tables = api.organization.tables.values.sorted { $0.id < $1.id }.map { table -> JSONNode in
      let rows = table.order.compactMap { table.rows[$0] }.map { row in
        JSONNode.object(row.map { ($0.key.string, .text($0.value.string)) })
      }
      return [
        "id": .text(table.id.string), "name": .text(table.name.string),
        "keyColumns": .texts(table.keyColumns.map(\.string)), "rows": .array(rows),
      ]
    }
    let jobs = api.organization.jobs.values.sorted { $0.id < $1.id }.map { job -> JSONNode in
      ["id": .number(job.id), "status": .text(job.status.rawValue), "description": .text(job.description)]
    }
    return [
      "lists": JSONNode.array(lists).canonicalText, "tables": JSONNode.array(tables).canonicalText,
      "jobs": JSONNode.array(jobs).canonicalText, "appliedEvents": sandboxJSON(events.applied),
      "refusedEvents": "\(events.refused.count)",
    ]
  }
}
