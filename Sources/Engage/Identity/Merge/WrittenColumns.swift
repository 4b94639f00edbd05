import BatchConfiguration
import BatchFoundation
package import EngageRules

/// The comparison of written values with the service's form of them (reference decisions 61), for runs and `verify`.
package final class WrittenColumns: Sendable {
  private let layout = Guarded<ListLayout?>(nil)
  private let settings: IdentitySettings

  package init(_ settings: IdentitySettings) { self.settings = settings }

  /// Keeps the description of the list.
  func note(_ layout: ListLayout) { self.layout.withLock { $0 = layout } }

  /// - Parameter database: Asked once, if the list has not been described. If it refuses, columns count as text.
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

  /// Whether a recipient has one of a change's values, and not the other. Any date in a previously empty column counts.
  func has(
    _ wanted: String, of change: ColumnChange, unlike other: String, on image: RecipientImage,
    _ database: any RecipientDatabase, _ retryPolicy: RetryPolicy
  ) throws(RemoteFailure) -> Bool {
    let value = image[change.name]
    if value.isIdentical(to: wanted) { return true }
    if change.isDate && other.isEmpty && !wanted.isEmpty && !value.isEmpty { return true }
    return try kind(of: change.name, database, retryPolicy).keeps(wanted, as: value)
  }

  /// Whether a column cut a text, but a look-up by the whole text still finds the recipient.
  package func finds(
    _ whole: ColumnValue, cutOn image: RecipientImage, _ database: any RecipientDatabase, _ retryPolicy: RetryPolicy
  ) throws(RemoteFailure) -> Bool {
    guard try kind(of: whole.name, database, retryPolicy).cuts(whole.value, to: image[whole.name]) else { return false }
    let holder = try retryPolicy.reading { () throws(RemoteFailure) in try database.holder(of: [whole]) }
    return holder?.isIdentical(to: image.id) == true
  }

  /// Whether the value written by a step is present, cut or not.
  package func holds(
    _ change: ColumnChange, on image: RecipientImage, _ database: any RecipientDatabase, _ retryPolicy: RetryPolicy
  ) throws(RemoteFailure) -> Bool {
    if try has(change.after, of: change, unlike: change.before, on: image, database, retryPolicy) { return true }
    return try finds(ColumnValue(change.name, change.after), cutOn: image, database, retryPolicy)
  }
}

/// The comparison of a recipient with the changes of a step (reference decisions 61).
extension MergeExecutor {
  /// Whether the change is already made.
  func isMade(_ change: ColumnChange, on image: RecipientImage) throws -> Bool {
    try reconciler.columns.has(change.after, of: change, unlike: change.before, on: image, remote, retryPolicy)
  }

  func isToBeMade(_ change: ColumnChange, on image: RecipientImage) throws -> Bool {
    if try reconciler.columns.has(change.before, of: change, unlike: change.after, on: image, remote, retryPolicy) {
      return true
    }
    // When undoing, the written value may have been cut.
    return try kind(change).cuts(change.before, to: image[change.name])
  }

  private func kind(_ change: ColumnChange) throws(RemoteFailure) -> ColumnKind {
    try reconciler.columns.kind(of: change.name, remote, retryPolicy)
  }

  /// Whether all changes are made. A value found by a look-up of the whole text counts, even if the column cut it.
  ///
  /// - Throws: ``Stop/abort(_:)`` naming the column that cut a value.
  func areMade(_ changes: [ColumnChange], _ step: MergeStep, on image: RecipientImage) throws -> Bool {
    let missing = try changes.filter { try !isMade($0, on: image) }
    if missing.isEmpty { return true }
    // A value from before was not written by this step.
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
