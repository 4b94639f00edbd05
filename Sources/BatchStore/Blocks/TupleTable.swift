import BatchFoundation

/// Short sequences of string indexes that events of a block have in common, numbered in the order of first use.
@safe struct TupleTable: ~Copyable {
  /// The bytes of the tuples.
  private var table = StringTable(capacity: 256)
  private let memory = Arena(blockSize: 4 << 10)

  mutating func removeAll() {
    table.removeAll()
    memory.reset()
  }

  @inline(__always)
  mutating func intern(_ tuple: UnsafeBufferPointer<UInt32>) -> (index: Int, isNew: Bool) {
    let bytes = unsafe UnsafeRawBufferPointer(tuple).assumingMemoryBound(to: UInt8.self)
    let (index, isNew) = unsafe table.intern(Text(bytes))
    if isNew { unsafe table.keep(index, memory.copy(bytes)) }
    return (index, isNew)
  }

  @inline(__always)
  func item(_ place: Int, of index: Int) -> Int {
    let base = unsafe UnsafeRawPointer(table.entries[index].text.base)
    return unsafe Int(base.loadUnaligned(fromByteOffset: place * MemoryLayout<UInt32>.size, as: UInt32.self))
  }
}
