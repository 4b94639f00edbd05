package import BatchFoundation
import Glibc

/// Blocks in the order of their events. A call returns the next block; nil after the last. It throws ``StoreError`` if
/// the block is damaged or cannot be read.
package typealias BlockSequence = () throws -> [UInt8]?

/// A merge of sorted sequences by timestamp, then by the bytes of the device id, then by emission number
/// (reference formats 4.2). It keeps one block of each sequence in memory. Functions throw ``StoreError/damagedBlock``
/// and the errors of the sequences.
package struct EventMerge {
  private final class Cursor {
    let next: BlockSequence
    let wireForm: WireForm
    let place: Int
    /// At the next event; nil after the last.
    private(set) var reader: EventBlockReader?

    init(_ sequence: @escaping BlockSequence, wireForm: WireForm, place: Int) {
      next = sequence
      self.wireForm = wireForm
      self.place = place
    }

    /// Moves to the next event and returns its time; nil after the last.
    func advance() throws -> Instant? {
      while true {
        if let reader, try reader.next() { return reader.timestamp }
        reader = nil
        guard let block = try next() else { return nil }
        reader = try wireForm.reader(of: block)
      }
    }

    /// Compares the next events, which have the same time.
    func precedes(_ other: Cursor) -> Bool {
      guard let event = reader, let another = other.reader else { return false }
      if event.device != another.device { return event.device < another.device }
      return event.emission != another.emission ? event.emission < another.emission : place < other.place
    }
  }

  /// The next event of a sequence. Most comparisons need only its time, and readers are far apart in memory.
  private struct Head {
    var timestamp: Instant
    var cursor: Int
  }

  private let cursors: [Cursor]
  private var heap: [Head] = []

  package init(_ sequences: [BlockSequence], wireForm: WireForm) throws {
    try self.init(sequences.enumerated().map { (place: $0.offset, blocks: $0.element) }, wireForm: wireForm)
  }

  /// Merges a subset of sequences. Each has its index in the full list, which orders equal events.
  package init(_ sequences: [(place: Int, blocks: BlockSequence)], wireForm: WireForm) throws {
    cursors = sequences.map { Cursor($0.blocks, wireForm: wireForm, place: $0.place) }
    for (index, cursor) in cursors.enumerated() {
      if let timestamp = try cursor.advance() { heap.append(Head(timestamp: timestamp, cursor: index)) }
    }
    for index in stride(from: heap.count / 2 - 1, through: 0, by: -1) { sift(index) }
  }

  /// The next event, and the index of its sequence; nil after the last. Only the merge moves the reader.
  package var next: (event: EventBlockReader, place: Int)? {
    guard let head = heap.first else { return nil }
    let cursor = cursors[head.cursor]
    return cursor.reader.map { ($0, cursor.place) }
  }

  /// Skips the next event; does nothing after the last.
  package mutating func skip() throws {
    guard let head = heap.first else { return }
    if let timestamp = try cursors[head.cursor].advance() {
      heap[0].timestamp = timestamp
    } else {
      heap[0] = heap[heap.count - 1]
      heap.removeLast()
    }
    if heap.count > 1 { sift(0) }
  }

  /// Appends the JSON of the next event, without a line ending; returns false after the last.
  package mutating func appendNext(to target: inout ByteBuffer) throws -> Bool {
    guard let event = next?.event else { return false }
    event.appendJSON(to: &target)
    try skip()
    return true
  }

  private func precedes(_ one: Head, _ other: Head) -> Bool {
    one.timestamp != other.timestamp
      ? one.timestamp < other.timestamp : cursors[one.cursor].precedes(cursors[other.cursor])
  }

  private mutating func sift(_ start: Int) {
    let head = heap[start]
    var index = start
    while 2 * index + 1 < heap.count {
      var child = 2 * index + 1
      if child + 1 < heap.count, precedes(heap[child + 1], heap[child]) { child += 1 }
      guard precedes(heap[child], head) else { break }
      heap[index] = heap[child]
      index = child
    }
    heap[index] = head
  }
}

extension EventMerge {
  /// The maximum number of sequences that are merged together. Each has a block of about 10 KB in memory.
  private static let width = 1024
  /// The number of events that are encoded together before they are written to disk.
  private static let stretch = 1024

  /// Returns the same events in at most `width` sequences, so that merging them takes little memory. Surplus sequences
  /// are merged into temporary ones, in files in `folder`.
  ///
  /// - Throws: ``StoreError/inputOutput(path:operation:code:)`` if a file cannot be written, and the errors of a merge.
  package static func narrowed(
    _ sequences: [BlockSequence], wireForm: WireForm, width: Int = width, folder: String
  ) throws -> [BlockSequence] {
    guard sequences.count > width else { return sequences }
    var narrow: [BlockSequence] = []
    var rest = sequences[...]
    var surplus = sequences.count - width
    while surplus > 0, rest.count > 1 {
      // Only neighbors are merged, because equal events are ordered by the indexes of their sequences.
      let merged = rest.prefix(min(width, surplus + 1))
      narrow.append(try spooled(Array(merged), wireForm, folder))
      rest = rest.dropFirst(merged.count)
      surplus -= merged.count - 1
    }
    return try narrowed(narrow + rest, wireForm: wireForm, width: width, folder: folder)
  }

  /// Returns the events of all sequences as one sequence.
  private static func spooled(
    _ sequences: [BlockSequence], _ wireForm: WireForm, _ folder: String
  ) throws -> BlockSequence {
    let spool = try Spool(folder)
    var merge = try EventMerge(sequences, wireForm: wireForm)
    // Only the next merge reads these blocks. It has one block of each sequence in memory, so they should be small.
    let writer = EventBlockCopier(wireForm, RequestLimits(maxEvents: 100, maxBodyBytes: 1_000_000))
    var count = 0
    while let event = merge.next?.event {
      writer.append(event)
      try merge.skip()
      count += 1
      if count % stretch == 0 { try spool.append(writer.finish()) }
    }
    try spool.append(writer.finish())
    return spool.sequence
  }
}

/// The blocks of a sequence, in an unnamed file that disappears with the process.
private final class Spool {
  private let descriptor: Int32
  private var places: [Range<Int>] = []

  /// - Throws: ``StoreError/inputOutput(path:operation:code:)``.
  init(_ folder: String) throws {
    descriptor = try StoreError.naming(folder, "create", TemporaryPath.unnamedFile(in: folder))
  }

  deinit { close(descriptor) }

  func append(_ blocks: EventBlocks) throws {
    let start = places.last?.upperBound ?? 0
    try StoreError.naming("spool file", "write", FileDescriptor.write(blocks.bytes, to: descriptor))
    places += blocks.entries.map { start + $0.offset..<start + $0.offset + $0.length }
  }

  var sequence: BlockSequence {
    var next = 0
    return {
      guard next < self.places.count else { return nil }
      defer { next += 1 }
      return try self.read(self.places[next])
    }
  }

  private func read(_ place: Range<Int>) throws -> [UInt8] {
    // A short read sets no error.
    var code = EIO
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: place.count) { buffer, count in
      let read = unsafe pread(descriptor, buffer.baseAddress, place.count, place.lowerBound)
      if read < 0 { code = errno }
      count = max(0, read)
    }
    guard bytes.count == place.count else {
      throw StoreError.inputOutput(path: "spool file", operation: "read", code: code)
    }
    return bytes
  }
}
