import BatchFoundation
package import BatchStore
import EngageEvents
package import GRDB

/// The identities that were published for events, which their chunks take on before the first attempt.
package struct PublishedIdentities: BlockAmendment {
  package func amended(_ block: [UInt8], limits: BlockLimits, in db: Database) throws -> EventBlocks? {
    guard try Int.fetchOne(db.cachedStatement(sql: "SELECT 1 FROM identity_period LIMIT 1")) != nil else { return nil }
    struct Known {
      var periods: [IdentityPeriod]
      var moments: [Int64: Int64]
    }
    var devices: [Text: Known] = [:]
    var changes = false
    let arena = Arena(blockSize: 1 << 14)
    let recoded = try EventBlocks(recoding: block, limits: limits) { event in
      guard !event.identityIsFixed else { return event }
      let known: Known
      if let found = devices[event.device] {
        known = found
      } else {
        let device = unsafe Array(event.device.bytes)
        let periods = try Identities.identityPeriods(of: device, in: db)
        known = Known(
          periods: periods, moments: periods.isEmpty ? [:] : try Identities.identityMoments(of: device, in: db))
        devices[event.device] = known
      }
      let moment = known.moments[event.emission] ?? event.emission
      guard let period = known.periods.last(where: { $0.fromEmission <= moment }) else { return event }
      let core = unsafe event.core.pointee.replacing(
        recipient: arena.text(period.recipientId), user: arena.text(period.mobileUserId), fillsOnly: period.fillsOnly)
      guard let core else { return event }
      changes = true
      var event = event
      unsafe event.core = core.placed(in: arena)
      return event
    }
    return changes ? recoded : nil
  }

  package func renumber(_ device: [UInt8], from old: Int64, to new: Int64, in db: Database) throws {
    try db.execute(
      sql: """
        INSERT OR REPLACE INTO identity_moment (device, emission, of_emission)
        SELECT ?1, ?3, coalesce((SELECT of_emission FROM identity_moment WHERE device = ?1 AND emission = ?2), ?2)
        """, arguments: [device.blob, old, new])
  }
}

extension CoreTexts {
  /// The values with another recipient and user id; nil if nothing changes. Empty text leaves a value as it is.
  fileprivate func replacing(recipient: Text, user: Text, fillsOnly: Bool) -> CoreTexts? {
    let keepsRecipient = fillsOnly && !self[.recipientId].isEmpty
    let setsRecipient = !recipient.isEmpty && !keepsRecipient && self[.recipientId] != recipient
    let setsUser = !user.isEmpty && self[.primaryUserId] != user
    guard setsRecipient || setsUser else { return nil }
    var copy = self
    if setsRecipient { copy[.recipientId] = recipient }
    if setsUser { copy[.primaryUserId] = user }
    return copy
  }
}

extension EventBlocks {
  /// The events of a block, each passed through `change`, in blocks of these limits.
  fileprivate init(recoding block: [UInt8], limits: BlockLimits, _ change: (Event) throws -> Event) throws {
    var reader = try BlockReader(block)
    let arena = Arena(blockSize: 1 << 16)
    var events: [Event] = []
    while try reader.next() {
      events.append(try change(reader.event(in: arena)))
    }
    var encoder = EventBlockEncoder(limits: limits)
    self = unsafe events.withUnsafeBufferPointer { unsafe encoder.encode($0) }
    // The events' text is in the reader and in the arena.
    withExtendedLifetime(arena) {}
    _ = reader.eventCount
  }
}
