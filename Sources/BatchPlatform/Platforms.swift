package import BatchFoundation
package import BatchIngest
package import BatchStore

/// The platforms of a program; jobs choose one by its name.
package struct Platforms: Sendable {
  package let all: [any Platform]

  package init(_ all: [any Platform]) { self.all = all }

  package subscript(name: String) -> (any Platform)? { all.first { $0.name.utf8.elementsEqual(name.utf8) } }

  /// - Throws: ``UnknownPlatformError``.
  package func platform(named name: String) throws -> any Platform {
    guard let platform = self[name] else { throw UnknownPlatformError(name: name, known: all.map(\.name)) }
    return platform
  }

  /// What lines may be in jobs of a platform: its own records, and those of others, which it ignores.
  package func vocabulary(of platform: any Platform) -> any RecordVocabulary {
    all.filter { $0.name != platform.name }.reduce(platform.vocabulary) { $1.ignoringOwnRecords(in: $0) }
  }
}

/// A job, or a store, for a platform that this program does not have.
package struct UnknownPlatformError: RunError, Equatable, CustomStringConvertible {
  package var name: String
  package var known: [String]

  package var exit: RunExit { .configuration }

  package var description: String {
    "error: '\(name)' is not a destination of this program; it knows \(known.map { "'\($0)'" }.joined(separator: ", "))"
  }
}

/// Stores that are opened without a job: the store itself knows whose events it holds.
extension Platforms {
  /// Opens an existing store to look at it. One that no run has bound yet is taken for the first platform's.
  ///
  /// - Throws: ``StoreError``, ``UnknownPlatformError``.
  ///
  /// - Parameter checksPages: false opens a store also where pages of it are damaged.
  package func openReading(
    _ path: String, checksPages: Bool = true
  ) throws -> (store: EventStore, platform: any Platform) {
    let platform = try platform(ofStore: path, checksPages: checksPages)
    return (try EventStore.openReading(path, format: platform.storeFormat, checksPages: checksPages), platform)
  }

  /// As ``openReading(_:)``, to change it.
  package func open(_ path: String) throws -> (store: EventStore, platform: any Platform) {
    // Reading changes nothing, so a store gets no tables of a platform that it does not belong to.
    let platform = try platform(ofStore: path, checksPages: true)
    return (try EventStore.open(path, format: platform.storeFormat), platform)
  }

  private func platform(ofStore path: String, checksPages: Bool) throws -> any Platform {
    // Whose it is stands in a table of the core, which every format reads alike.
    let store = try EventStore.openReading(path, format: all[0].storeFormat, checksPages: checksPages)
    let kind = try store.destination()?.kind
    try store.close()
    return try kind.map { try platform(named: $0) } ?? all[0]
  }
}
