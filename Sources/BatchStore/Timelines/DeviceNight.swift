package import BatchFoundation

/// What a run decided of a device within the reach of a rewind: where it began, and by which records it went on (reference decisions 34).
package struct DeviceNight: Sendable, Equatable {
  /// The bytes of the device's id.
  package var device: [UInt8]
  /// Its state at the beginning; nil for a device that was new.
  package var before: StoredDevice?
  /// What `RecordTimeline` keeps of the records; none for a mark, which no rewind goes back behind.
  package var records: [UInt8]
  package var isMark: Bool
  /// The night is of no use once the reach is behind this instant.
  package var until: Instant

  package init(device: [UInt8], before: StoredDevice?, records: [UInt8], isMark: Bool = false, until: Instant) {
    self.device = device
    self.before = before
    self.records = records
    self.isMark = isMark
    self.until = until
  }
}

/// A night as the store has it.
package struct StoredNight: Sendable, Equatable {
  package var night: DeviceNight
  package var run: RunID
  /// A digest of the settings by which it was decided.
  package var rules: String
  /// What only silence decides was decided up to there before the run, and by it; nil for nothing.
  package var knownBefore: Instant?
  package var known: Instant?
}

/// The nights of the devices of a bucket, of which few are asked for.
package struct BucketNights: Sendable {
  /// A row of the store.
  struct Series: Sendable {
    var run: RunID
    var rules: String
    var knownBefore: Instant?
    var known: Instant?
    /// Of ``NightCoding``.
    var nights: [UInt8]
  }

  /// In the order in which they were kept.
  var series: [Series] = []

  package init() {}

  /// Those of a device, in their order; the newest of a run holds.
  ///
  /// - Throws: ``StoreError/damagedBlock``.
  package func nights(of device: Text) throws -> [StoredNight] {
    var found: [RunID: StoredNight] = [:]
    for series in series {
      for night in try NightCoding.nights(series.nights, of: device) {
        found[series.run] = StoredNight(
          night: night, run: series.run, rules: series.rules, knownBefore: series.knownBefore, known: series.known)
      }
    }
    return found.values.sorted { $0.run.number < $1.run.number }
  }
}

/// How nights of devices of one bucket, all of one run, stand in a row: device, flags, until, [version, held, state], records.
enum NightCoding {
  private static let isMark: UInt8 = 1
  private static let hasState: UInt8 = 2

  static func packed(_ nights: [DeviceNight]) -> [UInt8] {
    var writer = StateWriter()
    for night in nights {
      night.device.withText { writer.put($0) }
      writer.put((night.isMark ? isMark : 0) | (night.before == nil ? 0 : hasState))
      writer.put(night.until)
      if let before = night.before {
        writer.put(Int64(before.version))
        writer.put(Int64(before.held))
        before.state.withText { writer.put($0) }
      }
      night.records.withText { writer.put($0) }
    }
    return RepeatedBytes.packed(writer.bytes)
  }

  /// - Parameters:
  ///   - bytes: what ``packed(_:)`` packed.
  ///   - wanted: nil takes the nights of all devices.
  /// - Throws: ``StoreError/damagedBlock``.
  static func nights(_ bytes: [UInt8], of wanted: Text? = nil) throws -> [DeviceNight] {
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
          let records = try reader.text()
          if let wanted, wanted != device { continue }
          let name = unsafe Array(device.bytes)
          nights.append(
            unsafe DeviceNight(
              device: name,
              before: state.map {
                unsafe StoredDevice(device: name, version: $0.version, held: $0.held, state: Array($0.bytes.bytes))
              }, records: Array(records.bytes), isMark: flags & isMark != 0, until: until))
        }
        return nights
      }
    } catch is DeviceStateError {
      throw StoreError.damagedBlock
    }
  }
}
