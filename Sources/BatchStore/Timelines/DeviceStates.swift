package import BatchFoundation

/// The stored state of one device.
package struct StoredDevice: Sendable, Equatable {
  package var device: [UInt8]
  package var version: Int
  package var held: Int
  package var state: [UInt8]
}

/// States of devices, contiguous in memory: new ones in a batch, or those of a bucket in the store.
package struct DeviceStates: Sendable {
  struct Entry: Sendable {
    var bucket: Int
    var name: Range<Int>
    var state: Range<Int>
    var version: Int
    var held: Int
    var due: Instant?
    /// The number of events that the replaced state holds; nil for a new device.
    var heldBefore: Int?
  }

  private(set) var bytes: [UInt8] = []
  private(set) var entries: [Entry] = [] {
    didSet { packedRows = nil }
  }
  /// The rows, if ``pack()`` made them; nil if not, or if the states changed since.
  private var packedRows: [StateRow]?

  package init() {}

  var byteCount: Int { bytes.count + (packedRows ?? []).reduce(0) { $0 + $1.states.count } }

  package var count: Int { entries.count }

  package var last: StoredDevice? { entries.last.map(device) }

  func device(_ entry: Entry) -> StoredDevice {
    StoredDevice(
      device: Array(bytes[entry.name]), version: entry.version, held: entry.held, state: Array(bytes[entry.state]))
  }

  /// - Parameters:
  ///   - device: the id as in the export.
  ///   - version: the version of the rules' encoding of the state, returned unchanged.
  ///   - held: the number of events that the state holds back; they count as `HOLD`.
  ///   - due: the instant at which something changes for the device even without new records; nil for never.
  ///   - state: the state in the rules' encoding.
  package mutating func append(
    device: Text, version: Int, held: Int, due: Instant? = nil, state: UnsafeBufferPointer<UInt8>
  ) {
    let start = bytes.count
    unsafe bytes.append(contentsOf: device.bytes)
    let middle = bytes.count
    unsafe bytes.append(contentsOf: state)
    entries.append(
      Entry(
        bucket: DeviceHash(device).bucket, name: start..<middle, state: middle..<bytes.count, version: version,
        held: held, due: due))
  }

  /// Records the stored state that the last appended one replaces; nil for a new device.
  package mutating func lastReplaces(_ stored: StoredDevice?) {
    guard let last = entries.indices.last else { return }
    entries[last].heldBefore = stored?.held
  }
}

// MARK: - Segments

/// A row with the states that one batch stored for a bucket. If a device has several states, the last one applies.
///
/// The columns `added`, `held` and `holding` are the changes that the states made to the numbers of devices, of events
/// on hold, and of devices with events on hold. Their sums over the table are the store's totals. `due` is the earliest
/// instant at which one of the states changes even without new records; null for never.
struct StateSegment {
  var id: Int64
  var bucket: Int
  var devices: Int
  var states: [UInt8]

  /// Returns the number of lost states in words, such as `2 of 40`.
  func lost(_ intact: DeviceStates) -> String { "\(max(0, devices - intact.count)) of \(devices)" }
}

/// A new row of the table `state_segment`; see ``StateSegment`` for the columns.
struct StateRow: Sendable {
  var bucket: Int
  var devices: Int
  var added: Int
  var held: Int
  var holding: Int
  var due: Instant?
  var states: [UInt8]
}

extension DeviceStates {
  var rows: [StateRow] { packedRows ?? makeRows() }

  /// Makes the rows in advance, on the thread of the caller instead of that which writes to the store.
  package mutating func pack() { packedRows = makeRows() }

  private func makeRows() -> [StateRow] {
    segments.map { entries in
      StateRow(
        bucket: entries[0].bucket, devices: entries.count, added: entries.count { $0.heldBefore == nil },
        held: entries.reduce(0) { $0 + $1.held - ($1.heldBefore ?? 0) },
        holding: entries.reduce(0) { $0 + ($1.held > 0 ? 1 : 0) - ($1.heldBefore ?? 0 > 0 ? 1 : 0) },
        due: entries.compactMap(\.due).min(), states: packed(entries))
    }
  }

  /// The limits of a segment, so that damage to a row destroys only a few states.
  private static let mostDevices = 512
  private static let mostBytes = 1 << 17
  /// The maximum size in bytes of a state in a segment without its device and state.
  private static let mostBesides = 64

  /// The states, split into segments. Each segment has states from one bucket, in the order in which they were
  /// appended.
  private var segments: [[Entry]] {
    var segments: [[Entry]] = []
    for (_, entries) in Dictionary(grouping: entries, by: \.bucket).sorted(by: { $0.key < $1.key }) {
      var size = Int.max
      for entry in entries {
        if size > Self.mostBytes || segments.last?.count == Self.mostDevices {
          segments.append([])
          size = 0
        }
        segments[segments.count - 1].append(entry)
        size += entry.name.count + entry.state.count
      }
    }
    return segments
  }

  /// Encodes states as the value of a row: for each, device, version, held, flag, [due], state, and a checksum of
  /// these.
  func packed(_ entries: [Entry]) -> [UInt8] {
    var writer = StateWriter(
      capacity: entries.reduce(0) { $0 + $1.name.count + $1.state.count + Self.mostBesides })
    unsafe bytes.withUnsafeBufferPointer { bytes in
      for entry in entries {
        let start = unsafe writer.withBytes { $0.count }
        unsafe writer.put(Self.text(entry.name, in: bytes))
        writer.put(Int64(entry.version))
        writer.put(Int64(entry.held))
        writer.put(UInt8(entry.due == nil ? 0 : 1))
        if let due = entry.due { writer.put(due) }
        unsafe writer.put(Self.text(entry.state, in: bytes))
        let sum = unsafe writer.withBytes { unsafe Self.sum(of: $0[start...]) }
        for shift in stride(from: 0, to: 32, by: 8) { writer.put(UInt8(truncatingIfNeeded: sum >> shift)) }
      }
    }
    return unsafe writer.withBytes { unsafe CompressedBytes.packed($0) }
  }

  private static func sum(of bytes: Slice<UnsafeRawBufferPointer>) -> UInt32 {
    UInt32(truncatingIfNeeded: unsafe BlockSums.sum(of: UnsafeRawBufferPointer(rebasing: bytes)))
  }

  /// Appends the intact states of a segment, and returns their number.
  mutating func append(_ segment: StateSegment) -> Int {
    let (start, known) = (bytes.count, entries.count)
    bytes += CompressedBytes.readable(segment.states).bytes
    let all = bytes
    unsafe all.withUnsafeBytes { all in
      var reader = unsafe StateReader(UnsafeRawBufferPointer(rebasing: all[start...]))
      func place() -> Int { unsafe all.count - reader.rest.count }
      func text() throws(DeviceStateError) -> Range<Int> {
        let count = try reader.text().count
        return place() - count..<place()
      }
      do {
        while !reader.isAtEnd {
          let first = place()
          let name = try text()
          let (version, held) = (Int(try reader.integer()), Int(try reader.integer()))
          let due = try reader.byte() == 0 ? nil : try reader.instant()
          let state = try text()
          let sum = unsafe Self.sum(of: all[first..<state.upperBound])
          var stored: UInt32 = 0
          for shift in stride(from: 0, to: 32, by: 8) { stored |= UInt32(try reader.byte()) << UInt32(shift) }
          guard sum == stored else { continue }
          entries.append(
            Entry(bucket: segment.bucket, name: name, state: state, version: version, held: held, due: due))
        }
      } catch {
        // Nothing can be read after a damaged length.
      }
    }
    return entries.count - known
  }

  /// Returns the last state of each device, sorted by the bytes of the ids.
  func latest() -> DeviceStates {
    var latest = self
    latest.entries = unsafe bytes.withUnsafeBufferPointer { bytes in
      let sorted = entries.sorted { one, other in
        let (first, second) = unsafe (Self.text(one.name, in: bytes), Self.text(other.name, in: bytes))
        return first < second || first == second && one.name.lowerBound < other.name.lowerBound
      }
      var kept: [Entry] = []
      for entry in sorted {
        if let last = kept.last, unsafe Self.text(last.name, in: bytes) == Self.text(entry.name, in: bytes) {
          kept.removeLast()
        }
        kept.append(entry)
      }
      return kept
    }
    return latest
  }

  /// Removes the states for which `isGone` returns true, and returns them.
  mutating func removeAll(where isGone: (StoredDevice, Instant?) throws -> Bool) rethrows -> [StoredDevice] {
    var removed: [StoredDevice] = []
    entries = try entries.filter { entry in
      let device = device(entry)
      guard try isGone(device, entry.due) else { return true }
      removed.append(device)
      return false
    }
    return removed
  }

  /// Returns the state of a device; nil if there is none. Only for the result of ``latest()``, which is sorted.
  func state(of device: Text) -> StoredDevice? {
    unsafe bytes.withUnsafeBufferPointer { bytes in
      let place = entries.place { unsafe Self.text($0.name, in: bytes) < device }
      guard place < entries.count, unsafe Self.text(entries[place].name, in: bytes) == device else { return nil }
      return self.device(entries[place])
    }
  }

  private static func text(_ range: Range<Int>, in bytes: UnsafeBufferPointer<UInt8>) -> Text {
    guard let base = bytes.baseAddress else { return .empty }
    return unsafe Text(base: base + range.lowerBound, count: range.count)
  }
}
