package import BatchFoundation
import CLZ4

/// A run's input for a device within the rewind window: the earlier state and the records (reference decisions 34).
package struct DeviceNight: Sendable, Equatable {
  /// The bytes of the device's id.
  package var device: [UInt8]
  /// The state before the run; nil for a device that was new.
  package var before: StoredDevice?
  /// The records in the format of `RecordTimeline`; empty if `isMark` is true.
  package var records: [UInt8]
  /// Records older than the rewind window, in the same format; they were processed first, each separately.
  package var beyond: [UInt8] = []
  /// The number of records.
  package var count: Int
  /// Whether this is only a mark: the records were not kept, so no rewind can go back to this night.
  package var isMark: Bool
  /// Whether the records are late ones, which are added to the night that the run already has for the device.
  package var isAddition = false
  /// The instant up to which the night matters. Once the rewind window begins later, the night is no longer needed.
  package var until: Instant

  package init(
    device: [UInt8], before: StoredDevice?, beyond: [UInt8] = [], records: [UInt8], count: Int, isMark: Bool = false,
    until: Instant
  ) {
    self.device = device
    self.before = before
    self.beyond = beyond
    self.records = records
    self.count = count
    self.isMark = isMark
    self.until = until
  }
}

/// A night in the store, with its run.
package struct StoredNight: Sendable, Equatable {
  package var night: DeviceNight
  /// Records that arrived after the night, in the same format as the night's own.
  package var additions: [[UInt8]] = []
  package var run: RunID
  /// The digest of the settings with which the night was processed.
  package var rules: String
  /// The store's known times before and after the run; nil if there is none.
  package var knownBefore: Instant?
  package var known: Instant?
}

/// The nights of a bucket's devices. They are decoded lazily, because usually only the last few are needed.
package final class BucketNights {
  /// One run's nights for the devices. If a device has several, the last one counts, with its additions.
  package struct Series {
    var run: RunID
    var rules: String
    var knownBefore: Instant?
    var known: Instant?
    /// Reads the nights, in the order in which they were stored.
    var nights: () throws -> [DeviceNight]
  }

  /// The series of all runs, newest first.
  private let series: [Series]
  /// The nights that were already read, by series and device.
  private var nights: [[[UInt8]: StoredNight]] = []

  package init(_ series: [Series]) { self.series = series }

  /// Returns the nights of a device, oldest first.
  ///
  /// - Parameter isFirst: called with each night, newest first; returns true if earlier nights are not wanted.
  /// - Throws: ``StoreError/damagedBlock``.
  package func nights(of device: Text, _ isFirst: (StoredNight) throws -> Bool) throws -> [StoredNight] {
    let name = unsafe Array(device.bytes)
    var found: [StoredNight] = []
    for (place, series) in series.enumerated() {
      if place == nights.count { nights.append(try Self.nights(of: series)) }
      guard let night = nights[place][name] else { continue }
      found.append(night)
      if try isFirst(night) { break }
    }
    return found.reversed()
  }

  private static func nights(of series: Series) throws -> [[UInt8]: StoredNight] {
    var nights: [[UInt8]: StoredNight] = [:]
    for night in try series.nights() {
      if night.isAddition, let place = nights.index(forKey: night.device) {
        nights.values[place].additions.append(night.records)
        nights.values[place].night.before = night.before
        nights.values[place].night.until = max(nights.values[place].night.until, night.until)
      } else {
        nights[night.device] = StoredNight(
          night: night, run: series.run, rules: series.rules, knownBefore: series.knownBefore, known: series.known)
      }
    }
    return nights
  }
}

/// Encodes one run's nights for a bucket's devices as the value of a row. A night is encoded as device, flags, until,
/// [version, held, state], count, [beyond], records.
enum NightCoding {
  private static let isMark: UInt8 = 1
  private static let hasState: UInt8 = 2
  private static let isAddition: UInt8 = 4
  private static let hasBeyond: UInt8 = 8
  /// The maximum size in bytes of a night without its device, state and records.
  private static let mostBesides = 64

  static func packed(_ nights: [DeviceNight]) -> [UInt8] {
    var writer = StateWriter(
      capacity: nights.reduce(0) {
        $0 + $1.device.count + ($1.before?.state.count ?? 0) + $1.beyond.count + $1.records.count + mostBesides
      })
    for night in nights {
      night.device.withText { writer.put($0) }
      writer.put(
        (night.isMark ? isMark : 0) | (night.before == nil ? 0 : hasState) | (night.isAddition ? isAddition : 0)
          | (night.beyond.isEmpty ? 0 : hasBeyond))
      writer.put(night.until)
      if let before = night.before {
        writer.put(Int64(before.version))
        writer.put(Int64(before.held))
        before.state.withText { writer.put($0) }
      }
      writer.put(Int64(night.count))
      if !night.beyond.isEmpty { night.beyond.withText { writer.put($0) } }
      night.records.withText { writer.put($0) }
    }
    return unsafe writer.withBytes { unsafe CompressedBytes.packed($0) }
  }

  /// - Throws: ``StoreError/damagedBlock`` for bytes that ``packed(_:)`` does not write.
  static func nights(_ packed: [UInt8]) throws -> [DeviceNight] {
    let bytes = try CompressedBytes.unpacked(packed)
    do {
      return try unsafe bytes.withUnsafeBytes { bytes in
        var reader = unsafe StateReader(bytes)
        var nights: [DeviceNight] = []
        while !reader.isAtEnd {
          let device = try reader.text()
          let flags = try reader.byte()
          let until = try reader.instant()
          var state: (version: Int, held: Int, bytes: Text)?
          if flags & hasState != 0 {
            state = (Int(try reader.integer()), Int(try reader.integer()), try reader.text())
          }
          let count = try reader.count()
          let beyond = flags & hasBeyond == 0 ? .empty : try reader.text()
          let records = try reader.text()
          let name = unsafe Array(device.bytes)
          var night = unsafe DeviceNight(
            device: name,
            before: state.map {
              unsafe StoredDevice(device: name, version: $0.version, held: $0.held, state: Array($0.bytes.bytes))
            }, beyond: Array(beyond.bytes), records: Array(records.bytes), count: count,
            isMark: flags & isMark != 0, until: until)
          night.isAddition = flags & isAddition != 0
          nights.append(night)
        }
        return nights
      }
    } catch is DeviceStateError {
      throw StoreError.damagedBlock
    }
  }
}

/// Compresses repetitive bytes, such as nights, into their count (four bytes, little-endian) and one LZ4 block. LZ4
/// favors speed over size: each run writes a few megabytes of nights, and few nights are read again.
enum CompressedBytes {
  /// The maximum number of bytes before compression. The nights of a bucket in one run have fewer.
  private static let longest = 1 << 30
  private static let countBytes = 4

  static func packed(_ bytes: UnsafeRawBufferPointer) -> [UInt8] {
    let bound = countBytes + Int(LZ4_compressBound(Int32(bytes.count)))
    return unsafe [UInt8](unsafeUninitializedCapacity: bound) { packed, filled in
      let target = UnsafeMutableRawBufferPointer(packed)
      unsafe target.storeBytes(of: UInt32(bytes.count).littleEndian, as: UInt32.self)
      let block = unsafe UnsafeMutableRawBufferPointer(rebasing: target[countBytes...])
      filled =
        unsafe countBytes
        + Int(
          LZ4_compress_default(
            bytes.baseAddress?.assumingMemoryBound(to: CChar.self),
            block.baseAddress?.assumingMemoryBound(to: CChar.self),
            Int32(bytes.count), Int32(block.count)))
    }
  }

  /// - Throws: ``StoreError/damagedBlock`` for bytes that ``packed(_:)`` does not write.
  static func unpacked(_ packed: [UInt8]) throws -> [UInt8] {
    let (bytes, isWhole) = readable(packed)
    guard isWhole else { throw StoreError.damagedBlock }
    return bytes
  }

  /// Returns the unpacked bytes, and whether they are intact. If not, only the bytes before the damage are meaningful.
  static func readable(_ packed: [UInt8]) -> (bytes: [UInt8], isWhole: Bool) {
    unsafe packed.withUnsafeBytes { packed in
      guard packed.count > countBytes else { return ([], false) }
      let count = unsafe Int(UInt32(littleEndian: packed.loadUnaligned(as: UInt32.self)))
      // LZ4 compresses by a factor of at most 255.
      guard count <= min(longest, packed.count * 256) else { return ([], false) }
      let block = unsafe UnsafeRawBufferPointer(rebasing: packed[countBytes...])
      var bytes = [UInt8](repeating: 0, count: count)
      let done = unsafe bytes.withUnsafeMutableBytes { bytes in
        unsafe LZ4_decompress_safe(
          block.baseAddress?.assumingMemoryBound(to: CChar.self),
          bytes.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(block.count), Int32(count))
      }
      return (bytes, Int(done) == count)
    }
  }
}
