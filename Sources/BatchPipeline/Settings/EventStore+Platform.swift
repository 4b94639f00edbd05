package import BatchStore
import DeltaDNAPlatform

/// Stores that are opened without a job: the store itself knows whose events it holds.
extension EventStore {
  package static func openReadingAny(_ path: String) throws -> EventStore {
    try reopened(openReading(path)) { try openReading(path, format: $0) }
  }

  package static func openAny(_ path: String) throws -> EventStore {
    // Reading changes nothing, so a store of another platform gets no tables of this one.
    let format = try format(of: openReading(path))
    return try open(path, format: format)
  }

  private static func reopened(_ store: EventStore, _ open: (StoreFormat) throws -> EventStore) throws -> EventStore {
    guard try store.destination()?.kind == DeltaDNAPlatform.name else { return store }
    try store.close()
    return try open(DeltaDNAPlatform().storeFormat)
  }

  private static func format(of store: EventStore) throws -> StoreFormat {
    let kind = try store.destination()?.kind
    try store.close()
    return kind == DeltaDNAPlatform.name ? DeltaDNAPlatform().storeFormat : .engage
  }
}
