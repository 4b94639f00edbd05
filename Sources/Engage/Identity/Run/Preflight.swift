import BatchConfiguration
import BatchFoundation
import BatchPipeline
import BatchStore
import EngageRules

/// The result of comparing the configuration with the service's lists.
struct PreflightFinding {
  var mobileUserIdIsKey: Bool
  /// The columns that checks search but the list lacks. These are faults in the records, which do not stop the run.
  var missingColumns: Set<ByteText> = []
}

/// Compares the configuration with the service's lists before anything is written (reference identity 5.6).
extension IdentityReconciler {
  /// - Throws: ``ServiceSettingsError`` if the configuration does not fit the lists; ``RemoteFailure``.
  func preflight(locations: [LastKnownLocation]) throws -> PreflightFinding {
    let searched = try store.identities.searchedColumns()
    let addsRecipients = try store.identities.needsRecipients()
    var problems: [String] = []
    var needed = settings
    if locations.isEmpty { needed.locations = nil }
    var missing: Set<ByteText> = []
    let list = try layout(of: settings.list, named: "General.databaseListId", &problems)
    if let list {
      self.layout.withLock { $0 = list }
      check(NeededColumn.ofList(needed), against: list, named: "list \(settings.list)", &problems)
      if addsRecipients, let objection = KeyObjection(settings, listKey: Self.names(list.keyColumns)) {
        problems.append("\(objection.setting): \(objection.reason)")
      }
      for column in searched.filter(IdentityWork.isColumn)
      where try !list.columns.contains(ByteText(column)) && !canSearch(column) {
        missing.insert(ByteText(column))
      }
    }
    if let audit = settings.audit {
      if let table = try layout(of: audit.tableId, named: "AuditRecord.auditRecordListId", &problems) {
        check(NeededColumn.ofAuditTable(audit), against: table, named: "table \(audit.tableId)", &problems)
        if let objection = KeyObjection(audit, tableKey: Self.names(table.keyColumns)) {
          problems.append("\(objection.setting): \(objection.reason)")
        }
      }
    }
    if !problems.isEmpty { throw ServiceSettingsError(problems: problems) }
    return PreflightFinding(
      mobileUserIdIsKey: list?.keyColumns.contains(ByteText(settings.recipient.mobileUserIdColumn)) == true,
      missingColumns: missing)
  }

  private func layout(of id: String, named key: String, _ problems: inout [String]) throws -> ListLayout? {
    do {
      return try retryPolicy.repeating { () throws(RemoteFailure) in try remote.layout(of: id) }
    } catch RemoteFailure.refused(let fault, _) {
      problems.append("\(key): the service has no list '\(id)' or refuses to describe it: \(ServiceFault.words(fault))")
      return nil
    }
  }

  /// Whether the service accepts look-ups by a column that is missing from the list's description.
  private func canSearch(_ column: String) throws -> Bool {
    guard IdentityWork.isWritable(column) else { return true }
    do {
      _ = try retryPolicy.repeating { () throws(RemoteFailure) in
        try remote.find([ColumnValue(column, "engage-batch")])
      }
      return true
    } catch RemoteFailure.refused {
      return false
    } catch RemoteFailure.wrongAnswer {
      return true
    }
  }

  private func check(
    _ needed: [NeededColumn], against layout: ListLayout, named name: String, _ problems: inout [String]
  ) {
    for column in needed where !layout.columns.contains(ByteText(column.name)) {
      problems.append("\(column.setting): \(name) has no column '\(column.name)'")
    }
  }

  private static func names(_ columns: Set<ByteText>) -> [String] { columns.sorted().map(\.string) }
}
