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
    var reader: EventBlockReader?
    var timestamp = Instant(milliseconds: 0)
    var emission: Int64 = 0
    var device = Text.empty
    let place: Int

    init(_ sequence: @escaping BlockSequence, wireForm: WireForm, place: Int) {
      next = sequence
      self.wireForm = wireForm
      self.place = place
    }

    /// Moves to the next event; returns false after the last.
    func advance() throws -> Bool {
      while true {
        if try reader?.next() == true {
          timestamp = reader?.timestamp ?? timestamp
          emission = reader?.emission ?? 0
          device = reader?.device ?? .empty
          return true
        }
        reader = nil
        guard let block = try next() else { return false }
        reader = try wireForm.reader(of: block)
      }
    }

    func precedes(_ other: Cursor) -> Bool {
      if timestamp != other.timestamp { return timestamp < other.timestamp }
      if device != other.device { return device < other.device }
      if emission != other.emission { return emission < other.emission }
      return place < other.place
    }

    func appendJSON(to target: inout ByteBuffer) { reader?.appendJSON(to: &target) }
  }

  private var heap: [Cursor] = []

  package init(_ sequences: [BlockSequence], wireForm: WireForm) throws {
    try self.init(sequences.enumerated().map { (place: $0.offset, blocks: $0.element) }, wireForm: wireForm)
  }

  /// Merges a subset of sequences. Each has its index in the full list, which orders equal events.
  package init(_ sequences: [(place: Int, blocks: BlockSequence)], wireForm: WireForm) throws {
    for (place, sequence) in sequences {
      let cursor = Cursor(sequence, wireForm: wireForm, place: place)
      if try cursor.advance() { heap.append(cursor) }
    }
    for index in stride(from: heap.count / 2 - 1, through: 0, by: -1) { sift(index) }
  }

  /// The time of the next event; nil after the last.
  package var timestamp: Instant? { heap.first?.timestamp }

  /// The device of the next event, valid until the merge advances; nil after the last.
  package var device: Text? { heap.first?.device }

  /// The emission number of the next event; nil after the last.
  package var emission: Int64? { heap.first?.emission }

  /// The index of the sequence that has the next event; nil after the last.
  package var place: Int? { heap.first?.place }

  /// Skips the next event; does nothing after the last.
  package mutating func skip() throws {
    if let top = heap.first { try advance(top) }
  }

  /// Appends the JSON of the next event, without a line ending; returns false after the last.
  package mutating func appendNext(to target: inout ByteBuffer) throws -> Bool {
    guard let top = heap.first else { return false }
    top.appendJSON(to: &target)
    try advance(top)
    return true
  }

  /// Passes the next event to a writer; returns false after the last.
  package mutating func next(into writer: EventBlockCopier) throws -> Bool {
    guard let top = heap.first else { return false }
    if let event = top.reader { writer.append(event) }
    try advance(top)
    return true
  }

  private mutating func advance(_ top: Cursor) throws {
    if try !top.advance() {
      heap[0] = heap[heap.count - 1]
      heap.removeLast()
    }
    if heap.count > 1 { sift(0) }
  }

  private mutating func sift(_ start: Int) {
    var index = start
    while true {
      var least = index
      for child in [2 * index + 1, 2 * index + 2] where child < heap.count && heap[child].precedes(heap[least]) {
        least = child
      }
      guard least != index else { return }
      heap.swapAt(index, least)
      index = least
    }
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
    while merge.timestamp != nil {
      var count = 0
      while count < stretch, try merge.next(into: writer) { count += 1 }
      try spool.append(writer.finish())
    }
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
