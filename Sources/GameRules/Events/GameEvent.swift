package import BatchFoundation

/// An event for Collect (reference deltadna 5). Its texts and values point into the memory of its records or of an
/// arena.
package struct GameEvent {
  package var name: Text
  package var userID: Text
  /// Empty for a stored event that was recorded without a session and gets none.
  package var sessionID: Text
  package var eventUUID: EventUUID
  /// The `eventParams` as sent: names sorted by bytes at every depth, but `platform` and `sdkVersion` last at the top
  /// level.
  package var parameters: JSONView
  package var timestamp: Instant
  /// The device in the export, to which the state belongs.
  package var device: Text
  /// The event's position in processing order on its device, across runs (``EmissionNumber``).
  package var emission: Int64
  /// The consent that applied at the time of the event. All events in a request have the same consent.
  package var consent: PIPLConsent
  /// Whether an SDK stored the event; if so, whitelists and triggers do not apply to it.
  package var isStored: Bool
  /// The place where the event's record was read.
  package var source = StoredSource.unknown

  /// Orders events as `--events-out` and delivery do: by timestamp, bytes of the device id, and emission number.
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

/// The consents given, which the headers of a request state (reference deltadna 8).
package struct PIPLConsent: OptionSet, Hashable, Sendable {
  package let rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  /// `PIPL_CONSENT: true`
  package static let use = PIPLConsent(rawValue: 1)
  /// `PIPL_EXPORT: true`
  package static let export = PIPLConsent(rawValue: 2)
}

/// The parameters of a device's automatic events, cached as long as the values in them do not change.
struct AutomaticParameters {
  /// Nil until they are built.
  var gameStarted: JSONView?
  var clientDevice: JSONView?
  private var block = DeviceBlock()
  private var pushToken = Text.empty
  private var crossGameUserID = Text.empty

  init() {}

  /// Starts an empty cache for parameters that will be built from the state's current texts.
  init(of state: GameState) {
    block = state.block
    pushToken = state.pushToken
    crossGameUserID = state.crossGameUserID
  }

  /// Returns whether the state still has the texts that the cache was started with, compared by address.
  func areOf(_ state: GameState) -> Bool {
    state.block.isSameMemory(as: block) && state.pushToken.isSameMemory(as: pushToken)
      && state.crossGameUserID.isSameMemory(as: crossGameUserID)
  }
}

extension DeviceBlock {
  /// Returns whether all texts are at the same addresses; equal texts at other addresses do not count.
  fileprivate func isSameMemory(as other: DeviceBlock) -> Bool {
    let (ours, theirs) = (values.span, other.values.span)
    for slot in ours.indices where !ours[slot].isSameMemory(as: theirs[slot]) { return false }
    return true
  }
}
