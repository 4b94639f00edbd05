import BatchFoundation
import EngageEvents

/// What a recipient has, beside what a step writes (reference decisions 61).
extension MergeExecutor {
  /// Whether a change is there, or not yet.
  func isMade(_ change: ColumnChange, on image: RecipientImage) throws -> Bool {
    try matches(change, change.after, unlike: change.before, image)
  }

  func isToBeMade(_ change: ColumnChange, on image: RecipientImage) throws -> Bool {
    if try matches(change, change.before, unlike: change.after, image) { return true }
    // On the way back, what was written may have been cut.
    return try kind(change).cuts(change.before, to: image[change.name])
  }

  /// A date that was written into an empty column counts as there in whatever form it comes back.
  private func matches(
    _ change: ColumnChange, _ wanted: String, unlike other: String, _ image: RecipientImage
  ) throws -> Bool {
    let value = image[change.name]
    if value.isIdentical(to: wanted) { return true }
    if change.isDate && other.isEmpty && !wanted.isEmpty && !value.isEmpty { return true }
    return try kind(change).keeps(wanted, as: value)
  }

  private func kind(_ change: ColumnChange) throws(RemoteFailure) -> ColumnKind {
    try reconciler.columns.kind(of: change.name, remote, retryPolicy)
  }

  /// The column that keeps less of a text than was written, so that a look-up does not find it; nil for none.
  private func cutColumn(_ changes: [ColumnChange], on image: RecipientImage) throws -> String? {
    for change in changes where try kind(change).cuts(change.after, to: image[change.name]) {
      let whole = IdentityColumn(name: change.name, value: change.after)
      if try !reconciler.columns.finds(whole, of: image, remote, retryPolicy) { return change.name }
    }
    return nil
  }

  /// Whether all changes are there; what a look-up by the whole text finds is there, however much of it is kept.
  ///
  /// - Throws: ``Stop/abort(_:)`` naming the column that cut a value.
  func areMade(_ changes: [ColumnChange], _ step: MergeStep, on image: RecipientImage) throws -> Bool {
    let missing = try changes.filter { try !isMade($0, on: image) }
    if missing.isEmpty { return true }
    // What is there from before was not written by this step.
    guard step.isStarted,
      try missing.allSatisfy({ try !isToBeMade($0, on: image) && kind($0).cuts($0.after, to: image[$0.name]) })
    else { return false }
    guard let column = try cutColumn(missing, on: image) else { return true }
    throw Stop.abort(
      "\(step.name.rawValue): column '\(column)' cut the value, and no look-up by the whole value finds it")
  }
}
