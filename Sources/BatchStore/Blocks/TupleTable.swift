/// Short sequences of string indexes that events of a block have in common, numbered in the order of first use.
@safe struct TupleTable: ~Copyable {
  private var slots: UnsafeMutablePointer<UInt64>
  private var mask: Int
  private var generation: UInt64 = 1
  private var starts: [(start: Int, count: Int, hash: UInt64)] = []
  private var items: [UInt32] = []

  init(capacity: Int = 256) {
    mask = capacity * 2 - 1
    unsafe slots = .allocate(capacity: capacity * 2)
    unsafe slots.initialize(repeating: 0, count: capacity * 2)
  }

  deinit { unsafe slots.deallocate() }

  mutating func removeAll() {
    starts.removeAll(keepingCapacity: true)
    items.removeAll(keepingCapacity: true)
    generation += 1
    if generation == 1 << 32 {
      unsafe slots.update(repeating: 0, count: mask + 1)
      generation = 1
    }
  }

  @inline(__always)
  mutating func intern(_ tuple: UnsafeBufferPointer<UInt32>) -> (index: Int, isNew: Bool) {
    var hash = UInt64(truncatingIfNeeded: tuple.count)
    for index in tuple.indices { hash = unsafe (hash ^ UInt64(tuple[index])) &* 0x9E37_79B9_7F4A_7C15 ^ (hash >> 29) }
    var slot = Int(truncatingIfNeeded: hash >> 24) & mask
    while true {
      let found = unsafe slots[slot]
      guard found >> 32 == generation else { break }
      let index = Int(found & 0xFFFF_FFFF)
      if unsafe matches(index, tuple, hash) { return (index, false) }
      slot = (slot + 1) & mask
    }
    if (starts.count + 1) * 2 > mask + 1 {
      grow()
      slot = freeSlot(hash)
    }
    unsafe slots[slot] = generation << 32 | UInt64(starts.count)
    starts.append((items.count, tuple.count, hash))
    unsafe items.append(contentsOf: tuple)
    return (starts.count - 1, true)
  }

  @inline(__always)
  func item(_ place: Int, of index: Int) -> Int { Int(items[starts[index].start + place]) }

  @inline(__always)
  private func matches(_ index: Int, _ tuple: UnsafeBufferPointer<UInt32>, _ hash: UInt64) -> Bool {
    let known = starts[index]
    guard known.hash == hash, known.count == tuple.count else { return false }
    return unsafe items.withUnsafeBufferPointer { items in
      for offset in 0..<tuple.count where unsafe items[known.start + offset] != tuple[offset] { return false }
      return true
    }
  }

  private func freeSlot(_ hash: UInt64) -> Int {
    var slot = Int(truncatingIfNeeded: hash >> 24) & mask
    while unsafe slots[slot] >> 32 == generation { slot = (slot + 1) & mask }
    return slot
  }

  private mutating func grow() {
    mask = (mask + 1) * 2 - 1
    unsafe slots.deallocate()
    unsafe slots = .allocate(capacity: mask + 1)
    unsafe slots.initialize(repeating: 0, count: mask + 1)
    generation = 1
    for (index, known) in starts.enumerated() { unsafe slots[freeSlot(known.hash)] = generation << 32 | UInt64(index) }
  }
}
