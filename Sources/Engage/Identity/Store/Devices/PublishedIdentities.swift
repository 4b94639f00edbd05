import BatchFoundation
package import BatchStore
import EngageRules
package import GRDB

/// The identities found for devices, which the events of their chunks adopt before the first attempt.
package struct PublishedIdentities: BlockAmendment {
  package func amended(_ block: [UInt8], limits: BlockLimits, in db: Database) throws -> EventBlocks? {
    guard try Int.fetchOne(db.cachedStatement(sql: "SELECT 1 FROM identity_device LIMIT 1")) != nil else { return nil }
    var who = try WhoIsWho(db)
    var moments: [Text: [Int64: Int64]] = [:]
    var changes = false
    let arena = Arena(blockSize: 1 << 14)
    let recoded = try EventBlocks(recoding: block, limits: limits) { event in
      guard !event.identityIsFixed else { return event }
      let known: [Int64: Int64]
      if let found = moments[event.device] {
        known = found
      } else {
        known = try Self.moments(of: unsafe Array(event.device.bytes), in: db)
        moments[unsafe arena.copy(event.device.bytes)] = known
      }
      // The end of a session has the instant of its pause, but is decided later.
      let own = min(event.emission, EmissionNumber.begin(at: event.timestamp + Milliseconds(1)) - 1)
      let core = unsafe event.core.pointee
      let identity = try who.identity(
        of: event.device.description, core[.primaryUserId].description, recorded: core[.recipientId].description,
        at: known[event.emission] ?? own)
      guard
        let core = core.replacing(recipient: arena.text(identity.recipientId), user: arena.text(identity.mobileUserId))
      else { return event }
      changes = true
      var event = event
      unsafe event.core = core.placed(in: arena)
      return event
    }
    return changes ? recoded : nil
  }

  /// Returns, by emission number, the earlier moment whose identity an event of the device carries.
  private static func moments(of device: [UInt8], in db: Database) throws -> [Int64: Int64] {
    let statement = try db.cachedStatement(sql: "SELECT emission, of_emission FROM identity_moment WHERE device = ?")
    return Dictionary(
      try Row.fetchAll(statement, arguments: [device.blob]).map {
        (try $0.emission("emission"), try $0.emission("of_emission"))
      },
      uniquingKeysWith: { $1 })
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
  /// Returns the values with another recipient and user id; nil if nothing changes.
  fileprivate func replacing(recipient: Text, user: Text) -> CoreTexts? {
    guard self[.recipientId] != recipient || self[.primaryUserId] != user else { return nil }
    var copy = self
    copy[.recipientId] = recipient
    copy[.primaryUserId] = user
    return copy
  }
}

extension EventBlocks {
  /// Passes each event of a block through `change` and encodes them in blocks of these limits.
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
