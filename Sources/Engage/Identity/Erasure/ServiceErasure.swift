import BatchConfiguration
package import BatchFoundation
import EngageRules

/// The irreversible deletion of people at the service: their recipients and the audit rows of their merges. Functions
/// throw the failure of a call, and ``RemoteFailure/wrongAnswer`` for a recipient without the value looked up.
package struct ServiceErasure: Sendable {
  package var remote: ServiceDatabase
  package var settings: IdentitySettings
  package var retryPolicy: RetryPolicy

  /// The maximum number of recipients with the same value; a greater number suggests a wrong column.
  private static let most = 100

  /// Returns the ids of these people's recipients that exist now, and changes nothing. If several have the same value,
  /// only the oldest is found, because the service returns only that one.
  package func find(_ ids: [PersonID], _ traces: ServiceTraces) throws(RemoteFailure) -> [String] {
    var found: Set<String> = []
    for recipient in traces.recipients.sorted() {
      if try read(recipient) { found.insert(recipient) }
    }
    for column in lookUps(ids, traces) {
      if let recipient = try find(column), !keeps(recipient, foundBy: column, traces) { found.insert(recipient) }
    }
    return found.sorted()
  }

  /// Deletes the recipients that ``find(_:_:)`` finds until none is left, then the audit rows; returns the number of
  /// each. After an error, the call may be repeated to delete the rest.
  ///
  /// - Throws: ``RemoteFailure/refused(fault:_:)`` also if more than 100 recipients have the same value.
  package func erase(
    _ ids: [PersonID], _ traces: ServiceTraces
  ) throws(RemoteFailure) -> (recipients: Int, auditRows: Int) {
    var recipients = 0
    for recipient in traces.recipients.sorted() where try remove(recipient) { recipients += 1 }
    for column in lookUps(ids, traces) {
      var count = 0
      while let recipient = try find(column), !keeps(recipient, foundBy: column, traces) {
        guard count < Self.most else {
          throw .refused(
            fault: 0,
            "more than \(Self.most) recipients have the same value in column '\(column.name)'; \(Self.most) were deleted. Check that the column identifies one person, then run the command again to delete the rest"
          )
        }
        if try remove(recipient) { recipients += 1 }
        count += 1
      }
    }
    var rows = 0
    for row in traces.auditRows.sorted(by: { $0.value < $1.value }) where try remove(row) { rows += 1 }
    return (recipients, rows)
  }

  private func lookUps(_ ids: [PersonID], _ traces: ServiceTraces) -> [ColumnValue] {
    let named = Set(ids.filter { $0.kind == .mobileUserID }.map(\.value.string))
    let users = named.union(traces.mobileUsers).sorted().map {
      ColumnValue(settings.recipient.mobileUserIdColumn, $0)
    }
    return users + traces.columns.sorted { ($0.name, $0.value) < ($1.name, $1.value) }
  }

  /// Whether the recipient is kept because a mobile user id of these people finds it, but other devices use it too.
  /// Recipients found by a customer's id are not kept, because that id was given.
  private func keeps(_ recipient: String, foundBy column: ColumnValue, _ traces: ServiceTraces) -> Bool {
    column.name.isIdentical(to: settings.recipient.mobileUserIdColumn) && traces.kept.contains(recipient)
  }

  private func find(_ column: ColumnValue) throws(RemoteFailure) -> String? {
    let image = try retryPolicy.repeating { () throws(RemoteFailure) in try remote.find([column]) }
    guard let image else { return nil }
    // Other look-ups accept a response that does not show the value; a deletion must not.
    guard image.answers([column]) else { throw .wrongAnswer }
    return image.id
  }

  private func read(_ recipient: String) throws(RemoteFailure) -> Bool {
    try retryPolicy.repeating { () throws(RemoteFailure) in try remote.read(recipient) } != nil
  }

  /// - Returns: False if the recipient no longer exists. Repeating the call deletes nothing else.
  private func remove(_ recipient: String) throws(RemoteFailure) -> Bool {
    try isGone { () throws(RemoteFailure) in try remote.remove(recipient) }
  }

  private func remove(_ row: ServiceTraces.AuditKey) throws(RemoteFailure) -> Bool {
    try isGone { () throws(RemoteFailure) in
      try remote.deleteRow(key: ColumnValue(row.column, row.value), table: row.table)
    }
  }

  private func isGone(_ call: () throws(RemoteFailure) -> Void) throws(RemoteFailure) -> Bool {
    do {
      try retryPolicy.repeating(call)
      return true
    } catch .absent {
      return false
    } catch {
      throw error
    }
  }
}
