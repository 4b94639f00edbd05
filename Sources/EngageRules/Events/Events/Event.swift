public import BatchFoundation

/// A Universal Behavior event made by the rules (reference events 1); its data are in the memory of its partition. On
/// the wire, the ten core attributes come first, then the rest, sorted by the bytes of their names.
@safe public struct Event {
  public var code: Text
  public var timestamp: Instant
  public var device: Text
  /// The emission number, which grows with each event of a device; with timestamp and device, it orders all events.
  public var emission: Int64
  /// The ten core attributes, whose memory the events of a device share.
  public var core: UnsafePointer<CoreTexts>
  /// The attributes that are not core, sorted by the bytes of their names.
  public var attributes: UnsafeBufferPointer<Attribute>
  /// Whether augmentation ran out of time (reference events 5.3); the event is still posted.
  public var expired: Bool
  /// Whether the event is raw or its params named a recipient or primary user, so that identity results do not change
  /// its ids.
  public var identityIsFixed: Bool
  /// Whether the record was older than a rewind reaches, so that the event is outside sessions and campaigns (reference
  /// decisions 34).
  public var isLate: Bool
  /// The place where the event's record was read.
  public var source: StoredSource

  @inlinable
  public init(
    code: Text, timestamp: Instant, device: Text, emission: Int64, core: UnsafePointer<CoreTexts>,
    attributes: UnsafeBufferPointer<Attribute>, expired: Bool = false, identityIsFixed: Bool = false,
    isLate: Bool = false,
    source: StoredSource = .unknown
  ) {
    self.code = code
    self.timestamp = timestamp
    self.device = device
    self.emission = emission
    unsafe self.core = core
    unsafe self.attributes = attributes
    self.expired = expired
    self.identityIsFixed = identityIsFixed
    self.isLate = isLate
    self.source = source
  }

  /// Compares in the order of `--events-out` and of delivery: timestamp, device id by bytes, emission number (reference
  /// formats 4.2).
  @inlinable
  public static func precedes(_ one: Event, _ other: Event) -> Bool {
    if one.timestamp != other.timestamp { return one.timestamp < other.timestamp }
    if one.device != other.device { return one.device < other.device }
    return one.emission < other.emission
  }

  /// All attributes in wire order.
  package var wireAttributes: [Attribute] {
    let core = unsafe core.pointee
    return unsafe CoreAttribute.allCases.map { Attribute($0.name, core[$0]) } + attributes
  }

  public func copied(to arena: Arena) -> Event {
    let target = unsafe arena.allocate(attributes.count * MemoryLayout<Attribute>.stride)
      .bindMemory(to: Attribute.self, capacity: attributes.count)
    for index in unsafe attributes.indices {
      let attribute = unsafe attributes[index]
      unsafe target[index] = Attribute(arena.copy(attribute.name.bytes), arena.copy(attribute.value.bytes))
    }
    var copy = self
    copy.code = unsafe arena.copy(code.bytes)
    copy.device = unsafe arena.copy(device.bytes)
    var core = unsafe core.pointee
    for slot in core.values.indices { core.values[slot] = unsafe arena.copy(core.values[slot].bytes) }
    unsafe copy.core = core.placed(in: arena)
    unsafe copy.attributes = UnsafeBufferPointer(start: target, count: attributes.count)
    return copy
  }
}
