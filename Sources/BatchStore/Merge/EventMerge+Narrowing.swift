import BatchFoundation

extension EventMerge {
  /// Sequences that are merged at once: each has a block in memory, some ten KB.
  private static let width = 1024
  /// Events that are encoded at once on their way to disk.
  private static let stretch = 1024

  /// The same events in so few sequences that merging them takes little memory, however many there were.
  ///
  /// - Parameters:
  ///   - width: the most sequences that are left; more are merged into temporary ones.
  ///   - folder: for the temporary file.
  package static func narrowed(_ sequences: [BlockSequence], width: Int = width, folder: String) throws
    -> [BlockSequence]
  {
    guard sequences.count > width else { return sequences }
    let spool = try EventSpool(folder: folder)
    for start in stride(from: 0, to: sequences.count, by: width) {
      try spool.append(merging: Array(sequences[start..<min(start + width, sequences.count)]), stretch: stretch)
    }
    return try narrowed(spool.sequences(), width: width, folder: folder)
  }
}

extension EventSpool {
  /// Adds the events of all sequences as one.
  fileprivate func append(merging sequences: [BlockSequence], stretch: Int) throws {
    var merge = try EventMerge(sequences)
    // Blocks are cut anew; how large they are only matters here.
    var encoder = EventBlockEncoder(limits: BlockLimits())
    let arena = Arena(blockSize: 1 << 18)
    let series = beginSeries()
    var events: [Event] = []
    var isAtEnd = false
    while !isAtEnd {
      if let event = try merge.next(in: arena) { events.append(event) } else { isAtEnd = true }
      guard isAtEnd || events.count == stretch else { continue }
      try append(events.withUnsafeBufferPointer { encoder.encode($0) }, to: series)
      events.removeAll(keepingCapacity: true)
      arena.reset()
    }
  }
}
