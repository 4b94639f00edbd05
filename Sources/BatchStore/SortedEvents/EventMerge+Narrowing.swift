import BatchFoundation

extension EventMerge {
  /// Sequences that are merged at once: each has a block in memory, some ten KB.
  private static let width = 1024
  /// Events that are encoded at once on their way to disk.
  private static let stretch = 1024

  /// The same events in so few sequences that merging them takes little memory, however many there were.
  ///
  /// - Parameters:
  ///   - sequences: each in the order of its events.
  ///   - codec: of their blocks.
  ///   - width: the most sequences that are left; more are merged into temporary ones.
  ///   - folder: for the temporary file.
  package static func narrowed(
    _ sequences: [BlockSequence], codec: any EventCodec, width: Int = width, folder: String
  ) throws -> [BlockSequence] {
    guard sequences.count > width else { return sequences }
    let spool = try EventSpool(folder: folder)
    for start in stride(from: 0, to: sequences.count, by: width) {
      try spool.append(merging: Array(sequences[start..<min(start + width, sequences.count)]), codec, stretch: stretch)
    }
    return try narrowed(spool.sequences(), codec: codec, width: width, folder: folder)
  }
}

extension EventSpool {
  /// Adds the events of all sequences as one.
  fileprivate func append(
    merging sequences: [BlockSequence], _ codec: any EventCodec, stretch: Int
  ) throws {
    var merge = try EventMerge(sequences, codec: codec)
    // These blocks are read again by the next merge only, one of each sequence at a time: small ones keep its memory small.
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
