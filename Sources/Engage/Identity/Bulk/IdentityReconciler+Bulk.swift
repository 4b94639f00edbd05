import BatchConfiguration
import BatchFoundation
import BatchReport
import BatchStore
import EngageRules

extension IdentityReconciler {
  private static let page = 20_000

  /// Exports the list if more than `Recipient.bulkThreshold` look-ups are pending, and imports the recipients that
  /// devices lack. Each such device is marked first, so that a later run looks for its recipient even if the response
  /// is lost.
  ///
  /// - Parameter absent: The columns that the list does not have.
  /// - Returns: The service with look-ups from the export; nil if there are too few look-ups, or if the transfer fails
  ///   or is incomplete, which is logged.
  func prepareIndex(_ log: RunLog, without absent: Set<ByteText>) throws -> IndexedDatabase? {
    guard let transfer else { return nil }
    do {
      return try prepareIndex(transfer, log, without: absent)
    } catch let fault where fault is ExportFault || (fault as? RemoteFailure)?.endsRun == false {
      log.note("list transfer failed, so recipients are looked up one by one: \(fault)")
    }
    return nil
  }

  private func prepareIndex(
    _ transfer: ListTransfer, _ log: RunLog, without absent: Set<ByteText>
  ) throws -> IndexedDatabase? {
    var searched: Set<IndexedDatabase.Pair> = []
    var persons: [Person] = []
    var lookUps = 0
    var person: Person?
    while true {
      let page = try store.identities.personsToSetUp(after: person, limit: Self.page)
      guard let last = page.last else { break }
      person = last
      for known in page where known.recipientId.isEmpty {
        searched.insert(IndexedDatabase.Pair(userColumn(of: known)))
        persons.append(known)
        lookUps += 1
      }
    }
    var check: PendingCheck?
    while true {
      let page = try store.identities.pendingChecks(after: check, limit: Self.page)
      guard let last = page.last else { break }
      check = last
      lookUps += page.count
      for pending in page {
        for id in pending.check.ids where !id.isBlank { searched.insert(IndexedDatabase.Pair(id)) }
      }
    }
    guard lookUps > settings.recipient.bulkThreshold else { return nil }
    let index = try exported(transfer, searched, without: absent)
    let renames = settings.recipient.onNewUserId == .rename
    let missing = try persons.filter {
      try isMissing($0, in: index) && store.identities.predecessor(of: $0, renames: renames) == nil
    }
    if missing.isEmpty { return index }
    for start in stride(from: 0, to: missing.count, by: ListTransfer.rowsPerImport) {
      let chunk = missing[start..<min(start + ListTransfer.rowsPerImport, missing.count)].map { known in
        var known = known
        known.progress = .adding
        return known
      }
      try journal { try store.identities.save(chunk) }
      try transfer.add(
        chunk.map(\.mobileUserId), to: settings.recipient.mobileUserIdColumn,
        named: "engage-batch-\(run.number)-\(start)")
    }
    let renewed = try exported(transfer, searched, without: absent)
    let created = try missing.count { try !isMissing($0, in: renewed) }
    log.count { $0.figures.created += created }
    // Each row is looked up, because a completed job reports only how many rows it refused, not which.
    if created < missing.count {
      log.note(
        "imported recipients missing from the list: \(missing.count - created) of \(missing.count); their devices are set up one by one"
      )
    }
    return renewed
  }

  /// Whether no recipient has the person's mobile user id. False for a failed look-up, which the set-up handles.
  private func isMissing(_ person: Person, in index: IndexedDatabase) throws -> Bool {
    do {
      return try index.find([userColumn(of: person)]) == nil
    } catch  where error.concernsOneDevice {
      return false
    }
  }

  private func exported(
    _ transfer: ListTransfer, _ searched: Set<IndexedDatabase.Pair>, without absent: Set<ByteText>
  ) throws -> IndexedDatabase {
    var columns = [settings.recipient.mobileUserIdColumn]
    if settings.recipient.marksMergesInDatabase {
      columns += [settings.recipient.mergedRecipientIdColumn, settings.recipient.mergedDateColumn]
    }
    columns += try store.identities.searchedColumns().filter { name in
      !absent.contains(ByteText(name)) && !columns.contains { $0.isIdentical(to: name) }
    }
    let index = IndexedDatabase(remote, searched: searched)
    try transfer.export(columns) { id, values in
      index.take(id, zip(columns, values).map { ColumnValue($0, $1) })
    }
    return index
  }

  private func userColumn(of person: Person) -> ColumnValue {
    ColumnValue(settings.recipient.mobileUserIdColumn, person.mobileUserId)
  }
}
