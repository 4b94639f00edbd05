import BatchFoundation
import BatchStore
import EngageAPI
import EngageEvents

/// Compares the configuration with the lists of the service, before anything is written (reference identity 5.6).
struct Preflight {
  var settings: IdentitySettings
  var remote: any RecipientDatabase
  var retryPolicy: RetryPolicy

  struct Finding {
    var mobileUserIdIsKey: Bool
    /// Columns that checks search and the list does not have: a matter of the records that name them, not of the run.
    var missingColumns: Set<ByteText> = []
  }

  /// - Parameter searched: the columns that checks search.
  /// - Throws: ``IdentityConfigurationError`` where the configuration does not fit the lists, or ``RemoteFailure`` if the service could not be asked.
  func run(searched: [String], writesLocations: Bool) throws -> Finding {
    var problems: [String] = []
    if settings.list.isEmpty { problems.append("General.databaseListId: no list is named, but identity is on") }
    if settings.mobileUserIdColumn.isEmpty { problems.append("Recipient.mobileUserIdColumn: no column is named") }
    if settings.audit?.id.isEmpty == true {
      problems.append("AuditRecord.auditRecordListId: no table is named, but merges leave audit rows")
    }
    if !problems.isEmpty { throw IdentityConfigurationError(problems: problems) }
    var needed = [("Recipient.mobileUserIdColumn", settings.mobileUserIdColumn)]
    if settings.marksMerges {
      needed.append(("Recipient.mergedRecipientIdColumn", settings.mergedRecipientIdColumn))
      needed.append(("Recipient.mergedDateColumn", settings.mergedDateColumn))
    }
    if writesLocations, let columns = settings.locations {
      needed.append(("LocationServices.lastKnownLocationColumn", columns.address))
      needed.append(("LocationServices.lastKnownLocationTimestampColumn", columns.time))
    }
    var missing: Set<ByteText> = []
    let list = try layout(of: settings.list, named: "General.databaseListId", &problems)
    if let list {
      check(needed, against: list, id: settings.list, &problems)
      for column in searched.filter(IdentitySession.isColumn)
      where try !list.columns.contains(ByteText(column)) && !canSearch(column) {
        missing.insert(ByteText(column))
      }
    }
    if let audit = settings.audit {
      let names = [
        "auditRecordPrimaryKeyColumnName", "oldRecipientIdColumnName", "newRecipientIdColumnName",
        "createDateColumnName",
      ]
      if let table = try layout(of: audit.id, named: "AuditRecord.auditRecordListId", &problems) {
        check(zip(names, audit.columns).map { ("AuditRecord.\($0)", $1) }, against: table, id: audit.id, &problems)
        if !table.keyColumns.isEmpty, table.keyColumns != [ByteText(audit.keyColumn)] {
          problems.append(
            "AuditRecord.auditRecordPrimaryKeyColumnName: '\(audit.keyColumn)' is not the key of table \(audit.id)")
        }
      }
    }
    if !problems.isEmpty { throw IdentityConfigurationError(problems: problems) }
    return Finding(
      mobileUserIdIsKey: list?.keyColumns.contains(ByteText(settings.mobileUserIdColumn)) == true,
      missingColumns: missing)
  }

  private func layout(of id: String, named key: String, _ problems: inout [String]) throws -> ListLayout? {
    do {
      return try retryPolicy.reading { () throws(RemoteFailure) in try remote.layout(of: id) }
    } catch RemoteFailure.refused(let fault, _) {
      problems.append("\(key): the service has no list '\(id)' or refuses to describe it: \(ServiceFault.words(fault))")
      return nil
    }
  }

  /// Whether the service takes a look-up by a column that its description leaves out.
  private func canSearch(_ column: String) throws -> Bool {
    guard IdentitySession.isWritable(column) else { return true }
    do {
      _ = try retryPolicy.reading { () throws(RemoteFailure) in
        try remote.find([IdentityColumn(name: column, value: "engage-batch")])
      }
      return true
    } catch RemoteFailure.refused {
      return false
    } catch RemoteFailure.wrongAnswer {
      return true
    }
  }

  private func check(
    _ needed: [(key: String, column: String)], against layout: ListLayout, id: String, _ problems: inout [String]
  ) {
    for (key, column) in needed where !layout.columns.contains(ByteText(column)) {
      problems.append("\(key): list \(id) has no column '\(column)'")
    }
  }
}
