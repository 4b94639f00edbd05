import BatchConfiguration
import BatchFoundation
import EngageEvents

/// Whether what a run wrote is there, although the service may keep it in a form of its own (reference decisions 61).
final class WrittenColumns: Sendable {
  private let layout = Guarded<ListLayout?>(nil)
  private let settings: IdentitySettings

  init(_ settings: IdentitySettings) { self.settings = settings }

  /// The list as a run described it before.
  func note(_ layout: ListLayout) { self.layout.withLock { $0 = layout } }

  /// - Parameter database: is asked once, where nobody described the list before. One that refuses that has texts.
  func kind(of column: String, _ database: any RecipientDatabase, _ retryPolicy: RetryPolicy) throws(RemoteFailure)
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

  /// Whether a look-up by a whole text finds the recipient that keeps less of it.
  func finds(
    _ whole: IdentityColumn, of image: RecipientImage, _ database: any RecipientDatabase, _ retryPolicy: RetryPolicy
  ) throws(RemoteFailure) -> Bool {
    let holder = try retryPolicy.reading { () throws(RemoteFailure) in try database.holder(of: [whole]) }
    return holder?.isIdentical(to: image.id) == true
  }

  private func kind(of column: String, _ layout: ListLayout) -> ColumnKind {
    let isFolded =
      RecipientImage.key(column) == "EMAIL" || column.isIdentical(to: settings.recipient.mobileUserIdColumn)
    let kind = layout.kind(of: column)
    return isFolded && kind.isText ? .email : kind
  }
}
