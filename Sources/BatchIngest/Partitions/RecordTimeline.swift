package import BatchFoundation

/// The records of one device in order, combined from those that a store kept and those that a run reads
/// (reference decisions 34).
///
/// A record is stored as its position among the device's records, followed by its payload:
///
///     record = flags, type, timestamp delta, line delta, [file], [ignored type], [element], [key], payload
///
/// A file is given by its number in the store. A record with an identity has the identity's key. A record that has
/// since been replaced by an earlier one with the same identity (reference decisions 71) is written with that key and
/// without a payload.
@safe package final class RecordTimeline {
  private let device: Text
  private let hash: DeviceHash
  private let arena = Arena(blockSize: 1 << 14)
  private var keys: [RecordEntry] = []
  /// The identities of replaced records, with their times (``RecordIDs``).
  private var replaced: Set<LineDigest> = []

  private enum Head {
    static let kinds: UInt8 = 3
    static let isSample: UInt8 = 1 << 2
    static let hasFile: UInt8 = 1 << 3
    static let hasIgnoredType: UInt8 = 1 << 4
    static let hasElement: UInt8 = 1 << 5
    static let hasKey: UInt8 = 1 << 6
    static let isReplaced: UInt8 = 1 << 7
  }

  /// - Parameter device: the device id, which need not outlive the call.
  package init(device: Text) {
    self.device = unsafe arena.copy(device.bytes)
    hash = DeviceHash(device)
  }

  package func add(_ records: RecordList, from files: InputFiles) {
    for entry in records {
      var head = entry.head
      let source = files.storedSource(of: RecordPosition(file: head.file, line: head.line))
      (head.file, head.line) = (RecordPosition.kept | source.file, source.line)
      head.notes = []
      unsafe add(head, UnsafeRawBufferPointer(entry.text(without: Int(head.padding)).bytes), entry.identityKey)
    }
  }

  /// Adds records that ``kept(_:from:)`` wrote.
  ///
  /// - Throws: ``DeviceStateError`` for bytes in a different format.
  package func add(kept bytes: [UInt8]) throws {
    try unsafe bytes.withUnsafeBytes { bytes in
      var reader = unsafe StateReader(bytes)
      var (timestamp, line, file): (Int64, UInt64, UInt32) = (0, 0, 0)
      while !reader.isAtEnd {
        let (flags, type) = (try reader.byte(), try reader.byte())
        timestamp &+= try reader.integer()
        line &+= UInt64(bitPattern: try reader.integer())
        if flags & Head.hasFile != 0 { file = UInt32(truncatingIfNeeded: try reader.integer()) & ~RecordPosition.kept }
        guard let kind = InputKind(rawValue: flags & Head.kinds) else { throw DeviceStateError() }
        let head = PackedHead(
          timestamp: timestamp, digest: LineDigest(high: 0, low: 0), device: hash, line: line,
          file: RecordPosition.kept | file, size: 0, kind: kind, type: type, isSample: flags & Head.isSample != 0,
          hasIdentity: flags & Head.hasKey != 0,
          ignoredType: flags & Head.hasIgnoredType == 0 ? 0 : UInt8(truncatingIfNeeded: try reader.integer()),
          element: flags & Head.hasElement == 0 ? 0 : UInt16(truncatingIfNeeded: try reader.integer()))
        let key = flags & Head.hasKey == 0 ? nil : UInt64(bitPattern: try reader.integer())
        let payload = try reader.text()
        if flags & Head.isReplaced != 0, let key {
          replaced.insert(RecordIDs.entry(key, at: timestamp))
        } else {
          unsafe add(head, UnsafeRawBufferPointer(payload.bytes), key)
        }
      }
    }
  }

  private func add(_ head: PackedHead, _ payload: UnsafeRawBufferPointer, _ key: UInt64?) {
    unsafe keys.append(PackedRecord.write(head, device: device, payload: payload, key: key, in: arena))
  }

  /// Returns the time of the first record that ``kept(_:from:)`` wrote; nil if there is none.
  ///
  /// - Throws: ``DeviceStateError``.
  package static func first(kept bytes: [UInt8]) throws -> Instant? {
    guard !bytes.isEmpty else { return nil }
    return try unsafe bytes.withUnsafeBytes { bytes in
      var reader = unsafe StateReader(bytes)
      _ = (try reader.byte(), try reader.byte())
      return Instant(milliseconds: try reader.integer())
    }
  }

  /// The times of records with an identity, by the key of the identity; replaced records are left out.
  package var identityTimes: [UInt64: Instant] {
    var times: [UInt64: Instant] = [:]
    for record in keys where !isReplaced(record) {
      if let key = record.identityKey { times[key] = record.timestamp }
    }
    return times
  }

  private func isReplaced(_ record: RecordEntry) -> Bool {
    guard !replaced.isEmpty, let key = record.identityKey else { return false }
    return replaced.contains(RecordIDs.entry(key, at: record.milliseconds))
  }

  /// Passes on all records in the order in which they were added. The records are valid as long as the timeline exists,
  /// but the list only during the call.
  package func withRecords<Result>(_ body: (RecordList) throws -> Result) rethrows -> Result {
    try withExtendedLifetime(self) {
      try unsafe keys.withUnsafeBufferPointer { try unsafe body(RecordList(keys: $0)) }
    }
  }

  /// Passes on all records in order, before and after adding those of a run. The records are valid as long as the
  /// timeline exists.
  package func withRecords<Result>(
    adding more: RecordList, from files: InputFiles, without gone: [(key: UInt64, time: Instant)] = [],
    _ body: (_ before: RecordList, _ after: RecordList) throws -> Result
  ) rethrows -> Result {
    keys.sort(by: RecordEntry.precedes)
    keys.removeAll(where: isReplaced)
    let before = keys
    add(more, from: files)
    for (key, time) in gone { replaced.insert(RecordIDs.entry(key, at: time.milliseconds)) }
    keys.sort(by: RecordEntry.precedes)
    keys.removeAll(where: isReplaced)
    return try withExtendedLifetime(self) {
      try unsafe before.withUnsafeBufferPointer { before in
        try unsafe keys.withUnsafeBufferPointer { after in
          try unsafe body(RecordList(keys: before), RecordList(keys: after))
        }
      }
    }
  }

  /// Returns the records as a store keeps them, one list after another.
  ///
  /// - Parameter gone: the identity keys and times of records that are replaced from now on.
  package static func kept(
    _ lists: [RecordList], from files: InputFiles, without gone: [(key: UInt64, time: Instant)] = []
  ) -> [UInt8] {
    var writer = StateWriter(capacity: lists.joined().reduce(0) { $0 + Int($1.head.size) })
    var (timestamp, line, file): (Int64, UInt64, UInt32) = (0, 0, 0)
    for entry in lists.joined() {
      let head = entry.head
      let source = files.storedSource(of: RecordPosition(file: head.file, line: head.line))
      var flags = head.kind.rawValue
      if head.isSample { flags |= Head.isSample }
      if source.file != file { flags |= Head.hasFile }
      if head.ignoredType != 0 { flags |= Head.hasIgnoredType }
      if head.element != 0 { flags |= Head.hasElement }
      if head.hasIdentity { flags |= Head.hasKey }
      writer.put(flags)
      writer.put(head.type)
      writer.put(head.timestamp &- timestamp)
      writer.put(Int64(bitPattern: source.line &- line))
      if source.file != file { writer.put(Int64(source.file)) }
      if head.ignoredType != 0 { writer.put(Int64(head.ignoredType)) }
      if head.element != 0 { writer.put(Int64(head.element)) }
      if let key = entry.identityKey { writer.put(Int64(bitPattern: key)) }
      (timestamp, line, file) = (head.timestamp, source.line, source.file)
      writer.put(entry.text(without: Int(head.padding)))
    }
    for (key, time) in gone {
      writer.put(Head.hasKey | Head.isReplaced)
      writer.put(0 as UInt8)
      writer.put(time.milliseconds &- timestamp)
      writer.put(0 as Int64)
      writer.put(Int64(bitPattern: key))
      timestamp = time.milliseconds
      writer.put(Text.empty)
    }
    return writer.bytes
  }
}

extension RecordEntry {
  fileprivate func text(without padding: Int) -> Text {
    let payload = unsafe payload
    guard let base = payload.baseAddress, payload.count > padding else { return .empty }
    return unsafe Text(base: base.assumingMemoryBound(to: UInt8.self), count: payload.count - padding)
  }
}

extension RecordPosition {
  /// A flag that marks a file number as one from the store, for a record that an earlier run read.
  static let kept: UInt32 = 1 << 31

  /// The place where a kept record was read; nil for a record from a file of this run.
  var keptSource: StoredSource? {
    file & Self.kept == 0 ? nil : StoredSource(file: file & ~Self.kept, line: line)
  }
}
