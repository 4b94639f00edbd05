import BatchFoundation
import EngageRules

/// A database that reads from the service and only records writes, so that the reconciler's own code can compute a
/// plan.
final class PlanningDatabase: RecipientDatabase {
  private struct State {
    /// Recipients as they would be after the writes so far.
    var images: [ByteText: RecipientImage] = [:]
    /// The columns of recipients that would be added, in order.
    var added: [(id: String, columns: [ColumnValue])] = []
  }

  private let service: any RecipientDatabase
  private let state = Guarded(State())

  init(_ service: any RecipientDatabase) { self.service = service }

  /// Returns a placeholder for the id of a recipient that does not exist yet.
  static func newID(of columns: [ColumnValue]) -> String { "new:" + (columns.first?.value ?? "") }

  var added: [(id: String, columns: [ColumnValue])] { state.withLock { $0.added } }

  func find(_ ids: [ColumnValue]) throws(RemoteFailure) -> RecipientImage? {
    let known = state.withLock { state in state.images.values.filter { $0.matches(ids) } }
    var candidates = known
    if let found = try service.find(ids) {
      let asItWouldBe = state.withLock { $0.images[ByteText(found.id)] }
      if asItWouldBe?.answers(ids) ?? true { candidates.append(asItWouldBe ?? found) }
    }
    // The service returns the oldest recipient; those not yet added are the newest.
    return candidates.min { Self.age($0.id) < Self.age($1.id) }
  }

  private static func age(_ id: String) -> (Int64, ByteText) { (Int64(id) ?? .max, ByteText(id)) }

  func read(_ recipient: String) throws(RemoteFailure) -> RecipientImage? {
    if let known = state.withLock({ $0.images[ByteText(recipient)] }) { return known }
    guard let image = try service.read(recipient) else { return nil }
    state.withLock { $0.images[ByteText(recipient)] = image }
    return image
  }

  /// Records a new recipient without a look-up, because the caller has already looked for it.
  func add(_ columns: [ColumnValue]) throws(RemoteFailure) -> String {
    let id = Self.newID(of: columns)
    state.withLock { state in
      state.images[ByteText(id)] = RecipientImage(id: id, columns: columns)
      state.added.append((id, columns))
    }
    return id
  }

  func update(_ recipient: String, _ columns: [ColumnValue]) throws(RemoteFailure) {
    guard let image = try read(recipient) else { throw .absent("") }
    state.withLock { $0.images[ByteText(recipient)] = image.changed(by: columns) }
  }

  func writeRow(_ row: [ColumnValue], table: String) throws(RemoteFailure) {}

  func deleteRow(key: ColumnValue, table: String) throws(RemoteFailure) {}

  func make(_ instruction: ContactInstruction, for recipient: String, user: ColumnValue) throws(RemoteFailure) {
    guard var image = try read(recipient) else { throw .absent("") }
    switch instruction {
    case .optOut, .optIn: image.isOptedOut = instruction == .optOut
    case .contactList, .program: break
    }
    let changed = image
    state.withLock { $0.images[ByteText(recipient)] = changed }
  }

  func layout(of list: String) throws(RemoteFailure) -> ListLayout { try service.layout(of: list) }

  func reconnect() { service.reconnect() }
}
