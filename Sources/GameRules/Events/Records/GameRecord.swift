package import BatchFoundation
package import BatchIngest

/// One accepted line of an export in a game's job, validated and typed. Its texts stay in the memory of its
/// partition.
package struct GameRecord {
  package var device: Text = .empty
  package var timestamp = Instant(milliseconds: 0)
  package var type = GameRecordType.launch
  package var kind = InputKind.events
  package var position = RecordPosition(file: 0, line: 0)
  /// The key K, from which all ids made for the record are derived (reference deltadna 5).
  package var key = NameUUID(high: 0, low: 0)

  /// The device values of the record; an empty value leaves the earlier one unchanged.
  package var block = DeviceBlock()
  /// The user from this record on; nil if the record names none.
  package var userID: Text?
  /// The name of an event or a goal, or the decision point; nil if the type has none.
  package var name: Text?
  /// The flavour of an engagement.
  package var flavour: Text?
  /// The session of a stored event; nil if the event has none. The same holds for `eventUUID`.
  package var sessionID: Text?
  package var eventUUID: Text?
  /// The push token, cross-game id or advertising id, depending on the type; nil if there is none. Only the first two
  /// may be empty.
  package var value: Text?
  /// An object with the parameters that the type adds to `eventParams`. For a `notificationOpened`, its push payload.
  package var own: JSONView?
  /// The `params`, or the `eventParams` of a stored event.
  package var params: JSONView?
  package var didLaunch: Bool?
  /// The consents that the record sets; nil leaves the earlier value unchanged.
  package var use: Bool?
  package var export: Bool?
  /// Whether the record is an `imageMessageAction` of type `none`, which is not an event.
  package var isNoAction = false
  /// Whether the record lacks what `transactionServer` needs to validate the receipt (reference deltadna-service 2.3).
  package var lacksReceipt = false

  /// Replaces this record with the one in the entry; texts and views point into the entry's memory.
  package mutating func take(_ entry: RecordEntry) {
    device = entry.device
    timestamp = entry.timestamp
    type = GameRecordType(rawValue: entry.type) ?? .launch
    kind = entry.kind
    position = entry.position
    if let payload = unsafe entry.payload.baseAddress { unsafe unpack(payload) }
  }

  /// An upper bound for the payload's size in bytes.
  @inline(__always)
  var payloadBound: Int {
    func text(_ text: Text?) -> Int { RecordPacker.bound(text) }
    var size = RecordPacker.head + 16
    let values = block.values.span
    for slot in values.indices where !values[slot].isEmpty { size += text(values[slot]) }
    size += text(userID) + text(name) + text(flavour) + text(sessionID) + text(eventUUID) + text(value)
    return size + (own?.size ?? 0) + (params?.size ?? 0)
  }

  /// - Returns: the number of bytes written.
  @inline(__always)
  func writePayload(at start: UnsafeMutableRawPointer) -> Int {
    var packer = unsafe RecordPacker(at: start)
    packer.put(bits: key.high)
    packer.put(bits: key.low)
    let values = block.values.span
    for slot in values.indices { packer.put(values[slot].isEmpty ? nil : values[slot]) }
    packer.put(userID)
    packer.put(name)
    packer.put(flavour)
    packer.put(sessionID)
    packer.put(eventUUID)
    packer.put(value)
    packer.put(own)
    packer.put(params)
    packer.put(didLaunch)
    packer.put(use)
    packer.put(export)
    packer.put(isNoAction)
    packer.put(lacksReceipt)
    return packer.end()
  }

  /// Reads a payload that ``writePayload(at:)`` wrote; texts and views point into its memory.
  package mutating func unpack(_ payload: UnsafeRawPointer) {
    var unpacker = unsafe RecordUnpacker(at: payload)
    key = NameUUID(high: unpacker.bits(), low: unpacker.bits())
    var values = block.values.mutableSpan
    for slot in values.indices { values[slot] = unpacker.text() ?? .empty }
    userID = unpacker.text()
    name = unpacker.text()
    flavour = unpacker.text()
    sessionID = unpacker.text()
    eventUUID = unpacker.text()
    value = unpacker.text()
    own = unpacker.view()
    params = unpacker.view()
    didLaunch = unpacker.optionalFlag()
    use = unpacker.optionalFlag()
    export = unpacker.optionalFlag()
    isNoAction = unpacker.flag()
    lacksReceipt = unpacker.flag()
  }
}

/// The values recorded for a device; each is empty until it is known.
package struct DeviceBlock {
  package var values = InlineArray<10, Text>(repeating: .empty)

  package subscript(slot: DeviceSlot) -> Text {
    // A span is read in place, whereas reading one value from the array would copy the array.
    @inline(__always) get { values.span[slot.rawValue] }
    @inline(__always) set { values[slot.rawValue] = newValue }
  }
}

/// The members of `device` that the rules use; the raw value is an index in ``DeviceBlock``.
package enum DeviceSlot: Int, CaseIterable, Sendable {
  case name, version, osName, osVersion, appVersion, manufacturer, deviceType, language, country, timezoneOffset

  @inline(__always)
  init?(_ key: Text) {
    switch key.count {
    case 4 where key == "name": self = .name
    case 6 where key == "osName": self = .osName
    case 7 where key == "version": self = .version
    case 7 where key == "country": self = .country
    case 8 where key == "language": self = .language
    case 9 where key == "osVersion": self = .osVersion
    case 10 where key == "appVersion": self = .appVersion
    case 10 where key == "deviceType": self = .deviceType
    case 12 where key == "manufacturer": self = .manufacturer
    case 14 where key == "timezoneOffset": self = .timezoneOffset
    default: return nil
    }
  }
}
