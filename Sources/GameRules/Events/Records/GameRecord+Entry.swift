package import BatchIngest

extension GameRecord {
  /// The record of an entry, with views into the entry's memory.
  package init(_ entry: RecordEntry) {
    self.init()
    take(entry)
  }

  /// Becomes the record of the entry.
  package mutating func take(_ entry: RecordEntry) {
    device = entry.device
    timestamp = entry.timestamp
    type = GameRecordType(rawValue: entry.type) ?? .launch
    kind = entry.kind
    position = entry.position
    if let payload = unsafe entry.payload.baseAddress { unsafe unpack(payload) }
  }
}
