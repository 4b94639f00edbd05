package import BatchFoundation

/// An event for Collect (reference deltadna 5), in the memory of its records.
package struct GameEvent {
  package var name: Text
  package var userID: Text
  /// Empty for a stored event that stays without one.
  package var sessionID: Text
  package var eventUUID: EventUUID
  /// The `eventParams` as sent: names in byte order at every depth, `platform` and `sdkVersion` last at the top level.
  package var parameters: JSONView
  package var timestamp: Instant
  /// The device of the export, which owns the state.
  package var device: Text
  /// The number of the event on its device, counted from 1 across runs.
  package var emission: Int64
  /// The consent given by the time of the event; determines which request it may be in.
  package var consent: PIPLConsent
  /// The event was stored by an SDK; whitelists and triggers ignore it.
  package var isStored: Bool
  /// The place where the event's record was read.
  package var source = StoredSource.unknown

  /// The order of `--events-out` and of delivery: timestamp, device id by bytes, emission number.
  @inlinable
  package static func precedes(_ one: GameEvent, _ other: GameEvent) -> Bool {
    if one.timestamp != other.timestamp { return one.timestamp < other.timestamp }
    if one.device != other.device { return one.device < other.device }
    return one.emission < other.emission
  }

  package func copied(to arena: Arena) -> GameEvent {
    var copy = self
    copy.name = unsafe arena.copy(name.bytes)
    copy.userID = unsafe arena.copy(userID.bytes)
    copy.sessionID = unsafe arena.copy(sessionID.bytes)
    copy.eventUUID = eventUUID.copied(to: arena)
    copy.device = unsafe arena.copy(device.bytes)
    let memory = unsafe arena.allocate(parameters.size)
    unsafe memory.copyMemory(from: parameters.start, byteCount: parameters.size)
    copy.parameters = unsafe JSONView(at: memory)
    return copy
  }
}

/// The consents given, as the headers of a request state them (reference deltadna 8).
package struct PIPLConsent: OptionSet, Hashable, Sendable {
  package let rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  /// `PIPL_CONSENT: true`
  package static let use = PIPLConsent(rawValue: 1)
  /// `PIPL_EXPORT: true`
  package static let export = PIPLConsent(rawValue: 2)
}

/// The parameters of a device's automatic events, cached while the values in them are unchanged.
struct AutomaticParameters {
  /// Nil until they are built.
  var gameStarted: JSONView?
  var clientDevice: JSONView?
  private var block = DeviceBlock()
  private var pushToken = Text.empty
  private var crossGameUserID = Text.empty

  init() {}

  /// Prepares for parameters built from the state's current texts.
  init(of state: GameState) {
    block = state.block
    pushToken = state.pushToken
    crossGameUserID = state.crossGameUserID
  }

  /// Returns whether the parameters' texts are still those of the state.
  func areOf(_ state: GameState) -> Bool {
    state.block.isSame(as: block) && state.pushToken.isSame(as: pushToken)
      && state.crossGameUserID.isSame(as: crossGameUserID)
  }
}

extension DeviceBlock {
  /// Returns whether all texts are in the same memory; equal ones elsewhere are not the same.
  fileprivate func isSame(as other: DeviceBlock) -> Bool {
    let (ours, theirs) = (values.span, other.values.span)
    for slot in ours.indices where !ours[slot].isSame(as: theirs[slot]) { return false }
    return true
  }
}

extension Text {
  fileprivate func isSame(as other: Text) -> Bool { unsafe base == other.base && count == other.count }
}
