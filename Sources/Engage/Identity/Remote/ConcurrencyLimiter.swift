import BatchFoundation
import EngageRules

/// A limit on concurrent calls to the service (reference identity 7: an eleventh is refused).
struct ConcurrencyLimiter: RecipientDatabase {
  private let inner: any RecipientDatabase
  private let free: Guarded<Int>

  init(_ inner: any RecipientDatabase, concurrency: Int) {
    self.inner = inner
    free = Guarded(max(concurrency, 1))
  }

  private func call<Value>(_ body: () throws(RemoteFailure) -> Value) throws(RemoteFailure) -> Value {
    free.wait { count -> Void? in
      guard count > 0 else { return nil }
      count -= 1
      return ()
    }
    defer { free.change { $0 += 1 } }
    return try body()
  }

  func find(_ ids: [IdentityColumn]) throws(RemoteFailure) -> RecipientImage? {
    try call { () throws(RemoteFailure) in try inner.find(ids) }
  }

  func holder(of ids: [IdentityColumn]) throws(RemoteFailure) -> String? {
    try call { () throws(RemoteFailure) in try inner.holder(of: ids) }
  }

  func read(_ recipient: String) throws(RemoteFailure) -> RecipientImage? {
    try call { () throws(RemoteFailure) in try inner.read(recipient) }
  }

  func add(_ columns: [IdentityColumn]) throws(RemoteFailure) -> String {
    try call { () throws(RemoteFailure) in try inner.add(columns) }
  }

  func update(_ recipient: String, _ columns: [IdentityColumn]) throws(RemoteFailure) {
    try call { () throws(RemoteFailure) in try inner.update(recipient, columns) }
  }

  func writeRow(_ row: [IdentityColumn], table: String) throws(RemoteFailure) {
    try call { () throws(RemoteFailure) in try inner.writeRow(row, table: table) }
  }

  func deleteRow(key: IdentityColumn, table: String) throws(RemoteFailure) {
    try call { () throws(RemoteFailure) in try inner.deleteRow(key: key, table: table) }
  }

  func make(_ instruction: ContactInstruction, for recipient: String, user: IdentityColumn) throws(RemoteFailure) {
    try call { () throws(RemoteFailure) in try inner.make(instruction, for: recipient, user: user) }
  }

  func layout(of list: String) throws(RemoteFailure) -> ListLayout {
    try call { () throws(RemoteFailure) in try inner.layout(of: list) }
  }

  func reconnect() { inner.reconnect() }
}
