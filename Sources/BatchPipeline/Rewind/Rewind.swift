import BatchFoundation
import BatchStore

/// By what a run rewinds devices (reference decisions 34).
struct Rewind: Sendable {
  /// Late records from here on are decided in their place.
  var reach: Instant
  /// The known time of the store before the run; nil where nothing was known.
  var knownBefore: Instant?
  /// Whether records from beyond the reach are decided, and do not go to quarantine.
  var takesBeyond: Bool
  /// A digest of the settings that rules go by.
  var rules: String
  /// The rules of another digest; nil where there are none any more.
  var earlierRules: @Sendable (_ digest: String) throws -> (any DecisionRules)?
  /// Of the events.
  var codec: any EventCodec
}

/// A device that was taken back and decided anew, up to the known time of the store.
struct RewoundDevice {
  /// Its state then.
  var state: StoredDevice
  var nights: [StoredNight]
  /// How many were decided again, late ones included.
  var records: Int
  var changes: [EventChange]
  /// For what was never asked of the service before.
  var rows: (any PlatformRows)?
  /// Events that were not set aside before.
  var quarantine: [QuarantinedLine]
}
