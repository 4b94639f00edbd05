import BatchConfiguration
import BatchFoundation
import BatchWire
import Engage

/// Creates the list columns, and the audit table with its key, that a job needs and Engage lacks.
struct ServicePreparation {
  let service: EngageService
  let settings: Settings
  let options: PreparationOptions
  private(set) var report = PreparationReport()

  /// - Throws: ``CommandError`` if a call fails. Anything already created remains for the next attempt.
  mutating func run() throws -> PreparationReport {
    try prepareList()
    if settings.audit.tableId.isEmpty {
      if options.makesAuditTable { try makeAuditTable(NeededColumn.ofAuditTable(settings.audit)) }
    } else if settings.audit.isWritten || options.makesAuditTable {
      try checkAuditTable(NeededColumn.ofAuditTable(settings.audit))
    }
    return report
  }

  private mutating func prepareList() throws {
    let list = settings.general.listId
    if list.isEmpty { return }
    let known = try call(.describe(list), "list \(list)")
    for need in NeededColumn.ofList(IdentitySettings(settings)) {
      if let column = known.columns.first(where: { $0.name.isIdentical(to: need.name) }) {
        check(need, column, in: "list \(list)")
        continue
      }
      report.steps.append(("addColumn", list, need.name, need.made.rawValue))
      guard !options.isRehearsal else { continue }
      _ = try call(
        .addColumn(need.name, type: need.made.number, to: list), "column '\(need.name)' of list \(list)")
    }
  }

  private static let tableName = "AuditRecord"
  private static let nameIsTaken = 256
  private static let useOther =
    "set AuditRecord.auditRecordListId to the id of the existing table with that name; "
    + "'engage-batch xmlapi GetLists --param VISIBILITY=1 --param LIST_TYPE=15 --job JOB' lists it"

  private mutating func checkAuditTable(_ needs: [NeededColumn]) throws {
    let id = settings.audit.tableId
    let known = try call(.describe(id), "table \(id)")
    let advice =
      "existing tables cannot be changed: to create a new table, unset AuditRecord.auditRecordListId and use --audit-table"
    for need in needs {
      if let column = known.columns.first(where: { $0.name.isIdentical(to: need.name) }) {
        check(need, column, in: "table \(id)")
      } else {
        report.problems.append("table \(id) has no column '\(need.name)' (\(need.setting)); \(advice)")
      }
    }
    if known.keyColumns.map({ ByteText($0) }) != [ByteText(settings.audit.keyColumn)] {
      report.problems.append("the only key column of table \(id) must be '\(settings.audit.keyColumn)'; \(advice)")
    }
  }

  private mutating func makeAuditTable(_ needs: [NeededColumn]) throws {
    for (place, need) in needs.enumerated() {
      let action = place == 0 ? "addKeyColumn" : "addColumn"
      report.steps.append((action, Self.tableName, need.name, need.made.rawValue))
    }
    guard !options.isRehearsal else { return }
    let columns = needs.enumerated().map { place, need in
      NewTableColumn(name: need.name, type: need.made.word, isKey: place == 0)
    }
    let id = try call(.createTable(Self.tableName, columns), "table '\(Self.tableName)'")
    report.settings.append(("AuditRecord.auditRecordListId", id))
    if !settings.audit.isWritten { report.settings.append(("AuditRecord.mergeHistoryInAuditRecordTable", "true")) }
  }

  private mutating func check(_ need: NeededColumn, _ column: ListDescription.ListColumn, in place: String) {
    guard let objection = need.objection(to: column) else { return }
    report.problems.append(
      "\(place): \(objection), and types cannot be changed; name another column with \(need.setting)")
  }

  private func call<Answer>(_ request: XMLAPIOperation<Answer>, _ what: String) throws -> Answer {
    let outcome = service.call(request)
    var (reason, exit) = (outcome.reason ?? "", outcome.stop?.exit ?? .serviceUnavailable)
    switch outcome {
    case .answered(let answer): return answer
    case .rejected(let fault):
      exit = .configuration
      if fault.id == Self.nameIsTaken, request.call.name == "CreateTable" { reason += "; \(Self.useOther)" }
    case .unknown: reason += "; the service may have carried out the call; repeat the command to check"
    case .notSent, .refused: break
    }
    throw CommandError(exit, "error: \(what): \(reason); anything created before the error is kept")
  }
}
