public import BatchFoundation

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

extension CoreAttribute {
  public static let count = 10

  /// By raw value; a list made once, unlike `allCases`, which is made anew each time it is asked for.
  public static let names = allCases.map(\.name)

  /// The core attribute of that name, if it is one.
  @inlinable @inline(__always)
  public init?(named name: Text) {
    guard 7...15 ~= name.count else { return nil }
    switch name[0] {
    case UInt8(ascii: "D"), UInt8(ascii: "O"), UInt8(ascii: "A"), UInt8(ascii: "P"), UInt8(ascii: "R"): break
    default: return nil
    }
    for slot in 0..<Self.count where Self.names[slot] == name {
      self.init(rawValue: slot)
      return
    }
    return nil
  }
}

/// Values of the ten core attributes.
public struct CoreTexts {
  public var values: InlineArray<10, Text>

  /// What stands for values that no record gave (reference decisions 3).
  @inlinable
  public init() {
    values = InlineArray<10, Text>(repeating: .empty)
    for slot in [CoreAttribute.deviceName, .deviceVersion, .osName, .osVersion] { self[slot] = "unknown" }
    self[.appName] = "__UNKNOWN__"
    self[.appVersion] = "__UNKNOWN__"
  }

  /// A copy in memory of the arena, for events to share.
  @inlinable
  public func placed(in arena: Arena) -> UnsafePointer<CoreTexts> {
    let place = unsafe arena.allocate(MemoryLayout<CoreTexts>.size).bindMemory(to: CoreTexts.self, capacity: 1)
    unsafe place.initialize(to: self)
    return unsafe UnsafePointer(place)
  }

  public subscript(slot: CoreAttribute) -> Text {
    @inlinable @inline(__always) get { values[slot.rawValue] }
    @inlinable @inline(__always) set { values[slot.rawValue] = newValue }
  }

  /// Whether all of them are the very same memory; those that are not may be equal all the same.
  @inlinable @inline(__always)
  public func isSameMemory(as other: CoreTexts) -> Bool {
    // Each subscript of the arrays themselves would copy all of them.
    let (own, others) = (values.span, other.values.span)
    for slot in own.indices where !own[slot].isSameMemory(as: others[slot]) { return false }
    return true
  }

  /// Takes a value over unless it is the one that is there: then the old bytes stay, which all events of the device share and
  /// which are in the processor's cache.
  ///
  /// - Parameter slot: the raw value of a ``CoreAttribute``.
  @inlinable @inline(__always)
  public mutating func learn(_ slot: Int, _ value: Text) {
    if values[slot] != value { values[slot] = value }
  }
}
