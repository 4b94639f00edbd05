import BatchFoundation
import EngageRules

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
      "\(step.name.rawValue): column '\(column)' cut the value, and no look-up by the whole value finds it")
  }
}
