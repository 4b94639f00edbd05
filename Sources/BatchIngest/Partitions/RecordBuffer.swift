import BatchFoundation

/// The records of one device, kept beyond the reader's next line until all are removed.
package final class RecordBuffer {
  private let arena = Arena()
  private var seen: Set<LineDigest> = []
  private var keys: [RecordKey] = []

  package init() {}

  package var isEmpty: Bool { keys.isEmpty }

  /// Keeps the reader's current record; returns false for a duplicate of one kept before (reference formats 3.3).
  package func keep(_ head: RecordHead, of line: SourceLine, _ reader: borrowing LineReader) -> Bool {
    let digest = head.identity ?? LineDigest(line: line.text, kind: line.kind)
    guard seen.insert(digest).inserted else { return false }
    let decoder = reader.decoder
    let memory = unsafe arena.allocate(PackedRecord.bound(head, payload: decoder.payloadBound))
    _ = unsafe PackedRecord.write(
      head, of: line, digest: digest, device: DeviceHash(head.device), payload: decoder, at: memory)
    unsafe keys.append(RecordKey(timestamp: head.timestamp.milliseconds, packed: memory))
    return true
  }

  /// Passes on the records in order; their memory is valid until ``removeAll()``.
  package func withRecords(_ body: (DeviceRecords) throws -> Void) rethrows {
    guard let first = keys.first else { return }
    keys.sort(by: RecordKey.precedes)
    let device = unsafe PackedRecord.device(of: first.packed)
    try unsafe keys.withUnsafeBufferPointer { keys in
      try unsafe body(DeviceRecords(device: device, hash: first.head.device, records: RecordList(keys: keys)))
    }
  }

  package func removeAll() {
    keys.removeAll(keepingCapacity: true)
    seen.removeAll(keepingCapacity: true)
    arena.reset()
  }
}
