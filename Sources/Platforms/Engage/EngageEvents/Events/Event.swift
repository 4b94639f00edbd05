public import BatchFoundation

/// A Universal Behavior event as the rules decided it (reference events 1).
///
/// `attributes` are complete and in the order of the wire: the ten core attributes, then the others by the bytes of their
/// names. All text lives in the memory of the partition that the event came from.
@safe public struct Event {
  public var code: Text
  public var timestamp: Instant
  public var device: Text
  /// Counts the events of one device from 1, across runs; with timestamp and device it orders all events.
  public var emission: Int64
  public var attributes: UnsafeBufferPointer<Attribute>
  /// Augmentation ran out of time (reference events 5.3); posted all the same.
  public var expired: Bool
  /// The caller's params or a raw event named the recipient or the primary user: later news about who the device belongs to
  /// leave both as they are.
  public var identityIsFixed: Bool
  /// Its record came beyond the reach of a rewind: the event is outside sessions and campaigns (reference decisions 34).
  public var isLate: Bool
  /// Where the record that led to it was read.
  public var source: StoredSource

  @inlinable
  public init(
    code: Text, timestamp: Instant, device: Text, emission: Int64, attributes: UnsafeBufferPointer<Attribute>,
    expired: Bool = false, identityIsFixed: Bool = false, isLate: Bool = false,
    source: StoredSource = .unknown
  ) {
    self.code = code
    self.timestamp = timestamp
    self.device = device
    self.emission = emission
    unsafe self.attributes = attributes
    self.expired = expired
    self.identityIsFixed = identityIsFixed
    self.isLate = isLate
    self.source = source
  }
}

extension Event {
  /// The order of `--events-out` and of delivery: timestamp, device id by bytes, emission number (reference formats 4.2).
  @inlinable
  public static func precedes(_ one: Event, _ other: Event) -> Bool {
    if one.timestamp != other.timestamp { return one.timestamp < other.timestamp }
    if one.device != other.device { return one.device < other.device }
    return one.emission < other.emission
  }
}

extension Event {
  /// The same event with all its memory in the arena.
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
    unsafe copy.attributes = UnsafeBufferPointer(start: target, count: attributes.count)
    return copy
  }
}

/// One name and value of an event.
public struct Attribute {
  public var name: Text
  public var value: Text

  @inlinable
  public init(_ name: Text, _ value: Text) {
    self.name = name
    self.value = value
  }
}

/// The ten attributes that every event carries, in the order of the wire (reference events 1.3).
public enum CoreAttribute: Int, CaseIterable, Sendable {
  case deviceName, deviceVersion, osName, osVersion, appName, appVersion, deviceId, primaryUserId, anonymousId,
    recipientId

  @inlinable
  public var name: Text {
    switch self {
    case .deviceName: "Device Name"
    case .deviceVersion: "Device Version"
    case .osName: "OS Name"
    case .osVersion: "OS Version"
    case .appName: "App Name"
    case .appVersion: "App Version"
    case .deviceId: "Device Id"
    case .primaryUserId: "Primary User Id"
    case .anonymousId: "Anonymous Id"
    case .recipientId: "Recipient Id"
    }
  }
}
