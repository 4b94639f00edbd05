package import BatchFoundation

/// Records that outlive the decoder's next line, until all are let go.
package final class KeptRecords {
  private let arena = Arena()
  private var seen: Set<LineDigest> = []
  /// In the order of their times; those of one time as they came.
  package private(set) var records: [Record] = []

  package init() {}

  /// - Parameter line: the bytes that the record was decoded from, white space at both ends aside.
  /// - Returns: false for a line that was kept before (reference formats 3.8).
  package func keep(_ record: Record, of line: UnsafeBufferPointer<UInt8>) -> Bool {
    let text = line.baseAddress.map { Text(base: $0, count: line.count).trimmed } ?? .empty
    let digest = LineDigest(line: text, kind: record.kind)
    guard seen.insert(digest).inserted else { return false }
    let memory = arena.allocate(RecordPacker.bound(record))
    _ = RecordPacker.pack(record, digest: digest, device: DeviceHash(record.device), at: memory)
    let kept = RecordUnpacker.unpack(memory)
    if let last = records.last, kept.timestamp < last.timestamp {
      // Behind those of its own time.
      var place = records.count - 1
      while place > 0, kept.timestamp < records[place - 1].timestamp { place -= 1 }
      records.insert(kept, at: place)
    } else {
      records.append(kept)
    }
    return true
  }

  /// Lets go of all records and their memory.
  package func removeAll() {
    records.removeAll(keepingCapacity: true)
    seen.removeAll(keepingCapacity: true)
    arena.reset()
  }
}
