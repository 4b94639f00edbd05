import BatchFoundation
import FoundationEssentials

extension World {
  /// What `GET /sandbox/state` shows.
  private struct Snapshot: Encodable {
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
    var clock: String
    var totals: LedgerTotals
    var lists: [List]
    var tables: [Table]
    var jobs: [JobLine]
    var appliedEvents: [String: Int]
    var refusedEvents: Int
    var faultsFired: [Int]
  }

  private static func encode(_ value: some Encodable) -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    // Every value is plain text and numbers, which always encode.
    return (try? encoder.encode(value)).map { Array($0) } ?? []
  }

  private static func json(_ value: some Encodable) -> SandboxAnswer {
    SandboxAnswer(status: 200, contentType: "application/json", body: encode(value))
  }

  mutating func sandboxReply(_ request: SandboxRequest) -> Reply {
    let items = Dictionary(request.queryItems.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
    switch (request.method, request.path) {
    case ("GET", "/sandbox/state"):
      api.settleJobs()
      return Reply(answer: Self.json(snapshot), applied: true)
    case ("GET", "/sandbox/ledger"):
      let since = items["since"].flatMap { Int($0) } ?? 0
      return Reply(answer: Self.json(ledger.entries.filter { $0.sequence > since }), applied: true)
    case ("POST", "/sandbox/clock"):
      guard let seconds = items["advance"].flatMap({ Int64($0) }), (0...1_000_000_000).contains(seconds) else {
        return Reply(answer: .rest(400, error: "advance=SECONDS is missing"), applied: false)
      }
      api.clock.advance(by: Milliseconds(seconds * 1000))
      isChanged = true
      return Reply(answer: .json(200, "{\"clock\":\"\(CivilTime(now).isoForm)\"}"), applied: true)
    case ("POST", "/sandbox/expire-tokens"):
      tokens.expireAll()
      return Reply(answer: SandboxAnswer(status: 204), applied: true)
    default:
      return Reply(answer: .html(404), applied: false)
    }
  }

  private var snapshot: Snapshot {
    Snapshot(
      clock: CivilTime(now).isoForm, totals: ledger.totals,
      lists: api.organization.sortedLists.map { list in
        Snapshot.List(
          id: list.id, name: list.name, keyColumns: list.keyColumns, columns: list.columns.map(\.name),
          recipients: list.all.map { recipient in
            var values: [ExactText: ExactText] = [:]
            for (position, column) in list.columns.enumerated() where !recipient.value(position).isEmpty {
              values[column.name] = recipient.value(position)
            }
            return Snapshot.List.Recipient(id: "\(recipient.id)", values: values, optedOut: recipient.optedOut != nil)
          })
      },
      tables: api.organization.tables.values.sorted { $0.id < $1.id }.map { table in
        Snapshot.Table(
          id: table.id, name: table.name, keyColumns: table.keyColumns, rows: table.order.compactMap { table.rows[$0] })
      },
      jobs: api.organization.jobs.values.sorted { $0.id < $1.id }.map {
        Snapshot.JobLine(id: $0.id, status: $0.status.rawValue, description: $0.description)
      }, appliedEvents: events.applied, refusedEvents: events.refused.count, faultsFired: faults.fired)
  }
}
