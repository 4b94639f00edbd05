import BatchFoundation
package import BatchStore
import EngageRules
package import GRDB

/// The identities found for devices. The events of a chunk adopt them before its first attempt.
package struct PublishedIdentities: BlockAmendment {
  package func amended(_ block: [UInt8], limits: RequestLimits, in db: Database) throws -> EventBlocks? {
    guard try Int.fetchOne(db.cachedStatement(sql: "SELECT 1 FROM identity_device LIMIT 1")) != nil else { return nil }
    var who = try WhoIsWho(db)
    var moments: [Text: [Int64: Int64]] = [:]
    var changes = false
    let arena = Arena(blockSize: 1 << 14)
    let event = try EventBlockReader(block, .engage)
    var writer = EventBlockWriter(.engage, limits: limits, isCopying: true)
    while try event.next() {
      guard !event.flags.contains(.isFixed) else {
        event.copy(to: &writer)
        continue
      }
      let known: [Int64: Int64]
      if let found = moments[event.device] {
        known = found
      } else {
        known = try Self.moments(of: unsafe Array(event.device.bytes), in: db)
        moments[unsafe arena.copy(event.device.bytes)] = known
      }
      // The event for the end of a session has the instant of the pause, but the emission number of a later record.
      let own = min(event.emission, EmissionNumber.begin(at: event.timestamp + Milliseconds(1)) - 1)
      let (user, recipient) = (event[.primaryUserId], event[.recipientId])
      let identity = try who.identity(
        of: event.device.description, user.description, recorded: recipient.description,
        at: known[event.emission] ?? own)
      var replaced: [Int: Text] = [:]
      for (attribute, old, new) in [
        (CoreAttribute.primaryUserId, user, arena.text(identity.mobileUserId)),
        (.recipientId, recipient, arena.text(identity.recipientId)),
      ] where old != new {
        replaced[attribute.rawValue] = arena.text(JSONString.escaped(new.description))
      }
      if !replaced.isEmpty { changes = true }
      event.copy(to: &writer, replaced: replaced)
    }
    return changes ? writer.take() : nil
  }

  /// Returns the earlier moments whose identity the device's events carry, by the events' emission numbers.
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

extension EventBlockReader {
  /// Returns a core attribute; valid as long as the reader exists.
  fileprivate subscript(attribute: CoreAttribute) -> Text { shared(attribute.rawValue) }
}

/// A present or former identity of a device.
package struct ExportedIdentity: Sendable, Equatable {
  package var device: String
  /// The mobile user id; empty for none.
  package var mobileUserId: String
  package var recipientId: String
  /// The recipient into which this one was merged; empty if it was not merged.
  package var mergedInto: String
}

extension Identities {
  /// Passes the identities of all devices to `body`, sorted by device id. For each person whom a device recorded in
  /// turn, these are the identities of merged recipients, then the current one.
  package func forEachIdentity(_ body: (ExportedIdentity) throws -> Void) throws {
    try connection.readIdentities(orElse: ()) { db in
      let devices = try String.fetchCursor(db, sql: "SELECT DISTINCT device FROM identity_device ORDER BY device")
      while let device = try devices.next() {
        var who = try WhoIsWho(db)
        let history = try who.history(of: device)
        for (place, (before, now)) in history.enumerated() {
          // Nobody was named yet.
          if now.recipientId.isEmpty, now.mobileUserId.isEmpty, place + 1 < history.count { continue }
          // If a person returns or is renamed, the last time counts.
          guard
            !history[(place + 1)...].contains(where: {
              !now.recipientId.isEmpty && $0.now.recipientId.isIdentical(to: now.recipientId)
            })
          else { continue }
          let chain = before + [now]
          for (place, identity) in chain.enumerated() {
            try body(
              ExportedIdentity(
                device: device, mobileUserId: identity.mobileUserId, recipientId: identity.recipientId,
                mergedInto: place + 1 < chain.count ? chain[place + 1].recipientId : ""))
          }
        }
      }
    }
  }
}
