public import BatchFoundation

/// The ten attributes of every event, in wire order (reference events 1.3).
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

  public static let count = 10

  /// The names by raw value; built once, unlike `allCases`, which is rebuilt for each access.
  public static let names = allCases.map(\.name)

  /// Finds the core attribute with that name; nil if there is none.
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

/// The values of the ten core attributes.
public struct CoreTexts {
  public var values: InlineArray<10, Text>

  /// Fills in the defaults for values that no record has provided (reference decisions 3).
  @inlinable
  public init() {
    values = InlineArray<10, Text>(repeating: .empty)
    for slot in [CoreAttribute.deviceName, .deviceVersion, .osName, .osVersion] { self[slot] = "unknown" }
    self[.appName] = "__UNKNOWN__"
    self[.appVersion] = "__UNKNOWN__"
  }

  /// Returns a copy in the arena's memory, for events to share.
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

  /// Returns whether all values are in the very same memory; if not, they may still be equal.
  @inlinable @inline(__always)
  public func isSameMemory(as other: UnsafePointer<CoreTexts>) -> Bool {
    // Each subscript of the arrays themselves would copy the whole array.
    let others = unsafe UnsafeRawPointer(other).assumingMemoryBound(to: Text.self)
    let own = values.span
    for slot in own.indices where unsafe !own[slot].isSameMemory(as: others[slot]) { return false }
    return true
  }

  /// Replaces a value unless the new one is equal. The old bytes are kept in that case because the device's events
  /// share them, and they are in the processor's cache.
  ///
  /// - Parameter slot: The raw value of a ``CoreAttribute``.
  @inlinable @inline(__always)
  public mutating func learn(_ slot: Int, _ value: Text) {
    if values[slot] != value { values[slot] = value }
  }
}
