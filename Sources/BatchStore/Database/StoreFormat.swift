/// What a store is for: the platform's name, its events, and its own tables.
package struct StoreFormat: Sendable {
  /// The `destination` of jobs; every chunk carries it.
  package var destination: String
  package var codec: any EventCodec
  /// The platform's tables as numbered steps that are never edited after a release.
  package var migrations: [String]
  /// Nil where events never change.
  package var amendment: (any BlockAmendment)?
  /// An SQL condition on the platform's tables: true where the service has, or may have, something of the store besides events, or
  /// the store something of the service. Nil for never.
  package var footprint: String?

  package init(
    destination: String, codec: any EventCodec, migrations: [String] = [], amendment: (any BlockAmendment)? = nil,
    footprint: String? = nil
  ) {
    self.destination = destination
    self.codec = codec
    self.migrations = migrations
    self.amendment = amendment
    self.footprint = footprint
  }
}
