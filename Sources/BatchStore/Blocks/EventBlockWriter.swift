package import BatchFoundation

/// Packs events, in the order of delivery, into blocks. Each block becomes one request; it is written once and never
/// changed. A block has a header and one entry per event. Texts, values, lists of shared texts and lists of names each
/// get a number where they first appear, so most parts of an entry are one-byte numbers. All strings are stored
/// escaped, as on the wire.
///
///     block  = version, event count, first timestamp, body bytes, group, event...
///     event  = timestamp delta, type << 5 | flags, [type], emission, source, [device], [lead], shared, shape, value...
///     [lead] = 16 bytes | length bytes
///     shared = 0 changes string... | number
///     shape  = 0 count name... | number
///     string = 0 length bytes | number
///     value  = 0 length bytes | 1 length bytes | number + 1
///
/// `changes` has a bit for each text that differs from its counterpart in the last new list. The device of an event is
/// written only if it differs from the shared text that names it, which a caller may set. All numbers are varints;
/// those of known items count from 1. A value after a 1 gets no number, because such values rarely repeat. Sources are
/// written as in ``SourceTrail``. The writer keeps its tables between calls; use one writer per worker.
@safe package struct EventBlockWriter: ~Copyable {
  static let version: UInt8 = 1
  /// The number of digits at which a number becomes unlikely to repeat in another event.
  static let seldomRepeated = 4

  private let form: WireForm
  private let limits: RequestLimits
  /// Whether all texts are already as on the wire, in memory that may be released before the block is written.
  private let isCopying: Bool
  private var strings = StringTable()
  private var values = StringTable()
  private var lists = TupleTable()
  private var shapes = ShapeTable()
  private var known: KnownLists
  private var sources = SourceTrail()
  private let memory = Arena(blockSize: 1 << 14)
  private var head = ByteBuffer(capacity: 64)
  private var body = ByteBuffer(capacity: 1 << 16)
  private var output: [UInt8] = []
  private var entries: [EventBlocks.Entry] = []
  /// The string indexes of an event's shared texts, and those of the last new list.
  private let numbers: UnsafeMutableBufferPointer<UInt32>
  private let lastNew: UnsafeMutableBufferPointer<UInt32>

  private var events = 0
  private var expired = 0
  private var bodyBytes = 0
  private var group: UInt8 = 0
  private var first = Instant(milliseconds: 0)
  private var last = Instant(milliseconds: 0)

  package init(_ form: WireForm, limits: RequestLimits, isCopying: Bool = false) {
    self.form = form
    self.limits = limits
    self.isCopying = isCopying
    known = KnownLists(count: form.shared.count)
    unsafe numbers = .allocate(capacity: form.shared.count)
    unsafe lastNew = .allocate(capacity: form.shared.count)
    start()
  }

  deinit {
    unsafe numbers.deallocate()
    unsafe lastNew.deallocate()
  }

  /// Adds an event. An event that alone exceeds the maximum size of a body gets its own block.
  ///
  /// - Parameters:
  ///   - shared: one text for each shared text of the form. Their memory must live until ``take()``.
  ///   - fields: the names and values. Depending on the form, a value is a text or a ``JSONView``.
  package mutating func append(
    _ event: EventHead, shared: UnsafeBufferPointer<Text>, fields: UnsafeBufferPointer<Attribute>
  ) {
    // If a limit is reached, the event does not fit, so trying is unnecessary.
    if events > 0, events >= limits.maxEvents || bodyBytes >= limits.maxBodyBytes || event.group != group { finish() }
    let mark = body.count
    let size = unsafe write(event, shared, fields)
    if events > 0, bodyBytes + size > limits.maxBodyBytes {
      body.truncate(to: mark)
      finish()
      unsafe count(event, write(event, shared, fields))
    } else {
      count(event, size)
    }
  }

  /// Returns the events added since the last call, in blocks.
  package mutating func take() -> EventBlocks {
    if events > 0 { finish() }
    defer { entries.removeAll(keepingCapacity: true) }
    if isCopying { memory.reset() }
    return EventBlocks(bytes: takeOutput(), entries: entries)
  }

  /// The maximum size of output that is copied so that the buffer can be reused; larger output is handed over with its
  /// buffer.
  private static let ordinaryOutput = 1 << 22

  private mutating func takeOutput() -> [UInt8] {
    if output.count > Self.ordinaryOutput {
      defer { output = [] }
      return output
    }
    defer { output.removeAll(keepingCapacity: true) }
    return unsafe output.withUnsafeBufferPointer { unsafe Array($0) }
  }

  private mutating func start() {
    strings.removeAll()
    values.removeAll()
    lists.removeAll()
    shapes.startBlock()
    known.removeAll()
    unsafe lastNew.initialize(repeating: .max)
    sources = SourceTrail()
    body.removeAll()
    events = 0
    expired = 0
    // Subtracts the separator that the first event does not have.
    bodyBytes = form.bodyFrame - 1
  }

  private mutating func finish() {
    let offset = output.count
    head.removeAll()
    head.append(Self.version)
    head.append(varint: UInt64(events))
    head.append(varint: UInt64(bitPattern: first.milliseconds))
    head.append(varint: UInt64(bodyBytes))
    head.append(group)
    unsafe output.append(contentsOf: head.bytes)
    unsafe output.append(contentsOf: body.bytes)
    entries.append(
      EventBlocks.Entry(
        offset: offset, length: output.count - offset, events: events, expired: expired, first: first, last: last,
        bodyBytes: bodyBytes, group: Int(group)))
    start()
  }

  @inline(__always)
  private mutating func count(_ event: EventHead, _ size: Int) {
    if events == 0 { (first, group) = (event.timestamp, event.group) }
    last = event.timestamp
    events += 1
    if event.flags.contains(.isExpired) { expired += 1 }
    bodyBytes += size
  }

  /// Appends the event to the open block and returns the size of its JSON with a separator.
  private mutating func write(
    _ event: EventHead, _ shared: UnsafeBufferPointer<Text>, _ fields: UnsafeBufferPointer<Attribute>
  ) -> Int {
    let previous = events == 0 ? event.timestamp : last
    body.append(varint: UInt64(bitPattern: event.timestamp.milliseconds &- previous.milliseconds))
    let (type, typeIsNew) = intern(event.type)
    var flags = event.flags
    let hasOwnDevice = unsafe event.device != shared[form.device]
    if hasOwnDevice { flags.insert(.hasOwnDevice) }
    if case .uuid = event.lead { flags.insert(.hasUUID) }
    body.append(varint: (typeIsNew ? 0 : UInt64(type + 1) << EventFlags.bits) | UInt64(flags.rawValue))
    if typeIsNew { appendString(type) }
    body.append(varint: EmissionNumber.packed(event.emission, at: event.timestamp))
    sources.append(event.source, to: &body)
    if hasOwnDevice { append(intern(event.device)) }
    var size = form.frame + strings.wireCount(of: type)
    size += write(event.lead)
    unsafe size += write(shared)
    let shape = unsafe shapes.shape(of: fields, ofEvent: event.type, form, isCopying)
    shapes.append(shape, to: &body, &strings)
    size += shapes.size(of: shape)
    if form.valuesAreViews, !isCopying {
      for index in fields.indices { unsafe size += write(view: fields[index].value) }
    } else {
      for index in fields.indices { unsafe size += write(value: fields[index].value) }
    }
    return size
  }

  @inline(__always)
  private mutating func write(_ lead: EventHead.Lead) -> Int {
    switch lead {
    case .none: return 0
    case .uuid(let id):
      unsafe body.append(limit: 16) { target in
        unsafe UnsafeMutableRawPointer(target).storeBytes(of: id.high.bigEndian, as: UInt64.self)
        unsafe UnsafeMutableRawPointer(target + 8).storeBytes(of: id.low.bigEndian, as: UInt64.self)
        return 16
      }
      return NameUUID.textBytes + 2
    case .text(let text):
      let count = CanonicalJSON.escapedCount(text) + 2
      body.append(varint: UInt64(count))
      CanonicalJSON.appendString(text, to: &body)
      return count
    case .raw(let bytes):
      body.append(varint: UInt64(bytes.count))
      body.append(bytes)
      return bytes.count
    }
  }

  private mutating func write(_ shared: UnsafeBufferPointer<Text>) -> Int {
    if !isCopying, let list = unsafe known.find(shared) {
      body.append(varint: UInt64(list.number + 1))
      return list.size
    }
    var size = 0
    var isNew: UInt64 = 0
    for index in shared.indices {
      // Most texts are those of the device before, which is found out faster than by a look-up.
      let last = unsafe Int(lastNew[index])
      let isSame = unsafe last < strings.count && strings.entries[last].text == shared[index]
      let (number, new) = isSame ? (last, false) : unsafe intern(shared[index])
      size += form.size(ofShared: index, escaped: strings.wireCount(of: number))
      unsafe numbers[index] = UInt32(truncatingIfNeeded: number)
      if new { isNew |= 1 << UInt64(index) }
    }
    let (list, listIsNew) = unsafe lists.intern(UnsafeBufferPointer(numbers))
    if !isCopying { unsafe known.note(shared, number: list, size: size) }
    guard listIsNew else {
      body.append(varint: UInt64(list + 1))
      return size
    }
    var changes: UInt64 = 0
    for index in unsafe numbers.indices where unsafe numbers[index] != lastNew[index] { changes |= 1 << UInt64(index) }
    body.append(0)
    body.append(varint: changes)
    for index in unsafe numbers.indices where changes & 1 << UInt64(index) != 0 {
      unsafe append((Int(numbers[index]), isNew & 1 << UInt64(index) != 0))
      unsafe lastNew[index] = numbers[index]
    }
    return size
  }

  @inline(__always)
  private mutating func write(value text: Text) -> Int {
    if form.valuesAreViews, text.count >= Self.seldomRepeated, text[0] <= UInt8(ascii: "9"),
      text[0] != UInt8(ascii: "\"")
    {
      return writeUnnumbered(text)
    }
    let (index, isNew) = values.intern(text)
    if isNew, isCopying { unsafe values.keep(index, memory.copy(text.bytes)) }
    let count = values.wireCount(of: index)
    if isNew {
      body.append(0)
      body.append(varint: UInt64(count))
      append(text, count)
    } else {
      body.append(varint: UInt64(index + 2))
    }
    return count
  }

  @inline(__always)
  private mutating func write(view text: Text) -> Int {
    let value = unsafe JSONView(at: text.base)
    if let number = value.number, number.count >= Self.seldomRepeated { return writeUnnumbered(number) }
    let (index, isNew) = values.intern(text)
    guard isNew else {
      body.append(varint: UInt64(index + 2))
      return values.wireCount(of: index)
    }
    let count = CanonicalJSON.count(value)
    values.note(wireCount: count, of: index)
    body.append(0)
    body.append(varint: UInt64(count))
    CanonicalJSON.append(value, to: &body)
    return count
  }

  private mutating func writeUnnumbered(_ text: Text) -> Int {
    body.append(1)
    body.append(varint: UInt64(text.count))
    body.append(text)
    return text.count
  }

  @inline(__always)
  private mutating func intern(_ text: Text) -> (index: Int, isNew: Bool) {
    let found = strings.intern(text)
    if isCopying, found.isNew { unsafe strings.keep(found.index, memory.copy(text.bytes)) }
    return found
  }

  @inline(__always)
  private mutating func append(_ string: (index: Int, isNew: Bool)) {
    if string.isNew {
      body.append(0)
      appendString(string.index)
    } else {
      body.append(varint: UInt64(string.index + 1))
    }
  }

  @inline(__always)
  private mutating func appendString(_ index: Int) {
    let count = strings.wireCount(of: index)
    body.append(varint: UInt64(count))
    unsafe append(strings.entries[index].text, count)
  }

  @inline(__always)
  private mutating func append(_ text: Text, _ count: Int) {
    if count == text.count {
      body.append(text)
    } else {
      CanonicalJSON.appendEscaped(text, to: &body)
    }
  }
}

/// A cache of the lists of shared texts in the open block. Texts at the same addresses as those of an earlier event,
/// usually of the same device, need no look-up. Every guess is checked, so the cache does not change the block.
@safe struct KnownLists: ~Copyable {
  private struct Guess {
    var number: Int
    var size: Int
    var generation: UInt32
  }

  private static let places = 512
  private let count: Int
  private let guesses = UnsafeMutablePointer<Guess>.allocate(capacity: places)
  private let texts: UnsafeMutablePointer<Text>
  private var generation: UInt32 = 1

  init(count: Int) {
    self.count = count
    unsafe texts = .allocate(capacity: max(1, count * Self.places))
    unsafe guesses.initialize(repeating: Guess(number: 0, size: 0, generation: 0), count: Self.places)
  }

  deinit {
    unsafe guesses.deallocate()
    unsafe texts.deallocate()
  }

  mutating func removeAll() {
    generation &+= 1
    guard generation == 0 else { return }
    unsafe guesses.initialize(repeating: Guess(number: 0, size: 0, generation: 0), count: Self.places)
    generation = 1
  }

  /// Returns the list whose texts are at the same addresses; nil if it is not in the cache.
  @inline(__always)
  func find(_ shared: UnsafeBufferPointer<Text>) -> (number: Int, size: Int)? {
    let place = unsafe place(shared)
    let guess = unsafe guesses[place]
    guard guess.generation == generation else { return nil }
    let known = unsafe texts + place * count
    for index in 0..<count where unsafe !known[index].isSameMemory(as: shared[index]) { return nil }
    return (guess.number, guess.size)
  }

  @inline(__always)
  func note(_ shared: UnsafeBufferPointer<Text>, number: Int, size: Int) {
    guard let base = shared.baseAddress else { return }
    let place = unsafe place(shared)
    unsafe guesses[place] = Guess(number: number, size: size, generation: generation)
    unsafe (texts + place * count).update(from: base, count: count)
  }

  /// Returns a cache slot computed from the addresses of all texts. At least one text belongs to the device alone, so
  /// different devices usually get different slots.
  @inline(__always)
  private func place(_ shared: UnsafeBufferPointer<Text>) -> Int {
    var mixed: UInt = 0
    for index in shared.indices { unsafe mixed = mixed &* 31 &+ UInt(bitPattern: shared[index].base) }
    return Int(truncatingIfNeeded: (mixed &* 0x9E37_79B9_7F4A_7C15) &>> 48) & (Self.places - 1)
  }
}

/// Copies events from blocks to new blocks. Blocks that were read may be released before the new ones are finished.
package final class EventBlockCopier {
  private var writer: EventBlockWriter

  package init(_ form: WireForm, _ limits: RequestLimits) {
    writer = EventBlockWriter(form, limits: limits, isCopying: true)
  }

  /// Appends the current event of a reader. Events must be added in the order of delivery.
  ///
  /// - Parameter emission: the new emission number; nil to keep the number.
  package func append(_ event: EventBlockReader, emission: Int64? = nil) { event.copy(to: &writer, emission: emission) }

  /// Returns the events added since the last call, in blocks within the limits.
  package func finish() -> EventBlocks { writer.take() }
}
