package import BatchFoundation
package import BatchStore
package import EngageRules
package import TestSupport

extension TemporaryFolder {
  package var store: String { path + "/store.sqlite" }
}

/// Events whose text lives in one arena.
package struct EventFixtures {
  package let arena = Arena()

  package init() {}

  package static let core: [(CoreAttribute, StaticString)] = [
    (.deviceName, "iPhone"), (.deviceVersion, "iPhone7,2"), (.osName, "iOS"), (.osVersion, "8.1"), (.appName, "App"),
    (.appVersion, "1.0"), (.deviceId, ""), (.primaryUserId, ""), (.anonymousId, ""), (.recipientId, ""),
  ]

  package func event(
    _ milliseconds: Int64, device: String = "D1", emission: Int64 = 1, code: String = "17", user: String = "",
    recipient: String = "", name: String = "PLAYER LOADED", expired: Bool = false, fixed: Bool = false
  ) -> Event {
    let values = [
      "iPhone", "iPhone7,2", "iOS", "8.1", "App", "1.0", device, user, "", recipient,
    ]
    let extra = [("Event Name", name)]
    return event(
      milliseconds, code: code, device: device, emission: emission, core: values, extra: extra, expired: expired,
      fixed: fixed)
  }

  package func event(
    _ milliseconds: Int64, code: String, device: String, emission: Int64, core: [String], extra: [(String, String)],
    expired: Bool = false, fixed: Bool = false
  ) -> Event {
    var values = CoreTexts()
    for (slot, value) in core.enumerated() { values.values[slot] = arena.text(value) }
    let list = unsafe arena.allocate(extra.count * MemoryLayout<Attribute>.stride).bindMemory(
      to: Attribute.self, capacity: extra.count)
    for (index, pair) in extra.enumerated() {
      unsafe (list + index).initialize(to: Attribute(arena.text(pair.0), arena.text(pair.1)))
    }
    return unsafe Event(
      code: arena.text(code), timestamp: Instant(milliseconds: milliseconds), device: arena.text(device),
      emission: emission, core: values.placed(in: arena),
      attributes: UnsafeBufferPointer(start: list, count: extra.count), expired: expired, identityIsFixed: fixed)
  }

  package func blocks(_ events: [Event], limits: RequestLimits = .test()) -> EventBlocks {
    var encoder = EventBlockWriter(.engage, limits: limits)
    return unsafe events.sorted(by: Event.precedes).withUnsafeBufferPointer { unsafe encoder.encode($0) }
  }

  package func batch(_ events: [Event], limits: RequestLimits = .test()) -> LocalBatch {
    var batch = LocalBatch()
    batch.events = [blocks(events, limits: limits)]
    return batch
  }
}

/// An event in the form of the wire.
package func json(_ event: Event) -> String {
  var buffer = ByteBuffer()
  EventJSON.append(event, to: &buffer)
  return unsafe String(decoding: buffer.bytes, as: UTF8.self)
}

/// The request body of a block.
package func body(_ block: [UInt8], contact: Bool = false) throws -> String {
  var buffer = ByteBuffer()
  try unsafe block.withUnsafeBufferPointer {
    try unsafe WireForm.engage.appendBody(of: $0, version: contact ? 1 : 0, to: &buffer)
  }
  return unsafe String(decoding: buffer.bytes, as: UTF8.self)
}
