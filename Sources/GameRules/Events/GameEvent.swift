package import BatchFoundation

/// An event on its way to Collect (reference deltadna 5), in the memory of the records it was made of.
package struct GameEvent {
  package var name: Text
  package var userID: Text
  /// Empty for a stored event that stays without one.
  package var sessionID: Text
  package var eventUUID: EventUUID
  /// `eventParams` as it is sent: names in the order of their bytes at every depth, `platform` and `sdkVersion` last at the top.
  package var parameters: JSONView
  package var timestamp: Instant
  /// Of the export; what the state belongs to.
  package var device: Text
  /// Counts the events of the device from 1, across runs.
  package var emission: Int64
  /// As given by the time of the event; decides which request it may go in.
  package var consent: Consent
  /// An SDK stored it; whitelists and triggers pass it by.
  package var isStored: Bool
  /// Where the record that led to it was read.
  package var source: StoredSource

  package init(
    name: Text, userID: Text, sessionID: Text, eventUUID: EventUUID, parameters: JSONView,
    timestamp: Instant, device: Text, emission: Int64, consent: Consent, isStored: Bool,
    source: StoredSource = .unknown
  ) {
    self.name = name
    self.userID = userID
    self.sessionID = sessionID
    self.eventUUID = eventUUID
    self.parameters = parameters
    self.timestamp = timestamp
    self.device = device
    self.emission = emission
    self.consent = consent
    self.isStored = isStored
    self.source = source
  }

  /// The order of `--events-out` and of delivery: timestamp, device id by bytes, emission number.
  @inlinable
  package static func precedes(_ one: GameEvent, _ other: GameEvent) -> Bool {
    if one.timestamp != other.timestamp { return one.timestamp < other.timestamp }
    if one.device != other.device { return one.device < other.device }
    return one.emission < other.emission
  }
}

extension GameEvent {
  /// The same event with all its memory in the arena.
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

/// Which consents were given, as the headers of a request say it (reference deltadna 8).
package struct Consent: OptionSet, Hashable, Sendable {
  package let rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  /// `PIPL_CONSENT: true`
  package static let use = Consent(rawValue: 1)
  /// `PIPL_EXPORT: true`
  package static let export = Consent(rawValue: 2)
}

/// Parameters of the automatic events that a device sends with each session, kept while nothing that they tell changes.
struct AutomaticParameters {
  /// Nil until they are made.
  var gameStarted: JSONView?
  var clientDevice: JSONView?
  private var block = DeviceBlock()
  private var pushToken = Text.empty
  private var crossGameUserID = Text.empty

  init() {}

  /// For what will be made of the texts that the state has now.
  init(of state: GameState) {
    block = state.block
    pushToken = state.pushToken
    crossGameUserID = state.crossGameUserID
  }

  /// Whether all texts that the parameters are made of are still those of the state.
  func areOf(_ state: GameState) -> Bool {
    state.block.isSame(as: block) && state.pushToken.isSame(as: pushToken)
      && state.crossGameUserID.isSame(as: crossGameUserID)
  }
}

extension DeviceBlock {
  /// Whether all texts are the same pieces of memory; equal ones elsewhere are not.
  fileprivate func isSame(as other: DeviceBlock) -> Bool {
    let (ours, theirs) = (values.span, other.values.span)
    for slot in ours.indices where !ours[slot].isSame(as: theirs[slot]) { return false }
    return true
  }
}

extension Text {
  fileprivate func isSame(as other: Text) -> Bool { unsafe base == other.base && count == other.count }
}
