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
