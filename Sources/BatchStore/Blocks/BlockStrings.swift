import BatchFoundation

/// The strings of a block, numbered in the order of first use. Blocks that are written together have most strings in
/// common, so each string is looked up once for all of them.
@safe struct BlockStrings: ~Copyable {
  private var table = StringTable()
  /// The ordinal of the open block, in the upper half of the marks that its strings have.
  private var block: UInt64 = 1
  private var count: UInt64 = 0

  mutating func startBlock() {
    block += 1
    count = 0
  }

  mutating func removeAll() {
    table.removeAll()
    block = 1
    count = 0
  }

  /// Returns the index of a string, and whether it is new in the output.
  @inline(__always)
  mutating func intern(_ text: Text) -> (index: Int, isNew: Bool) { table.intern(text) }

  /// Returns the number of the string in the open block; nil if this is its first use there, which numbers it.
  @inline(__always)
  mutating func mention(_ index: Int) -> Int? {
    let mark = unsafe table.entries[index].mark
    if mark >> 32 == block { return Int(mark & 0xFFFF_FFFF) }
    unsafe (table.entries + index).pointee.mark = block << 32 | count
    count += 1
    return nil
  }

  @inline(__always)
  func text(_ index: Int) -> Text { unsafe table.entries[index].text }

  @inline(__always)
  func wireCount(of index: Int) -> Int { table.wireCount(of: index) }

  func note(wireCount: Int, of index: Int) { table.note(wireCount: wireCount, of: index) }

  func keep(_ index: Int, _ copy: Text) { table.keep(index, copy) }
}

/// The lists of shared texts in the blocks that are written together, numbered in each block in the order of first use.
///
/// Texts at the same addresses as those of an earlier event, usually of the same device, need no look-up. Every guess
/// is checked, so it does not change the block.
@safe struct SharedLists: ~Copyable {
  private struct List {
    /// The size of the texts on the wire in bytes, with the fixed texts around them.
    var size: Int
    /// The last block that has the list, and the list's number there.
    var block = 0
    var number = 0
  }

  private struct Guess {
    var list = 0
    var generation = 0
  }

  private static let places = 512
  private let count: Int
  private let device: Int
  private var tuples = TupleTable()
  private var lists: [List] = []
  /// The string indexes of the last list that was looked up.
  private var strings: [UInt32] = []
  private let guesses = UnsafeMutablePointer<Guess>.allocate(capacity: places)
  private let texts: UnsafeMutablePointer<Text>
  private var generation = 1
  private var block = 1
  private var written = 0
  /// The last list that was new in the open block; nil if there is none.
  private var newest: Int?

  init(_ form: WireForm) {
    (count, device) = (form.shared.count, form.device)
    unsafe texts = .allocate(capacity: max(1, count * Self.places))
    unsafe guesses.initialize(repeating: Guess(), count: Self.places)
  }

  deinit {
    unsafe guesses.deallocate()
    unsafe texts.deallocate()
  }

  mutating func startBlock() {
    block += 1
    written = 0
    newest = nil
  }

  mutating func removeAll() {
    tuples.removeAll()
    lists.removeAll(keepingCapacity: true)
    strings.removeAll(keepingCapacity: true)
    generation += 1
    startBlock()
  }

  /// Returns the list whose texts are at the same addresses; nil if it is not known.
  @inline(__always)
  func find(_ shared: UnsafeBufferPointer<Text>) -> Int? {
    let place = unsafe place(shared)
    let guess = unsafe guesses[place]
    guard guess.generation == generation else { return nil }
    let known = unsafe texts + place * count
    for index in 0..<count where unsafe !known[index].isSameMemory(as: shared[index]) { return nil }
    return guess.list
  }

  func note(_ shared: UnsafeBufferPointer<Text>, _ list: Int) {
    guard let base = shared.baseAddress else { return }
    let place = unsafe place(shared)
    unsafe guesses[place] = Guess(list: list, generation: generation)
    unsafe (texts + place * count).update(from: base, count: count)
  }

  @inline(__always)
  private func place(_ shared: UnsafeBufferPointer<Text>) -> Int {
    let address = unsafe UInt(bitPattern: shared[device].base)
    return Int(truncatingIfNeeded: (address &* 0x9E37_79B9_7F4A_7C15) &>> 48) & (Self.places - 1)
  }

  /// Returns a string of the last list that was looked up; nil if there is none.
  @inline(__always)
  func last(_ index: Int) -> Int? { strings.isEmpty ? nil : Int(strings[index]) }

  /// Sets a string of the list to be looked up; the others are those of the last one.
  @inline(__always)
  mutating func set(_ index: Int, to string: Int) {
    if strings.isEmpty { strings = Array(repeating: 0, count: count) }
    strings[index] = UInt32(truncatingIfNeeded: string)
  }

  /// Looks up the list whose strings were set.
  mutating func add(_ form: WireForm, _ known: borrowing BlockStrings) -> Int {
    let (list, isNew) = unsafe strings.withUnsafeBufferPointer { unsafe tuples.intern($0) }
    guard isNew else { return list }
    var size = 0
    for (index, string) in strings.enumerated() {
      size += form.size(ofShared: index, escaped: known.wireCount(of: Int(string)))
    }
    lists.append(List(size: size))
    return list
  }

  @inline(__always)
  func size(of list: Int) -> Int { lists[list].size }

  @inline(__always)
  func string(_ index: Int, of list: Int) -> Int { tuples.item(index, of: list) }

  /// Returns the number of the list in the open block; nil if this is its first use there, which numbers it.
  @inline(__always)
  mutating func mention(_ list: Int) -> Int? {
    if lists[list].block == block { return lists[list].number }
    (lists[list].block, lists[list].number) = (block, written)
    written += 1
    return nil
  }

  /// Returns a bit for each string that differs from its counterpart in the last new list of the block, which `list`
  /// replaces.
  mutating func replaceNewest(with list: Int) -> UInt64 {
    defer { newest = list }
    guard let newest else { return (1 << UInt64(count)) - 1 }
    var changes: UInt64 = 0
    for index in 0..<count where tuples.item(index, of: list) != tuples.item(index, of: newest) {
      changes |= 1 << UInt64(index)
    }
    return changes
  }
}
