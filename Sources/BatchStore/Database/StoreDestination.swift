import GRDB

/// The destination of a store's events: the kind of service, its address, and the part of the service's data that the
/// events belong to.
package struct StoreDestination: Sendable, Equatable, CustomStringConvertible {
  /// The name in jobs, such as `engage`.
  package var kind: String
  /// The normalized address; nil until it is known.
  package var address: String?
  /// The part of the service's data, in the platform's terms: a list, the digest of an environment key, or the
  /// environment of a project. Nil until it is known.
  package var share: String?

  package init(kind: String, address: String? = nil, share: String? = nil) {
    self.kind = kind
    self.address = address
    self.share = share
  }

  /// Returns whether the destinations are known to differ. An unknown value does not count as a difference.
  package func contradicts(_ other: StoreDestination) -> Bool {
    func differ(_ one: String?, _ other: String?) -> Bool {
      guard let one, let other else { return false }
      return !one.utf8.elementsEqual(other.utf8)
    }
    return differ(kind, other.kind) || differ(address, other.address) || differ(share, other.share)
  }

  /// Returns this destination with unknown values filled in from the other.
  func completed(by other: StoreDestination) -> StoreDestination {
    StoreDestination(kind: kind, address: address ?? other.address, share: share ?? other.share)
  }

  package var description: String {
    kind + (address.map { " at \($0)" } ?? "") + (share.map { ", \($0)" } ?? "")
  }
}

extension EventStore {
  /// Returns the destination that the store is bound to; nil until a run binds it.
  package func destination() throws -> StoreDestination? {
    try connection.read { try Self.destination(in: $0) }
  }

  /// Returns the store's destination if it conflicts with the given one; otherwise nil. A store that has sent nothing
  /// can be bound to a different service of the same kind, because the first one may have been a mistake.
  package func destination(against given: StoreDestination) throws -> StoreDestination? {
    try connection.read { try destination(against: given, in: $0) }
  }

  /// Binds the store to a destination: completes the current one, or replaces it if the store has never been used with
  /// it.
  ///
  /// - Returns: nil if the store is bound now; otherwise the conflicting destination, and nothing is changed.
  package func bind(to given: StoreDestination) throws -> StoreDestination? {
    try connection.write { db in
      if let bound = try destination(against: given, in: db) { return bound }
      let bound = try Self.destination(in: db)
      try Self.set(bound.map { $0.contradicts(given) ? given : $0.completed(by: given) } ?? given, in: db)
      return nil
    }
  }

  /// Binds the store to a different destination, and forgets how far the old service's lists were read.
  package func rebind(to destination: StoreDestination) throws {
    try connection.write { db in
      try Self.set(destination, in: db)
      try db.execute(sql: "DELETE FROM service_mark")
    }
  }

  private func destination(against given: StoreDestination, in db: Database) throws -> StoreDestination? {
    guard let bound = try Self.destination(in: db), bound.contradicts(given) else { return nil }
    // The format of device states depends on the kind.
    guard bound.kind.utf8.elementsEqual(given.kind.utf8) else { return bound }
    return try hasGoneAnywhere(db) ? bound : nil
  }

  /// Returns whether the service has, or may have, data from the store, or the store has data from the service.
  private func hasGoneAnywhere(_ db: Database) throws -> Bool {
    let away = [AttemptOutcome.acknowledged, .rejected, .unknown].map { "\($0.rawValue)" }.joined(separator: ", ")
    return try Bool.fetchOne(
      db,
      sql: """
        SELECT EXISTS (SELECT 1 FROM destination WHERE is_used = 1)
          OR EXISTS (SELECT 1 FROM attempt WHERE outcome IS NULL OR outcome IN (\(away)))
          OR \(format.footprint ?? "0")
        """) ?? true
  }

  /// Records that the store was used, before a purge deletes the evidence.
  static func noteUse(of db: Database) throws { try db.execute(sql: "UPDATE destination SET is_used = 1") }

  private static func destination(in db: Database) throws -> StoreDestination? {
    try Row.fetchOne(db, sql: "SELECT kind, address, share FROM destination").map {
      try StoreDestination(kind: $0.value("kind"), address: $0.value("address"), share: $0.value("share"))
    }
  }

  private static func set(_ destination: StoreDestination, in db: Database) throws {
    try db.execute(sql: "DELETE FROM destination")
    try db.execute(
      sql: "INSERT INTO destination (kind, address, share) VALUES (?, ?, ?)",
      arguments: [destination.kind, destination.address, destination.share])
  }
}
