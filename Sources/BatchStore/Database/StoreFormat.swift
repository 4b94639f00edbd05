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
  /// What a purge deletes of the platform's tables; nil where nothing there grows old.
  package var retention: Retention?
  /// What the platform's tables know of people; nil for nothing.
  package var personal: (any PersonalTables)?

  /// How rows of the platform's tables come over from a part's store.
  package var collection: Collection

  /// Statements by which a store collects parts, and by which it lets them go again while others of their partition are missing.
  package struct Collection: Sendable {
    /// Tables with an `id` to which rows are only added; those that were added go by their numbers.
    package var appended: [String]
    /// SQL that takes rows over from the same tables of a store beside it, `part`; `?1` is the run.
    package var statements: [String]
    /// SQL that takes back what `statements` changed besides, before the rows of `appended` go.
    package var withdrawal: [String]
    /// SQL that forgets what `withdrawal` would need, when no part is missing any more.
    package var settlement: [String]

    package init(
      appended: [String] = [], statements: [String] = [], withdrawal: [String] = [], settlement: [String] = []
    ) {
      self.appended = appended
      self.statements = statements
      self.withdrawal = withdrawal
      self.settlement = settlement
    }
  }

  /// How rows of a platform's tables grow old.
  package struct Retention: Sendable {
    /// The rows in one word, as a member of JSON.
    package var name: String
    /// SQL that deletes rows as old as `?1`, in milliseconds since 1970.
    package var statements: [String]

    package init(name: String, statements: [String]) {
      self.name = name
      self.statements = statements
    }
  }

  package init(
    destination: String, codec: any EventCodec, migrations: [String] = [], amendment: (any BlockAmendment)? = nil,
    footprint: String? = nil, retention: Retention? = nil,
    personal: (any PersonalTables)? = nil, collection: Collection = Collection()
  ) {
    self.collection = collection
    self.destination = destination
    self.codec = codec
    self.migrations = migrations
    self.amendment = amendment
    self.footprint = footprint
    self.retention = retention
    self.personal = personal
  }
}
