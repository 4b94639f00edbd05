package import BatchFoundation

/// Facts about a device's records known before all of them are passed on.
package struct DeviceLookahead {
  /// The time of the last record in this run.
  package fileprivate(set) var last: Instant
  /// The samples in order, reduced to what ``RecordVocabulary/copySample(_:to:)`` keeps.
  package var samples: [RecordEntry] = []

  fileprivate init(last: Instant) { self.last = last }

  /// Creates the look-ahead of a complete list of records; nil if it is empty.
  package init?(_ records: RecordList) {
    guard let last = records.last else { return nil }
    self.last = last.timestamp
    samples = records.filter(\.isSample)
  }
}

/// The look-aheads of the devices of a bucket that comes in slices; their samples live as long as this object.
package final class DeviceLookaheads {
  private let vocabulary: any RecordVocabulary
  private let arena = Arena()
  private var devices: [ByteText: DeviceLookahead] = [:]

  init(_ vocabulary: any RecordVocabulary) { self.vocabulary = vocabulary }

  var isEmpty: Bool { devices.isEmpty }

  /// Returns the look-ahead of a device; nil without records.
  package func of(_ device: Text) -> DeviceLookahead? { devices[ByteText(device.description)] }

  /// Adds a slice; slices come in order.
  func add(_ slice: [DeviceRecords]) {
    for device in slice {
      guard let last = device.records.last else { continue }
      let name = ByteText(device.device.description)
      var known = devices.removeValue(forKey: name) ?? DeviceLookahead(last: last.timestamp)
      known.last = last.timestamp
      for entry in device.records where entry.isSample { known.samples.append(keep(entry)) }
      devices[name] = known
    }
  }

  /// Returns a copy without a device, with only the payload that samples need.
  private func keep(_ entry: RecordEntry) -> RecordEntry {
    let payload = unsafe entry.payload
    let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: payload.count, alignment: 8)
    defer { unsafe scratch.deallocate() }
    let copied = unsafe scratch.baseAddress.map { unsafe vocabulary.copySample(payload, to: $0) } ?? 0
    let size = (PackedHead.size + 1 + copied + 7) & ~7
    let target = unsafe arena.allocate(size)
    var head = entry.key.head
    head.size = UInt32(size)
    head.padding = UInt8(size - PackedHead.size - 1 - copied)
    unsafe target.storeBytes(of: head, as: PackedHead.self)
    // An empty device id.
    unsafe (target + PackedHead.size).storeBytes(of: 0, as: UInt8.self)
    unsafe (target + PackedHead.size + 1).copyMemory(
      from: UnsafeRawPointer(scratch.baseAddress ?? target), byteCount: copied)
    return unsafe RecordEntry(key: RecordKey(timestamp: entry.key.timestamp, packed: target))
  }
}
