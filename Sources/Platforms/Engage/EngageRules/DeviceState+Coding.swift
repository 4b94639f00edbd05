package import BatchFoundation
import EngageEvents

/// A device state that was written by a version of this program that this one does not know, or that is damaged.
package struct DeviceStateError: RunError, Equatable, CustomStringConvertible {
  package var version: UInt8?

  package var exit: RunExit { .configuration }

  package var description: String {
    version.map {
      "device state of format \($0) is not known to this version of engage-batch; use the version that wrote it"
    }
      ?? "device state is damaged; restore the store from a backup"
  }
}

extension DeviceState {
  /// First byte of every encoded state. A new field gets a new number; older numbers stay readable.
  package static let format: UInt8 = 2

  /// The state as bytes for the store; deterministic, so that equal states are equal bytes.
  package func encoded() -> [UInt8] {
    var writer = StateWriter()
    // Few states need more.
    writer.bytes.reserveCapacity(256)
    writer.put(Self.format)
    writer.put(core)
    writer.put(UInt8(mobileUserIdIsAutomatic ? 1 : 0) | (hasLifecycle ? 2 : 0) | (installed ? 4 : 0))
    switch session {
    case .none: writer.put(UInt8(0))
    case .active(let start, let accumulated):
      writer.put(UInt8(1))
      writer.put(start)
      writer.put(accumulated.count)
    case .paused(let pause):
      writer.put(UInt8(2))
      writer.put(pause, besides: core)
    }
    writer.put(Int64(waiting.count))
    for event in waiting {
      switch event {
      case .installed: writer.put(UInt8(0))
      case .started(let at, let link):
        writer.put(UInt8(1))
        writer.put(at)
        writer.put(UInt8(link == nil ? 0 : 1))
        if let link { writer.put(link) }
      case .ended(let pause):
        writer.put(UInt8(2))
        writer.put(pause, besides: core)
      }
    }
    writer.put(UInt8(campaign == nil ? 0 : 1))
    if let campaign {
      writer.put(campaign.name)
      writer.put(campaign.expiresAt)
      writer.put(UInt8(campaign.expiryWasSeen ? 1 : 0))
    }
    writer.put(UInt8(lastSeen == nil ? 0 : 1))
    if let lastSeen { writer.put(lastSeen) }
    writer.put(emission)
    writer.put(samples)
    writer.put(Int64(held.count))
    for event in held { writer.put(event) }
    return writer.bytes
  }

  /// - Parameter bytes: memory that outlives the state, whose texts point into it.
  package init(decoding bytes: UnsafeRawBufferPointer) throws(DeviceStateError) {
    var reader = unsafe StateReader(bytes)
    let format = try reader.byte()
    guard 1...Self.format ~= format else { throw DeviceStateError(version: format) }
    core = try reader.core()
    let flags = try reader.byte()
    mobileUserIdIsAutomatic = flags & 1 != 0
    hasLifecycle = flags & 2 != 0
    installed = flags & 4 != 0
    switch try reader.byte() {
    case 0: session = .none
    case 1: session = .active(segmentStart: try reader.instant(), accumulated: try reader.span())
    case 2: session = .paused(try reader.pause(besides: core, format))
    default: throw DeviceStateError()
    }
    for _ in 0..<(try reader.count()) {
      switch try reader.byte() {
      case 0: waiting.append(.installed)
      case 1: waiting.append(.started(at: try reader.instant(), link: try reader.optionalAttributes()))
      case 2: waiting.append(.ended(try reader.pause(besides: core, format)))
      default: throw DeviceStateError()
      }
    }
    if try reader.byte() == 1 {
      campaign = Campaign(
        name: try reader.text(), expiresAt: try reader.instant(), expiryWasSeen: try reader.byte() == 1)
    }
    if try reader.byte() == 1 { lastSeen = try reader.instant() }
    emission = try reader.emission()
    samples = try reader.samples()
    for _ in 0..<(try reader.count()) { held.append(try reader.held(format)) }
    guard reader.isAtEnd else { throw DeviceStateError() }
  }
}

/// Writes the parts of a state: integers as variable-length zigzag, texts with their length.
private struct StateWriter {
  var bytes: [UInt8] = []

  mutating func put(_ byte: UInt8) { bytes.append(byte) }

  mutating func put(_ value: Int64) {
    var rest = UInt64(bitPattern: value << 1 ^ value >> 63)
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }

  mutating func put(_ instant: Instant) { put(instant.milliseconds) }

  mutating func put(_ value: Double) { put(Int64(bitPattern: value.bitPattern)) }

  mutating func put(_ text: Text) {
    put(Int64(text.count))
    unsafe bytes.append(contentsOf: text.bytes)
  }

  mutating func put(_ text: Text?) {
    put(UInt8(text == nil ? 0 : 1))
    if let text { put(text) }
  }

  mutating func put(_ core: CoreTexts) {
    for value in core.values.indices { put(core.values[value]) }
  }

  /// A pause mostly holds the values that the state holds too; only those that differ are written.
  mutating func put(_ pause: SessionPause, besides core: CoreTexts) {
    put(pause.at)
    put(pause.segmentStart)
    put(pause.accumulatedBefore.count)
    put(pause.accumulated.count)
    put(pause.expiresAt)
    put(pause.campaign)
    put(pause.identityAsOf ?? -1)
    let place = bytes.count
    put(UInt8(0))
    for slot in core.values.indices where pause.core.values[slot] != core.values[slot] {
      bytes[place] += 1
      put(UInt8(slot))
      put(pause.core.values[slot])
    }
  }

  mutating func put(_ attributes: [Attribute]) {
    put(Int64(attributes.count))
    for attribute in attributes {
      put(attribute.name)
      put(attribute.value)
    }
  }

  mutating func put(_ samples: LocationSamples) {
    put(Int64(samples.coordinates.count))
    for sample in samples.coordinates {
      put(sample.at)
      put(sample.latitude)
      put(sample.longitude)
    }
    put(Int64(samples.places.count))
    for place in samples.places {
      put(place.at)
      put(place.address)
      put(place.name)
    }
  }

  mutating func put(_ event: HeldEvent) {
    put(event.draft.code)
    put(event.draft.timestamp)
    put(event.draft.core)
    put(event.draft.others)
    put(UInt8(event.draft.identityIsFixed ? 1 : 0))
    put(Int64(event.draft.replacedCore))
    put(event.emission)
    put(event.deadline)
  }
}

@safe private struct StateReader {
  private var at: UnsafeRawPointer
  private let end: UnsafeRawPointer

  init(_ bytes: UnsafeRawBufferPointer) {
    let start = unsafe bytes.baseAddress ?? UnsafeRawPointer(Text.empty.base)
    unsafe at = start
    unsafe end = start + bytes.count
  }

  var isAtEnd: Bool { unsafe at == end }

  mutating func byte() throws(DeviceStateError) -> UInt8 {
    guard unsafe at < end else { throw DeviceStateError() }
    defer { unsafe at += 1 }
    return unsafe at.load(as: UInt8.self)
  }

  mutating func integer() throws(DeviceStateError) -> Int64 {
    var value: UInt64 = 0
    var shift: UInt64 = 0
    while true {
      let byte = try byte()
      guard shift < 64 else { throw DeviceStateError() }
      value |= UInt64(byte & 0x7F) << shift
      if byte < 0x80 { return Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1) }
      shift += 7
    }
  }

  /// A number of things, each of which takes a byte at least.
  mutating func count() throws(DeviceStateError) -> Int {
    let value = try integer()
    guard value >= 0, unsafe value <= end - at else { throw DeviceStateError() }
    return Int(value)
  }

  /// In milliseconds, far beyond every instant and span that the rules know.
  private static let farthest: Int64 = 1 << 52

  mutating func emission() throws(DeviceStateError) -> Int64 {
    let value = try integer()
    guard 0...Self.farthest ~= value else { throw DeviceStateError() }
    return value
  }

  /// A number of milliseconds that sums of a few such numbers can not carry out of range.
  mutating func milliseconds() throws(DeviceStateError) -> Int64 {
    let value = try integer()
    guard -Self.farthest...Self.farthest ~= value else { throw DeviceStateError() }
    return value
  }

  mutating func instant() throws(DeviceStateError) -> Instant { Instant(milliseconds: try milliseconds()) }

  mutating func span() throws(DeviceStateError) -> Milliseconds { Milliseconds(try milliseconds()) }

  mutating func double() throws(DeviceStateError) -> Double {
    let value = Double(bitPattern: UInt64(bitPattern: try integer()))
    guard value.isFinite else { throw DeviceStateError() }
    return value
  }

  mutating func text() throws(DeviceStateError) -> Text {
    let count = try count()
    defer { unsafe at += count }
    return unsafe Text(base: at.assumingMemoryBound(to: UInt8.self), count: count)
  }

  mutating func optionalText() throws(DeviceStateError) -> Text? { try byte() == 1 ? try text() : nil }

  mutating func core() throws(DeviceStateError) -> CoreTexts {
    var core = CoreTexts()
    for value in core.values.indices { core.values[value] = try text() }
    return core
  }

  mutating func pause(besides core: CoreTexts, _ format: UInt8) throws(DeviceStateError) -> SessionPause {
    var pause = SessionPause(
      at: try instant(), segmentStart: try instant(), accumulatedBefore: try span(), accumulated: try span(),
      expiresAt: try instant(), campaign: try text(), core: core)
    if format > 1 {
      let asOf = try integer()
      if asOf >= 0 { pause.identityAsOf = asOf }
    }
    for _ in 0..<(try byte()) {
      guard let slot = CoreAttribute(rawValue: Int(try byte())) else { throw DeviceStateError() }
      pause.core[slot] = try text()
    }
    return pause
  }

  mutating func attributes() throws(DeviceStateError) -> [Attribute] {
    var attributes: [Attribute] = []
    for _ in 0..<(try count()) { attributes.append(Attribute(try text(), try text())) }
    return attributes
  }

  mutating func optionalAttributes() throws(DeviceStateError) -> [Attribute]? {
    try byte() == 1 ? try attributes() : nil
  }

  mutating func samples() throws(DeviceStateError) -> LocationSamples {
    var samples = LocationSamples()
    for _ in 0..<(try count()) {
      samples.coordinates.append(
        LocationSamples.Coordinates(at: try instant(), latitude: try double(), longitude: try double()))
    }
    for _ in 0..<(try count()) {
      samples.places.append(
        LocationSamples.Place(at: try instant(), address: try optionalText(), name: try optionalText()))
    }
    return samples
  }

  /// - Parameter format: of the state; 1 does not say which core attributes were replaced.
  mutating func held(_ format: UInt8) throws(DeviceStateError) -> HeldEvent {
    var draft = EventDraft(code: try text(), timestamp: try instant(), core: try core())
    draft.others = try attributes()
    draft.identityIsFixed = try byte() == 1
    if format > 1 {
      guard let slots = UInt16(exactly: try integer()) else { throw DeviceStateError() }
      draft.replacedCore = slots
    }
    return HeldEvent(draft: draft, emission: try emission(), deadline: try instant())
  }
}
