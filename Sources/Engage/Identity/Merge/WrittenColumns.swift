import BatchConfiguration
import BatchFoundation
package import EngageRules

/// Whether what a run wrote is there, although the service may keep it in a form of its own (reference decisions 61): the one comparison of
/// runs and of `verify`.
package final class WrittenColumns: Sendable {
  private let layout = Guarded<ListLayout?>(nil)
  private let settings: IdentitySettings

  package init(_ settings: IdentitySettings) { self.settings = settings }

  /// The list as a run described it before.
  func note(_ layout: ListLayout) { self.layout.withLock { $0 = layout } }

  /// - Parameter database: is asked once, where nobody described the list before. One that refuses that has texts.
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

  /// Whether a recipient has one of the values of a change, and not the other. A date that was written into an empty column counts as there
  /// in whatever form it comes back.
  func has(
    _ wanted: String, of change: ColumnChange, unlike other: String, on image: RecipientImage,
    _ database: any RecipientDatabase, _ retryPolicy: RetryPolicy
  ) throws(RemoteFailure) -> Bool {
    let value = image[change.name]
    if value.isIdentical(to: wanted) { return true }
    if change.isDate && other.isEmpty && !wanted.isEmpty && !value.isEmpty { return true }
    return try kind(of: change.name, database, retryPolicy).keeps(wanted, as: value)
  }

  /// Whether a column keeps less of a text than was written, and a look-up by the whole text finds the recipient all the same.
  package func finds(
    _ whole: IdentityColumn, cutOn image: RecipientImage, _ database: any RecipientDatabase, _ retryPolicy: RetryPolicy
  ) throws(RemoteFailure) -> Bool {
    guard try kind(of: whole.name, database, retryPolicy).cuts(whole.value, to: image[whole.name]) else { return false }
    let holder = try retryPolicy.reading { () throws(RemoteFailure) in try database.holder(of: [whole]) }
    return holder?.isIdentical(to: image.id) == true
  }

  /// Whether what a step wrote is there, cut or not.
  package func holds(
    _ change: ColumnChange, on image: RecipientImage, _ database: any RecipientDatabase, _ retryPolicy: RetryPolicy
  ) throws(RemoteFailure) -> Bool {
    if try has(change.after, of: change, unlike: change.before, on: image, database, retryPolicy) { return true }
    return try finds(IdentityColumn(name: change.name, value: change.after), cutOn: image, database, retryPolicy)
  }
}
