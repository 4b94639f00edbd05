import BatchFoundation
package import BatchIngest
package import BatchStore

/// The platforms in a program; jobs choose one by name.
package struct Platforms: Sendable {
  package let all: [any Platform]

  package init(_ all: [any Platform]) { self.all = all }

  package subscript(name: String) -> (any Platform)? { all.first { $0.name.utf8.elementsEqual(name.utf8) } }

  /// - Throws: ``CommandError`` for a job or store whose platform this program does not have.
  package func platform(named name: String) throws -> any Platform {
    if let platform = self[name] { return platform }
    throw CommandError(
      .configuration,
      "error: '\(name)' is not a destination of this program; known destinations are \(all.map { "'\($0.name)'" }.joined(separator: ", "))"
    )
  }

  /// Returns the vocabulary for jobs of a platform: its own types, and the types to ignore because only another
  /// platform uses them.
  package func vocabulary(of platform: any Platform) -> RecordVocabulary {
    var vocabulary = platform.vocabulary
    if vocabulary.own == nil { vocabulary.ignored = all.lazy.compactMap(\.vocabulary.own).first }
    return vocabulary
  }
}

/// Stores opened without a job: the store itself names the platform of its events.
extension Platforms {
  /// Opens an existing store for reading. A store that no run has bound to a platform yet is opened for the first
  /// platform.
  ///
  /// - Parameter checksPages: false to open a store even if some of its pages are damaged.
  /// - Throws: ``StoreError``, ``CommandError`` for an unknown platform.
  package func openReading(
    _ path: String, checksPages: Bool = true
  ) throws -> (store: EventStore, platform: any Platform) {
    var platform = all[0]
    let store = try EventStore.openReading(path, checksPages: checksPages) { name in
      platform = try self.platform(ofStore: name)
      return platform.storeFormat
    }
    return (store, platform)
  }

  /// Passes an existing store to `body` for changes, like ``openReading(_:checksPages:)``; no run may have it open.
  ///
  /// - Throws: ``StoreError``, ``CommandError`` for an unknown platform, and what `body` throws.
  package func change(_ path: String, _ body: (EventStore, any Platform) throws -> Void) throws {
    var platform = all[0]
    try EventStore.change(path) { name in
      platform = try self.platform(ofStore: name)
      return platform.storeFormat
    } _: {
      try body($0, platform)
    }
  }

  private func platform(ofStore name: String?) throws -> any Platform {
    try name.map { try platform(named: $0) } ?? all[0]
  }
}
