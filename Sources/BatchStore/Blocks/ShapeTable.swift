import BatchFoundation

/// A cache of shapes, which are lists of the names of an event's fields. Nearly every block has the same shapes, so the
/// cache outlives a block.
@safe struct ShapeTable: ~Copyable {
  @safe private struct Shape {
    let names: UnsafeMutableBufferPointer<Text>
    /// The size in bytes, on the wire, of the names and of the fixed texts around names and values.
    let size: Int
    /// The number of the shape in the block that `generation` identifies.
    var number = 0
    var generation = 0
  }

  private var shapes: [Shape] = []
  /// The name indexes of each shape.
  private var tuples = TupleTable()
  private var names = StringTable(capacity: 256)
  /// The names as on the wire.
  private var wireNames: [Text] = []
  /// For each name, its index among the strings of the output that `generation` identifies.
  private var strings: [(generation: Int, index: Int)] = []
  /// The last two shapes for each type, field count and first name. There are two, because the other names may differ.
  private var guesses = [(one: Int, other: Int)](repeating: (-1, -1), count: 256)
  private let memory = Arena(blockSize: 16 << 10)
  private var memoryUsed = 0
  private var candidates: [UInt32] = []
  private var generation = 1
  private var outputGeneration = 1
  private var written = 0

  /// If a limit is exceeded, all shapes are forgotten before the next output, because every event of an export may have
  /// a different shape.
  private static let ordinaryCount = 4096
  private static let ordinaryBytes = 1 << 18

  mutating func startBlock() {
    generation += 1
    written = 0
  }

  mutating func endOutput() {
    outputGeneration += 1
    guard shapes.count > Self.ordinaryCount || memoryUsed > Self.ordinaryBytes else { return }
    shapes = []
    tuples = TupleTable()
    names = StringTable(capacity: 256)
    wireNames = []
    strings = []
    candidates = []
    for place in guesses.indices { guesses[place] = (-1, -1) }
    memory.reset()
    memoryUsed = 0
  }

  /// Returns the index of the shape that the fields have.
  ///
  /// - Parameter isWire: whether the names are already as on the wire.
  mutating func shape(
    of fields: UnsafeBufferPointer<Attribute>, ofEvent type: Text, _ form: WireForm, _ isWire: Bool
  ) -> Int {
    // Events of one type may be of several kinds with different fields. The first name usually distinguishes them.
    let first = unsafe fields.first.map { unsafe $0.name.count &+ Int($0.name.bytes.last ?? 0) } ?? 0
    let place = (Int(type.quickHash) &+ fields.count &* 7 &+ first) & 255
    let guess = guesses[place]
    if unsafe hasShape(fields, guess.one) { return guess.one }
    if unsafe hasShape(fields, guess.other) { return guess.other }
    let shape = unsafe find(fields, form, isWire)
    guesses[place] = (shape, guess.one)
    return shape
  }

  /// Returns the size of the fields on the wire in bytes, without their values.
  func size(of shape: Int) -> Int { shapes[shape].size }

  /// Appends the shape to a block, with its names if it is new in the block.
  mutating func append(_ shape: Int, to body: inout ByteBuffer, _ blockStrings: inout BlockStrings) {
    if shapes[shape].generation == generation {
      body.append(varint: UInt64(shapes[shape].number + 1))
      return
    }
    (shapes[shape].generation, shapes[shape].number) = (generation, written)
    written += 1
    body.append(0)
    let count = unsafe shapes[shape].names.count
    body.append(varint: UInt64(count))
    for place in 0..<count { appendName(tuples.item(place, of: shape), to: &body, &blockStrings) }
  }

  private mutating func appendName(_ number: Int, to body: inout ByteBuffer, _ blockStrings: inout BlockStrings) {
    let wire = wireNames[number]
    if strings[number].generation != outputGeneration {
      let (index, isNew) = unsafe blockStrings.intern(names.entries[number].text)
      strings[number] = (outputGeneration, index)
      if isNew { blockStrings.note(wireCount: wire.count, of: index) }
    }
    if let known = blockStrings.mention(strings[number].index) { return body.append(varint: UInt64(known + 1)) }
    body.append(0)
    body.append(varint: UInt64(wire.count))
    body.append(wire)
  }

  @inline(__always)
  private func hasShape(_ fields: UnsafeBufferPointer<Attribute>, _ shape: Int) -> Bool {
    guard shape >= 0, unsafe shapes[shape].names.count == fields.count else { return false }
    let names = unsafe shapes[shape].names
    for index in fields.indices where unsafe names[index] != fields[index].name { return false }
    return true
  }

  private mutating func find(_ fields: UnsafeBufferPointer<Attribute>, _ form: WireForm, _ isWire: Bool) -> Int {
    candidates.removeAll(keepingCapacity: true)
    for index in fields.indices {
      let field = unsafe fields[index]
      let (number, isNew) = names.intern(field.name)
      if isNew {
        unsafe names.keep(number, memory.copy(field.name.bytes))
        memoryUsed += field.name.count
        wireNames.append(isWire ? unsafe names.entries[number].text : escaped(field.name))
        strings.append((0, 0))
      }
      candidates.append(UInt32(truncatingIfNeeded: number))
    }
    let (shape, isNew) = unsafe candidates.withUnsafeBufferPointer { unsafe tuples.intern($0) }
    guard isNew else { return shape }
    let byteCount = fields.count * MemoryLayout<Text>.stride
    let start = unsafe memory.allocate(byteCount).bindMemory(to: Text.self, capacity: fields.count)
    memoryUsed += byteCount
    var size = 0
    for (index, number) in candidates.enumerated() {
      unsafe (start + index).initialize(to: names.entries[Int(number)].text)
      let before = index == 0 ? form.beforeFirstName : form.beforeName
      size += before.count + wireNames[Int(number)].count + form.beforeValue.count
    }
    unsafe shapes.append(Shape(names: UnsafeMutableBufferPointer(start: start, count: fields.count), size: size))
    return shape
  }

  private mutating func escaped(_ name: Text) -> Text {
    var wire = ByteBuffer(capacity: 2 * name.count)
    CanonicalJSON.appendEscaped(name, to: &wire)
    memoryUsed += wire.count
    return unsafe memory.copy(wire.bytes)
  }
}
