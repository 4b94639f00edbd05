/// A map from names, such as those of a schema or a list, to numbers. It is consulted for each event, so it compares
/// bytes and does not allocate. All scopes of a document, such as the parameters of each event, share one index.
public struct NameIndex: Sendable {
  /// One set of names within an index.
  public struct Scope: Sendable {
    var first: Int32
    var mask: Int32

    public static var empty: Scope { Scope(first: -1, mask: 0) }
  }

  private struct Slot {
    var hash: UInt32 = 0
    /// Negative for a free slot.
    var value: Int32 = -1
    var start: Int32 = 0
    var count: Int32 = 0
  }

  private var slots: [Slot] = []
  private var bytes: [UInt8] = []

  public init() {}

  /// Adds a scope that maps each name to its non-negative number; if a name is repeated, the first number counts.
  public mutating func addScope(_ names: some Collection<(name: String, value: Int)>) -> Scope {
    guard !names.isEmpty else { return .empty }
    var size = 4
    while size < names.count * 2 { size *= 2 }
    let scope = Scope(first: Int32(slots.count), mask: Int32(size - 1))
    slots.append(contentsOf: repeatElement(Slot(), count: size))
    for (name, value) in names { name.withText { insert($0, value, in: scope) } }
    return scope
  }

  private mutating func insert(_ name: Text, _ value: Int, in scope: Scope) {
    let hash = name.quickHash
    var at = hash & UInt32(scope.mask)
    while slots[Int(scope.first) + Int(at)].value >= 0 {
      if matches(slots[Int(scope.first) + Int(at)], name, hash) { return }
      at = (at + 1) & UInt32(scope.mask)
    }
    slots[Int(scope.first) + Int(at)] = Slot(
      hash: hash, value: Int32(value), start: Int32(bytes.count), count: Int32(name.count))
    unsafe bytes.append(contentsOf: name.bytes)
  }

  /// Returns the number of a name; nil if the scope does not have the name.
  public func value(of name: Text, in scope: Scope) -> Int? {
    guard scope.first >= 0 else { return nil }
    let hash = name.quickHash
    var at = hash & UInt32(scope.mask)
    while true {
      let slot = slots[Int(scope.first) + Int(at)]
      if slot.value < 0 { return nil }
      if matches(slot, name, hash) { return Int(slot.value) }
      at = (at + 1) & UInt32(scope.mask)
    }
  }

  @inline(__always)
  private func matches(_ slot: Slot, _ name: Text, _ hash: UInt32) -> Bool {
    guard slot.hash == hash, Int(slot.count) == name.count else { return false }
    return unsafe bytes.withUnsafeBufferPointer { all in
      guard let base = all.baseAddress else { return true }
      return unsafe equalBytes(base + Int(slot.start), name.base, name.count)
    }
  }
}

extension Text {
  /// A hash for tables of names from a configuration or an export, the same in every process. The standard library's
  /// hash is slow for short texts and differs from run to run. Collisions can be constructed, so they must not slow
  /// down anything except look-ups of the colliding texts.
  @inlinable @inline(__always)
  public var quickHash: UInt32 {
    let factor: UInt64 = 0x9E37_79B9_7F4A_7C15
    var hash = UInt64(truncatingIfNeeded: count) &* factor
    let raw = unsafe UnsafeRawPointer(base)
    var at = 0
    while at + 8 <= count {
      hash = unsafe (hash ^ raw.loadUnaligned(fromByteOffset: at, as: UInt64.self)) &* factor
      hash ^= hash >> 29
      at += 8
    }
    if at + 4 <= count {
      hash = unsafe (hash ^ UInt64(raw.loadUnaligned(fromByteOffset: at, as: UInt32.self))) &* factor
      hash ^= hash >> 29
      at += 4
    }
    while at < count {
      hash = (hash ^ UInt64(self[at])) &* factor
      at += 1
    }
    return UInt32(truncatingIfNeeded: hash >> 32)
  }
}
