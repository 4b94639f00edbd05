public import BatchFoundation

/// A few names with numbers below 255, looked up per member of a line: a hit costs one comparison, a miss mostly none.
@safe public struct NameSlots: ~Copyable {
  /// The names, indexed by number.
  public let names: UnsafeMutablePointer<Text>
  public let slots: UnsafeMutablePointer<UInt8>
  @inlinable public static var size: Int { 512 }
  @inlinable public static var free: UInt8 { .max }

  /// - Parameter names: must live as long as the slots.
  init(_ names: [(name: Text, number: UInt8)]) {
    let count = Int(names.map(\.number).max() ?? 0) + 1
    unsafe self.names = .allocate(capacity: count)
    unsafe self.names.initialize(repeating: .empty, count: count)
    unsafe slots = .allocate(capacity: Self.size)
    unsafe slots.initialize(repeating: Self.free, count: Self.size)
    for (name, number) in names {
      var slot = Self.slot(of: name)
      while unsafe slots[slot] != Self.free { slot = (slot + 1) & (Self.size - 1) }
      unsafe self.names[Int(number)] = name
      unsafe slots[slot] = number
    }
  }

  deinit {
    unsafe names.deallocate()
    unsafe slots.deallocate()
  }

  /// Returns the first slot to try: length and both ends distinguish nearly all names of fields and types.
  @inlinable @inline(__always)
  public static func slot(of name: Text) -> Int {
    guard name.count > 0 else { return 0 }
    return (name.count &* 37 &+ Int(name[0]) &* 5 &+ Int(name[name.count - 1]) &* 67) & (size - 1)
  }

  @inlinable @inline(__always)
  public subscript(name: Text) -> UInt8? {
    var slot = Self.slot(of: name)
    while true {
      let number = unsafe slots[slot]
      if number == Self.free { return nil }
      if unsafe names[Int(number)] == name { return number }
      slot = (slot + 1) & (Self.size - 1)
    }
  }
}
