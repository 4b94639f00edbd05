package import BatchStore
import GRDB

extension EventStore {
  package var merges: MergeJournal { MergeJournal(connection: connection) }
  package var identities: Identities { Identities(connection: connection) }
}

extension StoreConnection {
  /// Reads tables of Engage; a store of another platform has none of them.
  func readIdentities<Value>(orElse none: Value, _ body: (Database) throws -> Value) throws -> Value {
    guard format.destination == StoreFormat.engage.destination else { return none }
    return try read(body)
  }
}
