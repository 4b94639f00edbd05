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
  private var strings = BlockStrings()
  private var values = StringTable()
  private var lists: SharedLists
  private var shapes = ShapeTable()
  private var sources = SourceTrail()
  private let memory = Arena(blockSize: 1 << 14)
  private var head = ByteBuffer(capacity: 64)
  private var body = ByteBuffer(capacity: 1 << 16)
  private var output: [UInt8] = []
  private var entries: [EventBlocks.Entry] = []

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
    lists = SharedLists(form)
    start()
  }

  /// Adds an event. An event that alone exceeds the maximum size of a body gets its own block.
  ///
  /// Unless the writer copies, the memory of all texts must live until ``take()``.
  ///
  /// - Parameters:
  ///   - shared: one text for each shared text of the form.
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
    strings.removeAll()
    lists.removeAll()
    shapes.endOutput()
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
    strings.startBlock()
    values.removeAll()
    lists.startBlock()
    shapes.startBlock()
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
    let type = intern(event.type)
    var flags = event.flags
    let hasOwnDevice = unsafe event.device != shared[form.device]
    if hasOwnDevice { flags.insert(.hasOwnDevice) }
    if case .uuid = event.lead { flags.insert(.hasUUID) }
    let typeNumber = strings.mention(type)
    body.append(varint: (typeNumber.map { UInt64($0 + 1) << EventFlags.bits } ?? 0) | UInt64(flags.rawValue))
    if typeNumber == nil { appendString(type) }
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

  @inline(__always)
  private mutating func write(_ shared: UnsafeBufferPointer<Text>) -> Int {
    let known = isCopying ? nil : unsafe lists.find(shared)
    let list = if let known { known } else { unsafe intern(shared) }
    if let number = lists.mention(list) {
      body.append(varint: UInt64(number + 1))
    } else {
      let changes = lists.replaceNewest(with: list)
      body.append(0)
      body.append(varint: changes)
      for index in form.shared.indices where changes & 1 << UInt64(index) != 0 { append(lists.string(index, of: list)) }
    }
    return lists.size(of: list)
  }

  @inline(never)
  private mutating func intern(_ shared: UnsafeBufferPointer<Text>) -> Int {
    for index in shared.indices {
      // Most texts are those of the list before, which is found out faster than by a look-up.
      let isSame = lists.last(index).map { unsafe strings.text($0) == shared[index] } ?? false
      if !isSame { unsafe lists.set(index, to: intern(shared[index])) }
    }
    let list = lists.add(form, strings)
    if !isCopying { unsafe lists.note(shared, list) }
    return list
  }

  @inline(__always)
  private mutating func write(value text: Text) -> Int {
    if text.count >= Self.seldomRepeated, text[0] <= UInt8(ascii: "9"), text[0] != UInt8(ascii: "\""),
      form.valuesAreViews || CanonicalJSON.escapedCount(text) == text.count
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

  /// Returns the index of a string, which ``take()`` makes invalid.
  @inline(__always)
  private mutating func intern(_ text: Text) -> Int {
    let (index, isNew) = strings.intern(text)
    if isCopying, isNew { unsafe strings.keep(index, memory.copy(text.bytes)) }
    return index
  }

  @inline(__always)
  private mutating func append(_ string: Int) {
    if let number = strings.mention(string) {
      body.append(varint: UInt64(number + 1))
    } else {
      body.append(0)
      appendString(string)
    }
  }

  @inline(__always)
  private mutating func appendString(_ index: Int) {
    let count = strings.wireCount(of: index)
    body.append(varint: UInt64(count))
    append(strings.text(index), count)
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
