import BatchFoundation
import BatchStore

/// A cache of shapes, the lists of parameter names: nearly every block has the same ones, so they outlive a block.
@safe struct KnownShapes: ~Copyable {
  @safe private struct Shape {
    /// The names in the order of the parameters, each after its short length.
    let names: UnsafeRawPointer
    let count: Int
    /// The JSON bytes of the names and of all punctuation.
    let size: Int
    /// The number of the shape in the block of `generation`.
    var number = 0
    var generation = 0
  }

  private var shapes: [Shape] = []
  /// The numbers of the names of each shape.
  private var tuples = TupleTable()
  private var names = StringTable(capacity: 256)
  /// The index of each name among the strings of the block of that generation.
  private var strings: [(generation: Int, index: Int)] = []
  /// The shapes last seen, by the events' names: two, because an occasional extra parameter makes another one.
  private var guesses = [(one: Int, other: Int)](repeating: (-1, -1), count: 256)
  private let memory = Arena(blockSize: 16 << 10)
  private var memoryUsed = 0
  private var candidates: [UInt32] = []
  private var generation = 1
  private var written = 0

  /// More are forgotten at the next block: an export may have different ones in each event.
  private static let ordinaryCount = 4096
  private static let ordinaryBytes = 1 << 18

  mutating func startBlock() {
    generation += 1
    written = 0
    guard shapes.count > Self.ordinaryCount || memoryUsed > Self.ordinaryBytes else { return }
    shapes = []
    tuples = TupleTable()
    names = StringTable(capacity: 256)
    strings = []
    candidates = []
    for place in guesses.indices { guesses[place] = (-1, -1) }
    memory.reset()
    memoryUsed = 0
  }

  /// Returns the shape of the parameters of an event of that name.
  mutating func shape(of parameters: JSONView, ofEvent name: Text) -> Int {
    let place = Int(name.quickHash) & 255
    let guess = guesses[place]
    if hasShape(parameters, guess.one) { return guess.one }
    if hasShape(parameters, guess.other) { return guess.other }
    let shape = find(parameters)
    guesses[place] = (shape, guess.one)
    return shape
  }

  /// Returns the JSON bytes of parameters of that shape without those of the values.
  func size(of shape: Int) -> Int { shapes[shape].size }

  /// Appends the shape to a block, with its names if it is new there.
  mutating func append(_ shape: Int, to body: inout ByteBuffer, _ blockStrings: inout StringTable) {
    if shapes[shape].generation == generation {
      body.append(varint: UInt64(shapes[shape].number + 1))
      return
    }
    (shapes[shape].generation, shapes[shape].number) = (generation, written)
    written += 1
    body.append(0)
    body.append(varint: UInt64(shapes[shape].count))
    for place in 0..<shapes[shape].count { appendName(tuples.item(place, of: shape), to: &body, &blockStrings) }
  }

  private mutating func appendName(_ number: Int, to body: inout ByteBuffer, _ blockStrings: inout StringTable) {
    if strings[number].generation == generation {
      body.append(varint: UInt64(strings[number].index + 1))
      return
    }
    let name = unsafe names.entries[number].text
    let (index, isNew) = blockStrings.intern(name)
    strings[number] = (generation, index)
    body.append(varint: isNew ? 0 : UInt64(index + 1))
    guard isNew else { return }
    body.append(varint: UInt64(name.count))
    body.append(name)
  }

  @inline(__always)
  private func hasShape(_ parameters: JSONView, _ shape: Int) -> Bool {
    guard shape >= 0 else { return false }
    var at = unsafe shapes[shape].names
    var left = shapes[shape].count
    var members = parameters.members
    while let (key, _) = members.next() {
      guard left > 0 else { return false }
      let (name, end) = unsafe JSONView.shortText(at: at)
      guard name == key else { return false }
      unsafe at = end
      left -= 1
    }
    return left == 0
  }

  private mutating func find(_ parameters: JSONView) -> Int {
    candidates.removeAll(keepingCapacity: true)
    // Quotes, colon and comma around each; the closing bracket takes the place of the last comma.
    var (size, byteCount) = (1, 0)
    var members = parameters.members
    while let (key, _) = members.next() {
      let (number, isNew) = names.intern(key)
      if isNew {
        unsafe (names.entries + number).pointee.text = memory.copy(key.bytes)
        memoryUsed += key.count
        strings.append((0, 0))
      }
      candidates.append(UInt32(truncatingIfNeeded: number))
      size += names.escapedCount(of: number) + 4
      byteCount += key.count + 5
    }
    let (shape, isNew) = unsafe candidates.withUnsafeBufferPointer { unsafe tuples.intern($0) }
    guard isNew else { return shape }
    let start = unsafe memory.allocate(byteCount)
    memoryUsed += byteCount
    var at = unsafe start
    members = parameters.members
    while let (key, _) = members.next() { unsafe at = key.writeShort(to: at) }
    unsafe shapes.append(Shape(names: UnsafeRawPointer(start), count: candidates.count, size: max(size, 2)))
    return shape
  }
}
