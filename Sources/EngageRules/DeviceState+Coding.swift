package import BatchFoundation

extension DeviceState {
  /// The first byte of every encoded state; a new encoding gets a new number.
  package static let format: UInt8 = 4

  /// Returns the state as bytes for the store; deterministic, so that equal states have equal bytes.
  package func encoded() -> [UInt8] { unsafe withEncoded { unsafe Array($0) } }

  /// Passes ``encoded()`` to `body`; the bytes are valid only during the call.
  package func withEncoded<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    var writer = StateWriter()
    writer.put(Self.format)
    writer.put(core)
    writer.put(channelId)
    writer.put(appKey)
    writer.put(
      UInt8(mobileUserIdIsAutomatic ? 1 : 0) | (hasLifecycle ? 2 : 0) | (installed ? 4 : 0)
        | Self.bits(consent.use) << 3 | Self.bits(consent.export) << 5)
    switch session {
    case .none: writer.put(UInt8(0))
    case .active(let start, let accumulated):
      writer.put(UInt8(1))
      writer.put(start)
      writer.put(accumulated.count)
    case .paused(let pause):
      writer.put(UInt8(2))
      writer.put(pause)
      writer.put(pausedCore, besides: core)
    }
    writer.put(sessionSource)
    heldSessionEvents.put(to: &writer)
    writer.put(UInt8(campaign == nil ? 0 : 1))
    if let campaign {
      writer.put(campaign.name)
      writer.put(campaign.expiresAt)
      writer.put(UInt8(campaign.expiryWasSeen ? 1 : 0))
    }
    writer.put(lastRecord: lastSeen, lastKind, lastSource)
    writer.put(UInt8(silentUntil == nil ? 0 : 1) | (awaitedUntil == nil ? 0 : 2))
    if let silentUntil { writer.put(silentUntil) }
    if let awaitedUntil { writer.put(awaitedUntil) }
    writer.put(emission)
    writer.put(samples)
    writer.put(Int64(held.count))
    for event in held { writer.put(event) }
    return unsafe writer.withBytes(body)
  }

  /// - Parameter bytes: Memory that outlives the state; the state's texts point into it.
  /// - Throws: ``DeviceStateError`` if the bytes are damaged or have a different version.
  package init(decoding bytes: UnsafeRawBufferPointer) throws(DeviceStateError) {
    var reader = unsafe StateReader(bytes)
    let format = try reader.byte()
    guard format == Self.format else { throw DeviceStateError(version: format) }
    core = try reader.core()
    channelId = try reader.text()
    appKey = try reader.text()
    let flags = try reader.byte()
    mobileUserIdIsAutomatic = flags & 1 != 0
    hasLifecycle = flags & 2 != 0
    installed = flags & 4 != 0
    consent.use = Self.flag(flags >> 3)
    consent.export = Self.flag(flags >> 5)
    switch try reader.byte() {
    case 0: session = .none
    case 1: session = .active(segmentStart: try reader.instant(), accumulated: try reader.span())
    case 2:
      session = .paused(try reader.pause())
      pausedCore = try reader.core(besides: core)
    default: throw DeviceStateError()
    }
    sessionSource = try reader.source()
    heldSessionEvents = try HeldSessionEvents(from: &reader)
    if try reader.byte() == 1 {
      campaign = Campaign(
        name: try reader.text(), expiresAt: try reader.instant(), expiryWasSeen: try reader.byte() == 1)
    }
    if let last = try reader.lastRecord() { (lastSeen, lastKind, lastSource) = last }
    let silences = try reader.byte()
    if silences & 1 != 0 { silentUntil = try reader.instant() }
    if silences & 2 != 0 { awaitedUntil = try reader.instant() }
    emission = try reader.emission()
    samples = try reader.samples()
    for _ in 0..<(try reader.count()) { held.append(try reader.held()) }
    guard reader.isAtEnd else { throw DeviceStateError() }
  }

  /// Encodes true, false or unknown in two bits.
  fileprivate static func bits(_ flag: Bool?) -> UInt8 { flag.map { $0 ? 1 : 2 } ?? 0 }

  fileprivate static func flag(_ bits: UInt8) -> Bool? { bits & 3 == 0 ? nil : bits & 3 == 1 }
}

extension StateWriter {
  mutating func put(_ core: CoreTexts) {
    for value in core.values.indices { put(core.values[value]) }
  }

  mutating func put(_ pause: SessionPause) {
    put(pause.at)
    put(pause.segmentStart)
    put(pause.accumulatedBefore.count)
    put(pause.accumulated.count)
    put(pause.expiresAt)
    put(pause.campaign)
    put(pause.identityAsOf ?? -1)
    put(pause.source)
    put(pause.startSource)
  }

  /// Writes only the values that differ from the state's current ones, because few usually differ.
  fileprivate mutating func put(_ paused: CoreTexts, besides core: CoreTexts) {
    func isDifferent(_ slot: Int) -> Bool { paused.values[slot] != core.values[slot] }
    put(UInt8(core.values.indices.count(where: isDifferent)))
    for slot in core.values.indices where isDifferent(slot) {
      put(UInt8(slot))
      put(paused.values[slot])
    }
  }

  mutating func put(_ attributes: [Attribute]) {
    put(Int64(attributes.count))
    for attribute in attributes {
      put(attribute.name)
      put(attribute.value)
    }
  }

  fileprivate mutating func put(_ samples: LocationSamples) {
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

  fileprivate mutating func put(_ event: HeldEvent) {
    put(event.draft.code)
    put(event.draft.timestamp)
    put(event.draft.source)
    put(event.draft.core)
    put(event.draft.others)
    put(UInt8(event.draft.identityIsFixed ? 1 : 0) | (event.draft.isLate ? 2 : 0))
    put(Int64(event.draft.replacedCore))
    put(event.emission)
    put(event.deadline)
  }
}

extension StateReader {
  fileprivate mutating func span() throws(DeviceStateError) -> Milliseconds { Milliseconds(try milliseconds()) }

  mutating func core() throws(DeviceStateError) -> CoreTexts {
    var core = CoreTexts()
    for value in core.values.indices { core.values[value] = try text() }
    return core
  }

  mutating func pause() throws(DeviceStateError) -> SessionPause {
    var pause = SessionPause(
      at: try instant(), segmentStart: try instant(), accumulatedBefore: try span(), accumulated: try span(),
      expiresAt: try instant(), campaign: try text())
    let asOf = try integer()
    if asOf >= 0 { pause.identityAsOf = asOf }
    pause.source = try source()
    pause.startSource = try source()
    return pause
  }

  fileprivate mutating func core(besides core: CoreTexts) throws(DeviceStateError) -> CoreTexts {
    var paused = core
    for _ in 0..<(try byte()) {
      guard let slot = CoreAttribute(rawValue: Int(try byte())) else { throw DeviceStateError() }
      paused[slot] = try text()
    }
    return paused
  }

  fileprivate mutating func attributes() throws(DeviceStateError) -> [Attribute] {
    var attributes: [Attribute] = []
    for _ in 0..<(try count()) { attributes.append(Attribute(try text(), try text())) }
    return attributes
  }

  mutating func optionalAttributes() throws(DeviceStateError) -> [Attribute]? {
    try byte() == 1 ? try attributes() : nil
  }

  fileprivate mutating func samples() throws(DeviceStateError) -> LocationSamples {
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

  fileprivate mutating func held() throws(DeviceStateError) -> HeldEvent {
    let (code, timestamp, source) = (try text(), try instant(), try source())
    var draft = EventDraft(code: code, timestamp: timestamp, core: try core())
    draft.source = source
    draft.others = try attributes()
    let flags = try byte()
    (draft.identityIsFixed, draft.isLate) = (flags & 1 != 0, flags & 2 != 0)
    guard let slots = UInt16(exactly: try integer()) else { throw DeviceStateError() }
    draft.replacedCore = slots
    return HeldEvent(draft: draft, emission: try emission(), deadline: try instant())
  }
}
