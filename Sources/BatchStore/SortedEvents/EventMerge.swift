package import BatchFoundation

/// A merge of sorted sequences by timestamp, device id by bytes, and emission number (reference formats 4.2). It holds
/// one block of each at a time.
package struct EventMerge {
  private final class Cursor {
    let sequence: BlockSequence
    let codec: any EventCodec
    var reader: (any EventCursor)?
    var timestamp = Instant(milliseconds: 0)
    var emission: Int64 = 0
    var device = Text.empty
    let place: Int

    init(_ sequence: BlockSequence, codec: any EventCodec, place: Int) {
      self.sequence = sequence
      self.codec = codec
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
        guard let block = try sequence.next() else { return false }
        reader = try codec.cursor(of: block)
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

  package init(_ sequences: [BlockSequence], codec: any EventCodec) throws {
    try self.init(sequences.enumerated().map { (place: $0.offset, blocks: $0.element) }, codec: codec)
  }

  /// Merges some of several sequences, given with their places among all of them, which break ties.
  package init(_ sequences: [(place: Int, blocks: BlockSequence)], codec: any EventCodec) throws {
    for (place, sequence) in sequences {
      let cursor = Cursor(sequence, codec: codec, place: place)
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

  /// The place of the sequence of the next event; nil after the last.
  package var place: Int? { heap.first?.place }

  package mutating func skip() throws {
    if let top = heap.first { try advance(top) }
  }

  /// Appends the JSON of the next event, without a line end; returns false after the last.
  package mutating func appendNext(to target: inout ByteBuffer) throws -> Bool {
    guard let top = heap.first else { return false }
    top.appendJSON(to: &target)
    try advance(top)
    return true
  }

  /// Passes the next event to a writer; returns false after the last.
  package mutating func next(into writer: any BlockWriter) throws -> Bool {
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
  /// The number of sequences merged at once: each has a block of some 10 KB in memory.
  private static let width = 1024
  /// The number of events encoded at once on their way to disk.
  private static let stretch = 1024

  /// Returns the same events in at most `width` sequences, so that merging them takes little memory. As many as are too
  /// many are merged into temporary ones, in a file in `folder`.
  package static func narrowed(
    _ sequences: [BlockSequence], codec: any EventCodec, width: Int = width, folder: String
  ) throws -> [BlockSequence] {
    guard sequences.count > width else { return sequences }
    let spool = try EventSpool(folder: folder)
    var rest = sequences[...]
    var surplus = sequences.count - width
    while surplus > 0, !rest.isEmpty {
      // The places of sequences break ties, so neighbors are merged.
      let merged = rest.prefix(min(width, surplus + 1))
      try spool.append(merging: Array(merged), codec, stretch: stretch)
      rest = rest.dropFirst(merged.count)
      surplus -= merged.count - 1
    }
    return try narrowed(spool.sequences() + rest, codec: codec, width: width, folder: folder)
  }
}

extension EventSpool {
  /// Adds the events of all sequences as one.
  fileprivate func append(
    merging sequences: [BlockSequence], _ codec: any EventCodec, stretch: Int
  ) throws {
    var merge = try EventMerge(sequences, codec: codec)
    // Only the next merge reads these blocks, one of each sequence at a time: small ones save memory.
    let writer = codec.writer(BlockLimits(maxEvents: 100, maxBodyBytes: 1_000_000))
    let series = beginSeries()
    var count = 0
    var isAtEnd = false
    while !isAtEnd {
      if try merge.next(into: writer) { count += 1 } else { isAtEnd = true }
      guard isAtEnd || count == stretch else { continue }
      try append(writer.finish(), to: series)
      count = 0
    }
  }
}
