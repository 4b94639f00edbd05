import BatchFoundation
import BatchPipeline
import EngageRules

/// The changes made by ``IdentityReconciler/link(anonymous:primary:mergeColumn:primaryColumn:)``.
package struct LinkResult: Equatable, Sendable {
  package var changedAnonymous = false
  package var changedPrimary = false
}

extension IdentityReconciler {
  /// Writes the primary user id to `mergeColumn` of the anonymous recipient and of the user's own recipient, so that a
  /// later rule at the service can join them, as the SDKs' older helper `updateAnonymousToPrimaryUser` does (reference
  /// identity 5.3).
  ///
  /// Both recipients are looked up before anything is written, and each write is repeated until a read shows it.
  ///
  /// - Parameters:
  ///   - anonymous: The recipient id of the anonymous recipient.
  ///   - primary: The user id, as stored in `primaryColumn`.
  /// - Throws: ``ServiceSettingsError`` for missing columns, ``CommandError`` for unknown or equal ids, ``RemoteFailure``.
  package func link(
    anonymous: String, primary: String, mergeColumn: String, primaryColumn: String
  ) throws -> LinkResult {
    let wanted = [mergeColumn, primaryColumn]
    let layout = try retryPolicy.repeating { () throws(RemoteFailure) in try remote.layout(of: settings.list) }
    let missing = wanted.filter { !layout.columns.contains(ByteText($0)) }
    guard missing.isEmpty else {
      throw ServiceSettingsError(problems: missing.map { "list \(settings.list) has no column '\($0)'" })
    }
    let found = try retryPolicy.repeating { () throws(RemoteFailure) in
      try remote.find([ColumnValue(primaryColumn, primary)])
    }
    func refuse(_ problem: String) -> CommandError {
      CommandError(.inputRefused, "error: \(problem); nothing was written")
    }
    guard let found else { throw refuse("no recipient has the primary user id") }
    guard !found.id.isIdentical(to: anonymous) else { throw refuse("both ids belong to the same recipient") }
    guard try retryPolicy.repeating({ () throws(RemoteFailure) in try remote.read(anonymous) }) != nil else {
      throw refuse("no recipient has the id given with --anonymous")
    }
    let column = ColumnValue(mergeColumn, primary)
    return LinkResult(
      changedAnonymous: try set(column, on: anonymous), changedPrimary: try set(column, on: found.id))
  }

  /// - Returns: False if the column already had the value.
  private func set(_ column: ColumnValue, on recipient: String) throws -> Bool {
    var hasWritten = false
    var attempts = RetryPolicy.Attempts(retryPolicy)
    while true {
      let image = try retryPolicy.repeating { () throws(RemoteFailure) in try remote.read(recipient) }
      if image?.matches([column]) == true { return hasWritten }
      if hasWritten, !attempts.waitForRepeat() {
        throw RemoteFailure.uncertain("a recipient still lacks the value after repeated updates")
      }
      do {
        try remote.update(recipient, [column])
      } catch .uncertain {
        // The next read shows whether the update was made.
      } catch {
        try attempts.next(after: error)
      }
      hasWritten = true
    }
  }
}
