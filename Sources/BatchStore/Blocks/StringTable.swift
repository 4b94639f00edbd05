public import BatchFoundation

/// Distinct strings, numbered in the order of first use. This is a hash table with open addressing
/// whose entries point into the events' memory. A new generation number empties it in constant time.
@safe public struct StringTable: ~Copyable {
  public struct Entry {
    public var text: Text
    @usableFromInline var hash: UInt64
    /// The length on the wire, computed on demand; nil until then.
    @usableFromInline var wireCount: Int?
    /// A value of the table's owner, 0 at first.
    var mark: UInt64 = 0
  }

  @usableFromInline var slots: UnsafeMutablePointer<UInt64>
  @usableFromInline var mask: Int
  @usableFromInline var generation: UInt64 = 1
  public private(set) var entries: UnsafeMutablePointer<Entry>
  private var entryCapacity: Int
  public private(set) var count = 0
  @usableFromInline let seed: UInt64

  public init(capacity: Int = 1024) {
    mask = capacity * 2 - 1
    unsafe slots = .allocate(capacity: capacity * 2)
    unsafe slots.initialize(repeating: 0, count: capacity * 2)
    entryCapacity = capacity
    unsafe entries = .allocate(capacity: capacity)
    // A random seed per process prevents anyone from choosing values that all hash to one slot.
    seed = Self.processSeed
  }

  private static let processSeed = UInt64.random(in: .min ... .max) | 1

  deinit {
    unsafe slots.deallocate()
    unsafe entries.deallocate()
  }

  public mutating func removeAll() {
    count = 0
    generation += 1
    if generation == 1 << 32 {
      unsafe slots.update(repeating: 0, count: mask + 1)
      generation = 1
    }
  }

  /// Returns the index of the text, and whether this is its first use. It is inlined, because writers call it a dozen
  /// times per event.
  @inlinable @inline(__always)
  public mutating func intern(_ text: Text) -> (index: Int, isNew: Bool) {
    let hash = Self.hash(text, seed)
    var slot = Int(truncatingIfNeeded: hash >> 20) & mask
    while true {
      let found = unsafe slots[slot]
      guard found >> 32 == generation else { break }
      let index = Int(found & 0xFFFF_FFFF)
      let entry = unsafe entries + index
      if unsafe entry.pointee.hash == hash, unsafe entry.pointee.text == text { return (index, false) }
      slot = (slot + 1) & mask
    }
    return (add(text, hash, slot), true)
  }

  /// Returns the length on the wire of the text at this index: the noted length or, if none was noted, the length of
  /// the text escaped as JSON, without quotes.
  @inlinable @inline(__always)
  public func wireCount(of index: Int) -> Int {
    if let count = unsafe entries[index].wireCount { return count }
    let count = unsafe CanonicalJSON.escapedCount(entries[index].text)
    unsafe (entries + index).pointee.wireCount = count
    return count
  }

  @inlinable @inline(__always)
  public func note(wireCount: Int, of index: Int) { unsafe (entries + index).pointee.wireCount = wireCount }

  /// Replaces a new text with a copy that is written as on the wire and lives as long as the table.
  package func keep(_ index: Int, _ copy: Text) {
    unsafe (entries + index).pointee.text = copy
    note(wireCount: copy.count, of: index)
  }

  @usableFromInline @inline(never)
  mutating func add(_ text: Text, _ hash: UInt64, _ slot: Int) -> Int {
    if count == entryCapacity {
      grow()
      return insert(Entry(text: text, hash: hash))
    }
    unsafe slots[slot] = generation << 32 | UInt64(count)
    unsafe (entries + count).initialize(to: Entry(text: text, hash: hash))
    count += 1
    return count - 1
  }

  private mutating func insert(_ entry: Entry) -> Int {
    var slot = Int(truncatingIfNeeded: entry.hash >> 20) & mask
    while unsafe slots[slot] >> 32 == generation { slot = (slot + 1) & mask }
    unsafe slots[slot] = generation << 32 | UInt64(count)
    unsafe (entries + count).initialize(to: entry)
    count += 1
    return count - 1
  }

  private mutating func grow() {
    let old = unsafe entries
    let oldCount = count
    entryCapacity *= 2
    mask = entryCapacity * 2 - 1
    unsafe slots.deallocate()
    unsafe slots = .allocate(capacity: mask + 1)
    unsafe slots.initialize(repeating: 0, count: mask + 1)
    generation = 1
    unsafe entries = .allocate(capacity: entryCapacity)
    count = 0
    for index in 0..<oldCount { _ = unsafe insert(old[index]) }
    unsafe old.deallocate()
  }

  /// Hashes 8-byte words by multiplication and folding. The last word overlaps the one before it.
  @inlinable @inline(__always)
  static func hash(_ text: Text, _ seed: UInt64) -> UInt64 {
    let raw = unsafe UnsafeRawPointer(text.base)
    let count = text.count
    var state = seed ^ (UInt64(truncatingIfNeeded: count) &* 0x9E37_79B9_7F4A_7C15)
    if count >= 8 {
      var at = 0
      while at + 8 < count {
        state = unsafe fold(state ^ raw.loadUnaligned(fromByteOffset: at, as: UInt64.self))
        at += 8
      }
      return unsafe fold(state ^ raw.loadUnaligned(fromByteOffset: count - 8, as: UInt64.self))
    }
    var word: UInt64 = 0
    if count >= 4 {
      word =
        unsafe UInt64(raw.loadUnaligned(as: UInt32.self)) << 32
        | UInt64(raw.loadUnaligned(fromByteOffset: count - 4, as: UInt32.self))
    } else if count > 0 {
      word = UInt64(text[0]) << 16 | UInt64(text[count / 2]) << 8 | UInt64(text[count - 1])
    }
    return fold(state ^ word)
  }

  @inlinable @inline(__always)
  static func fold(_ value: UInt64) -> UInt64 {
    let product = value.multipliedFullWidth(by: 0xA076_1D64_78BD_642F)
    return product.high ^ product.low
  }
}
