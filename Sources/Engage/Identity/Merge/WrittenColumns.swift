import BatchConfiguration
import BatchFoundation
import EngageRules

/// Compares written values with those that the service stores for them (reference decisions 61), for runs and `verify`.
/// Functions call the service only if they must, and throw the failure of the call.
struct WrittenColumns: Sendable {
  let settings: IdentitySettings
  let database: any RecipientDatabase
  let retryPolicy: RetryPolicy
  /// The description of the list; nil until it is needed.
  var layout = Guarded<ListLayout?>(nil)

  /// If the service refuses to describe the list, columns count as text.
  func kind(of column: String) throws(RemoteFailure) -> ColumnKind {
    if let layout = layout.withLock({ $0 }) { return kind(of: column, layout) }
    do {
      let known = try retryPolicy.repeating { () throws(RemoteFailure) in try database.layout(of: settings.list) }
      layout.withLock { $0 = known }
      return kind(of: column, known)
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
    _ wanted: String, of change: ColumnChange, unlike other: String, on image: RecipientImage
  ) throws(RemoteFailure) -> Bool {
    let value = image[change.name]
    if value.isIdentical(to: wanted) { return true }
    if change.isDate && other.isEmpty && !wanted.isEmpty && !value.isEmpty { return true }
    return try kind(of: change.name).keeps(wanted, as: value)
  }

  /// Whether a column truncated the value, but a look-up by the whole value still finds the recipient.
  func finds(_ whole: ColumnValue, cutOn image: RecipientImage) throws(RemoteFailure) -> Bool {
    guard try kind(of: whole.name).cuts(whole.value, to: image[whole.name]) else { return false }
    return try holder(of: [whole])?.isIdentical(to: image.id) == true
  }

  /// Returns the id of the recipient that a look-up finds; nil if there is none.
  func holder(of ids: [ColumnValue]) throws(RemoteFailure) -> String? {
    try retryPolicy.repeating { () throws(RemoteFailure) in try database.holder(of: ids) }
  }

  /// Whether the value that a step wrote is present, even if truncated.
  func holds(_ change: ColumnChange, on image: RecipientImage) throws(RemoteFailure) -> Bool {
    if try has(change.after, of: change, unlike: change.before, on: image) { return true }
    return try finds(ColumnValue(change.name, change.after), cutOn: image)
  }
}

/// Compares a recipient with the changes of a step (reference decisions 61).
extension MergeExecutor {
  /// Whether the recipient already has the change.
  func isMade(_ change: ColumnChange, on image: RecipientImage) throws -> Bool {
    try reconciler.columns.has(change.after, of: change, unlike: change.before, on: image)
  }

  func isToBeMade(_ change: ColumnChange, on image: RecipientImage) throws -> Bool {
    let columns = reconciler.columns
    if try columns.has(change.before, of: change, unlike: change.after, on: image) { return true }
    // When undoing, the written value may have been truncated.
    return try columns.kind(of: change.name).cuts(change.before, to: image[change.name])
  }

  /// Whether the recipient has all changes; a truncated value counts if a look-up by the whole value still works.
  ///
  /// - Throws: ``Stop/abort(_:)`` for a column that truncated a value so that no look-up finds the recipient.
  func areMade(_ changes: [ColumnChange], _ step: MergeStep, on image: RecipientImage) throws -> Bool {
    let missing = try changes.filter { try !isMade($0, on: image) }
    if missing.isEmpty { return true }
    let columns = reconciler.columns
    // The step did not truncate a value that was there before.
    guard step.isStarted,
      try missing.allSatisfy({
        try !isToBeMade($0, on: image) && columns.kind(of: $0.name).cuts($0.after, to: image[$0.name])
      })
    else { return false }
    let cut = try missing.first { try !columns.finds(ColumnValue($0.name, $0.after), cutOn: image) }
    guard let column = cut?.name else { return true }
    throw Stop.abort(
      "\(step.name.rawValue): column '\(column)' truncated the value, and a look-up by the full value does not find the recipient"
    )
  }
}
