package import BatchFoundation

/// An automatic event held until the user id is known, with its record's source (reference events 3.3 rule 6, decisions
/// 14).
package enum HeldSessionEvent {
  case installed(source: StoredSource)
  /// `link` has the parameters of the link that started the session, possibly none; nil for an automatic start.
  case started(at: Instant, link: [Attribute]?, source: StoredSource)
  case ended(SessionPause, core: CoreTexts)
}

/// The events of a device that are held until its user id is known, oldest first. A device whose user id never becomes
/// known accumulates them as long as it is used. They are therefore kept encoded, as in a stored state, and device
/// values that consecutive session ends share are kept once.
package struct HeldSessionEvents {
  package private(set) var count = 0
  private var bytes: [UInt8] = []
  /// The offset of the first event that is still held.
  private var start = 0
  /// The encoded device values at the ends of sessions; an event refers to them by index.
  private var cores: [[UInt8]] = []
  private var newestStart: (at: Instant, isByLink: Bool, place: Range<Int>)?
  /// The earliest pause among the ended sessions; samples from then on may still be needed.
  private(set) var earliestPause: Instant?

  package init() {}

  package var isEmpty: Bool { count == 0 }

  package mutating func append(_ event: HeldSessionEvent) {
    var writer = StateWriter()
    put(event, to: &writer)
    let start = bytes.count
    bytes += writer.bytes
    note(event, start..<bytes.count)
  }

  private mutating func note(_ event: HeldSessionEvent, _ place: Range<Int>) {
    count += 1
    switch event {
    case .installed: break
    case .started(let at, let link, _): newestStart = (at, link != nil, place)
    case .ended(let pause, _): earliestPause = earliestPause.map { min($0, pause.at) } ?? pause.at
    }
  }

  /// Gives the latest held start event the parameters of a link at the same instant. Returns false if that event
  /// already has parameters or occurred at a different instant.
  mutating func join(_ link: [Attribute], at instant: Instant, source: StoredSource) -> Bool {
    guard let newest = newestStart, newest.at == instant, !newest.isByLink else { return false }
    var writer = StateWriter()
    put(.started(at: instant, link: link, source: source), to: &writer)
    let joined = writer.bytes
    bytes.replaceSubrange(newest.place, with: joined)
    newestStart = (instant, true, newest.place.lowerBound..<newest.place.lowerBound + joined.count)
    return true
  }

  /// Removes and returns up to `most` of the oldest events, with their texts copied to `arena`.
  mutating func removeFirst(_ most: Int, in arena: Arena) -> [HeldSessionEvent] {
    var events: [HeldSessionEvent] = []
    var core: (number: Int, texts: CoreTexts)?
    start += unsafe bytes[start...].withUnsafeBytes { rest in
      var reader = unsafe StateReader(rest)
      while events.count < min(most, count) {
        // These bytes were written here, or validated when they were read.
        guard
          let event = try? reader.heldSessionEvent({ number in
            if core?.number != number { core = self.core(number, in: arena).map { (number, $0) } }
            return core?.texts
          })
        else { break }
        events.append(event.copied(to: arena))
      }
      return unsafe rest.count - reader.rest.count
    }
    count -= events.count
    if count == 0 || events.isEmpty { self = HeldSessionEvents() }
    return events
  }

  private func core(_ number: Int, in arena: Arena) -> CoreTexts? {
    guard cores.indices.contains(number) else { return nil }
    return unsafe cores[number].withUnsafeBufferPointer { bytes in
      let copy = unsafe arena.copy(bytes)
      var reader = unsafe StateReader(UnsafeRawBufferPointer(copy.bytes))
      // These bytes were validated too.
      return try? reader.core()
    }
  }
}

// MARK: - As bytes

extension HeldSessionEvents {
  /// Writes the events in the format that ``init(from:)`` reads.
  func put(to writer: inout StateWriter) {
    writer.put(Int64(cores.count))
    for core in cores { writer.append(core) }
    writer.put(Int64(count))
    writer.append(bytes[start...])
  }

  init(from reader: inout StateReader) throws(DeviceStateError) {
    // A string takes at least one byte.
    for _ in 0..<(try reader.count(ofBytes: CoreAttribute.count)) {
      let rest = unsafe reader.rest
      _ = try reader.core()
      cores.append(unsafe Array(rest[..<(rest.count - reader.rest.count)]))
    }
    let number = try reader.count()
    let all = unsafe reader.rest
    for _ in 0..<number {
      let first = unsafe all.count - reader.rest.count
      let event = try reader.heldSessionEvent { cores.indices.contains($0) ? CoreTexts() : nil }
      note(event, unsafe first..<all.count - reader.rest.count)
    }
    bytes = unsafe Array(all[..<(all.count - reader.rest.count)])
  }

  private mutating func put(_ event: HeldSessionEvent, to writer: inout StateWriter) {
    switch event {
    case .installed(let source):
      writer.put(UInt8(0))
      writer.put(source)
    case .started(let at, let link, let source):
      writer.put(UInt8(1))
      writer.put(source)
      writer.put(at)
      writer.put(UInt8(link == nil ? 0 : 1))
      if let link { writer.put(link) }
    case .ended(let pause, let core):
      writer.put(UInt8(2))
      writer.put(pause)
      writer.put(Int64(number(of: core)))
    }
  }

  /// Returns the index of the values in ``cores``, appending them first unless they equal the last entry.
  private mutating func number(of core: CoreTexts) -> Int {
    var writer = StateWriter()
    writer.put(core)
    let bytes = writer.bytes
    if cores.last != bytes { cores.append(bytes) }
    return cores.count - 1
  }
}

extension StateReader {
  /// - Parameter core: Returns the values at an index; nil if there are none.
  fileprivate mutating func heldSessionEvent(_ core: (Int) -> CoreTexts?) throws(DeviceStateError) -> HeldSessionEvent {
    switch try byte() {
    case 0: return .installed(source: try source())
    case 1:
      let source = try source()
      return .started(at: try instant(), link: try optionalAttributes(), source: source)
    case 2:
      let pause = try pause()
      guard let number = Int(exactly: try integer()), let core = core(number) else { throw DeviceStateError() }
      return .ended(pause, core: core)
    default: throw DeviceStateError()
    }
  }
}

extension HeldSessionEvent {
  /// Returns a copy of the event with its texts in the arena; the device values of a session end are already there.
  fileprivate func copied(to arena: Arena) -> HeldSessionEvent {
    func copy(_ text: Text) -> Text { unsafe arena.copy(text.bytes) }
    switch self {
    case .installed: return self
    case .started(let at, let link, let source):
      let link = link.map { link in link.map { Attribute(copy($0.name), copy($0.value)) } }
      return .started(at: at, link: link, source: source)
    case .ended(var pause, let core):
      pause.campaign = copy(pause.campaign)
      return .ended(pause, core: core)
    }
  }
}
