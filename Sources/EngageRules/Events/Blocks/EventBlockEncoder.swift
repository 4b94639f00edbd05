import BatchFoundation
package import BatchStore

/// Packs sorted events into blocks, each of which becomes one request and is written once and kept. A block is a header
/// and one entry per event. Strings, core attributes and lists of names are numbered where they first appear, so an
/// entry is mostly one-byte numbers. Strings are kept escaped, as the wire needs them.
///
///     block    = version, event count, first timestamp, body bytes, event...
///     event    = timestamp delta, code << 4 | flags, [code], emission, source, [device], identity, shape, value...
///     identity = 0 profile device-id user anonymous recipient | number
///     profile  = 0 six values | number
///     shape    = 0 count name... | number
///     string   = 0 length bytes | number
///
/// The device of an event is written only if its attribute, which a caller may set, differs. All numbers are varints;
/// those of known items count from 1. Sources are those of ``SourceTrail``. The encoder keeps its tables between calls;
/// use one per worker.
@safe package struct EventBlockEncoder: ~Copyable {
  static let version: UInt8 = 1
  static let expiredFlag: UInt64 = 1
  static let identityIsFixedFlag: UInt64 = 2
  static let hasOwnDeviceFlag: UInt64 = 4
  static let isLateFlag: UInt64 = 8
  static let flagBits: UInt64 = 4

  private let limits: BlockLimits
  private var strings = StringTable()
  private var profiles = TupleTable()
  private var identities = TupleTable()
  private var shapes = TupleTable()
  private var known = KnownAttributes()
  private var sources = SourceTrail()
  private var head = ByteBuffer(capacity: 64)
  private var body = ByteBuffer(capacity: 1 << 16)
  private var output: [UInt8] = []
  private var scratch: UnsafeMutablePointer<UInt32>
  private var scratchCapacity = 64

  private var events = 0
  private var expired = 0
  private var bodyBytes = 0
  private var first = Instant(milliseconds: 0)
  private var last = Instant(milliseconds: 0)

  package init(limits: BlockLimits) {
    self.limits = limits
    unsafe scratch = .allocate(capacity: scratchCapacity)
  }

  deinit { unsafe scratch.deallocate() }

  /// Encodes events sorted by ``Event/precedes(_:_:)``. An event larger than a body may be gets a separate block.
  ///
  /// - Parameter each: called for every event, whose attributes are in the processor's cache by then.
  package mutating func encode(_ sorted: UnsafeBufferPointer<Event>, each: (Event) -> Void = { _ in }) -> EventBlocks {
    var entries: [EventBlocks.Entry] = []
    entries.reserveCapacity(sorted.count / max(limits.maxEvents, 1) + 1)
    start()
    for index in sorted.indices {
      let event = unsafe sorted[index]
      // After an event that fills a body there is no room; it need not be tried.
      if events == limits.maxEvents || events > 0 && bodyBytes >= limits.maxBodyBytes { finish(&entries) }
      let mark = body.count
      let size = write(event)
      each(event)
      if events > 0, bodyBytes + size > limits.maxBodyBytes {
        body.truncate(to: mark)
        finish(&entries)
        count(event, write(event))
      } else {
        count(event, size)
      }
    }
    if events > 0 { finish(&entries) }
    return EventBlocks(bytes: takeOutput(), entries: entries)
  }

  /// Output up to this many bytes is copied at its exact size, and its memory reused for the next call.
  private static let ordinaryOutput = 1 << 22

  private mutating func takeOutput() -> [UInt8] {
    if output.count > Self.ordinaryOutput {
      defer { output = [] }
      return output
    }
    defer { output.removeAll(keepingCapacity: true) }
    return unsafe output.withUnsafeBufferPointer { unsafe Array($0) }
  }

  private mutating func start() {
    strings.removeAll()
    profiles.removeAll()
    identities.removeAll()
    shapes.removeAll()
    known.removeAll()
    sources = SourceTrail()
    body.removeAll()
    events = 0
    expired = 0
    // Subtracts the comma that the first event does not have.
    bodyBytes = EventJSON.bodyStart.count + EventJSON.bodyEnd.count - 1
  }

  private mutating func finish(_ entries: inout [EventBlocks.Entry]) {
    let offset = output.count
    head.removeAll()
    head.append(Self.version)
    head.append(varint: UInt64(events))
    head.append(varint: UInt64(bitPattern: first.milliseconds))
    head.append(varint: UInt64(bodyBytes))
    unsafe output.append(contentsOf: head.bytes)
    unsafe output.append(contentsOf: body.bytes)
    entries.append(
      EventBlocks.Entry(
        offset: offset, length: output.count - offset, events: events, expired: expired, first: first, last: last,
        bodyBytes: bodyBytes))
    start()
  }

  @inline(__always)
  private mutating func count(_ event: Event, _ size: Int) {
    if events == 0 { first = event.timestamp }
    last = event.timestamp
    events += 1
    if event.expired { expired += 1 }
    bodyBytes += size
  }

  /// Appends the event to the open block; returns the size of its JSON with a comma.
  private mutating func write(_ event: Event) -> Int {
    let attributes = unsafe event.attributes
    if attributes.count * 2 + 32 > scratchCapacity {
      unsafe scratch.deallocate()
      scratchCapacity = attributes.count * 4 + 32
      unsafe scratch = .allocate(capacity: scratchCapacity)
    }
    let previous = events == 0 ? event.timestamp : last
    body.append(varint: UInt64(bitPattern: event.timestamp.milliseconds &- previous.milliseconds))

    var size =
      EventJSON.eventBytes + 1 + (CoreAttribute.count + attributes.count) * EventJSON.attributeBytes
    let (code, codeIsNew) = strings.intern(event.code)
    size += strings.escapedCount(of: code)
    let hasOwnDevice = unsafe event.device != event.core.pointee[.deviceId]
    var head = codeIsNew ? 0 : UInt64(code + 1) << Self.flagBits
    if hasOwnDevice { head |= Self.hasOwnDeviceFlag }
    if event.expired { head |= Self.expiredFlag }
    if event.identityIsFixed { head |= Self.identityIsFixedFlag }
    if event.isLate { head |= Self.isLateFlag }
    body.append(varint: head)
    if codeIsNew { appendString(code) }
    body.append(varint: EmissionNumber.packed(event.emission, at: event.timestamp))
    sources.append(event.source, to: &body)
    if hasOwnDevice {
      let (device, isNew) = strings.intern(event.device)
      appendNumber(device, isNew)
    }

    unsafe size += writeIdentity(event.core)
    unsafe size += writeShape(attributes, ofEvent: code)
    for index in attributes.indices {
      let (value, isNew) = unsafe strings.intern(attributes[index].value)
      size += strings.escapedCount(of: value)
      appendNumber(value, isNew)
    }
    return size
  }

  private mutating func writeIdentity(_ core: UnsafePointer<CoreTexts>) -> Int {
    if let identity = unsafe known.identity(core) {
      body.append(varint: UInt64(identity.number + 1))
      return identity.size
    }
    var size = EventBlockEncoder.coreNameBytes
    var isNew: UInt32 = 0
    for index in 0..<CoreAttribute.count {
      let (value, new) = unsafe strings.intern(core.pointee.values[index])
      size += strings.escapedCount(of: value)
      unsafe scratch[index] = UInt32(truncatingIfNeeded: value)
      if new { isNew |= 1 << index }
    }
    let (profile, profileIsNew) = unsafe profiles.intern(UnsafeBufferPointer(start: scratch, count: 6))
    let tuple = unsafe scratch + 10
    unsafe tuple[0] = UInt32(truncatingIfNeeded: profile)
    for index in 1..<5 { unsafe tuple[index] = unsafe scratch[5 + index] }
    let (identity, identityIsNew) = unsafe identities.intern(UnsafeBufferPointer(start: tuple, count: 5))
    unsafe known.note(identity: .init(number: identity, size: size), of: core)
    guard identityIsNew else {
      body.append(varint: UInt64(identity + 1))
      return size
    }
    body.append(0)
    if profileIsNew {
      body.append(0)
      for index in 0..<6 { unsafe appendNumber(Int(scratch[index]), isNew & 1 << index != 0) }
    } else {
      body.append(varint: UInt64(profile + 1))
    }
    for index in 6..<10 { unsafe appendNumber(Int(scratch[index]), isNew & 1 << index != 0) }
    return size
  }

  private mutating func writeShape(_ attributes: UnsafeBufferPointer<Attribute>, ofEvent code: Int) -> Int {
    if let shape = unsafe known.shape(of: attributes, event: code) {
      body.append(varint: UInt64(shape.number + 1))
      return shape.size
    }
    let count = attributes.count
    var size = 0
    let flags = unsafe scratch + count
    for index in 0..<count {
      let (name, isNew) = unsafe strings.intern(attributes[index].name)
      size += strings.escapedCount(of: name)
      unsafe scratch[index] = UInt32(truncatingIfNeeded: name)
      unsafe flags[index] = isNew ? 1 : 0
    }
    let (shape, shapeIsNew) = unsafe shapes.intern(UnsafeBufferPointer(start: scratch, count: count))
    unsafe known.note(shape: .init(number: shape, size: size), of: attributes, event: code)
    guard shapeIsNew else {
      body.append(varint: UInt64(shape + 1))
      return size
    }
    body.append(0)
    body.append(varint: UInt64(count))
    for index in 0..<count { unsafe appendNumber(Int(scratch[index]), flags[index] == 1) }
    return size
  }

  @inline(__always)
  private mutating func appendNumber(_ index: Int, _ isNew: Bool) {
    if isNew {
      body.append(0)
      appendString(index)
    } else {
      body.append(varint: UInt64(index + 1))
    }
  }

  @inline(__always)
  private mutating func appendString(_ index: Int) {
    let text = unsafe strings.entries[index].text
    let count = strings.escapedCount(of: index)
    body.append(varint: UInt64(count))
    if count == text.count {
      body.append(text)
    } else {
      CanonicalJSON.appendEscaped(text, to: &body)
    }
  }

  static let coreNameBytes = CoreAttribute.allCases.reduce(0) { $0 + $1.name.count }
}
