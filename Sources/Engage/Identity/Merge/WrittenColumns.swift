import BatchConfiguration
import BatchFoundation
package import EngageRules

/// Compares written values with those that the service stores for them (reference decisions 61), for runs and `verify`.
/// Functions call the service only if they must, and throw the failure of the call.
package final class WrittenColumns: Sendable {
  private let layout = Guarded<ListLayout?>(nil)
  private let settings: IdentitySettings

  package init(_ settings: IdentitySettings) { self.settings = settings }

  /// Keeps the description of the list.
  func note(_ layout: ListLayout) { self.layout.withLock { $0 = layout } }

  /// - Parameter database: Provides the description of the list if none is known yet. If the service refuses it,
  ///   columns count as text.
  package func kind(of column: String, _ database: any RecipientDatabase, _ retryPolicy: RetryPolicy)
    throws(RemoteFailure)
    -> ColumnKind
  {
    if let layout = layout.withLock({ $0 }) { return kind(of: column, layout) }
    do {
      let layout = try retryPolicy.reading { () throws(RemoteFailure) in try database.layout(of: settings.list) }
      note(layout)
      return kind(of: column, layout)
    } catch {
      guard error.concernsOneDevice else { throw error }
      return kind(of: column, ListLayout(columns: [], keyColumns: []))
    }
  }

  private func kind(of column: String, _ layout: ListLayout) -> ColumnKind {
    let isFolded =
      RecipientImage.key(column) == "EMAIL" || column.isIdentical(to: settings.recipient.mobileUserIdColumn)
    let kind = layout.kind(of: column)
    return isFolded && kind.isText ? .email : kind
  }

  /// Whether a recipient has the value `wanted` of a change, in any spelling in which the service may store it. If
  /// `other` is empty, any date counts as a wanted date.
  func has(
    _ wanted: String, of change: ColumnChange, unlike other: String, on image: RecipientImage,
    _ database: any RecipientDatabase, _ retryPolicy: RetryPolicy
  ) throws(RemoteFailure) -> Bool {
    let value = image[change.name]
    if value.isIdentical(to: wanted) { return true }
    if change.isDate && other.isEmpty && !wanted.isEmpty && !value.isEmpty { return true }
    return try kind(of: change.name, database, retryPolicy).keeps(wanted, as: value)
  }

  /// Whether a column truncated the value, but a look-up by the whole value still finds the recipient.
  package func finds(
    _ whole: ColumnValue, cutOn image: RecipientImage, _ database: any RecipientDatabase, _ retryPolicy: RetryPolicy
  ) throws(RemoteFailure) -> Bool {
    guard try kind(of: whole.name, database, retryPolicy).cuts(whole.value, to: image[whole.name]) else { return false }
    let holder = try retryPolicy.reading { () throws(RemoteFailure) in try database.holder(of: [whole]) }
    return holder?.isIdentical(to: image.id) == true
  }

  /// Whether the value that a step wrote is present, even if truncated.
  package func holds(
    _ change: ColumnChange, on image: RecipientImage, _ database: any RecipientDatabase, _ retryPolicy: RetryPolicy
  ) throws(RemoteFailure) -> Bool {
    if try has(change.after, of: change, unlike: change.before, on: image, database, retryPolicy) { return true }
    return try finds(ColumnValue(change.name, change.after), cutOn: image, database, retryPolicy)
  }
}

/// Compares a recipient with the changes of a step (reference decisions 61).
extension MergeExecutor {
  /// Whether the recipient already has the change.
  func isMade(_ change: ColumnChange, on image: RecipientImage) throws -> Bool {
    try reconciler.columns.has(change.after, of: change, unlike: change.before, on: image, remote, retryPolicy)
  }

  func isToBeMade(_ change: ColumnChange, on image: RecipientImage) throws -> Bool {
    if try reconciler.columns.has(change.before, of: change, unlike: change.after, on: image, remote, retryPolicy) {
      return true
    }
    // When undoing, the written value may have been truncated.
    return try kind(change).cuts(change.before, to: image[change.name])
  }

  private func kind(_ change: ColumnChange) throws(RemoteFailure) -> ColumnKind {
    try reconciler.columns.kind(of: change.name, remote, retryPolicy)
  }

  /// Whether the recipient has all changes; a truncated value counts if a look-up by the whole value still works.
  ///
  /// - Throws: ``Stop/abort(_:)`` for a column that truncated a value so that no look-up finds the recipient.
  func areMade(_ changes: [ColumnChange], _ step: MergeStep, on image: RecipientImage) throws -> Bool {
    let missing = try changes.filter { try !isMade($0, on: image) }
    if missing.isEmpty { return true }
    // The step did not truncate a value that was there before.
    guard step.isStarted,
      try missing.allSatisfy({ try !isToBeMade($0, on: image) && kind($0).cuts($0.after, to: image[$0.name]) })
    else { return false }
    let cut = try missing.first { change in
      let whole = ColumnValue(change.name, change.after)
      return try !reconciler.columns.finds(whole, cutOn: image, remote, retryPolicy)
    }
    guard let column = cut?.name else { return true }
    throw Stop.abort(
      "\(step.name.rawValue): column '\(column)' truncated the value, and a look-up by the full value does not find the recipient"
    )
  }
}
