import BatchFoundation
import BatchStore

/// The parameters for rewinding devices in a run (reference decisions 34).
struct Rewind: Sendable {
  /// The instant from which late records are processed in their place.
  var reach: Instant
  /// The known time of the store before the run; nil if nothing was known.
  var knownBefore: Instant?
  /// Whether records older than the rewind window are processed rather than quarantined.
  var takesBeyond: Bool
  /// A digest of the settings that affect rules.
  var rules: String
  /// Returns the rules of another digest; nil if they are no longer available.
  var earlierRules: @Sendable (_ digest: String) throws -> (any DecisionRules)?
  var codec: any EventCodec
}

/// A device that was rewound and processed anew, up to the known time of the store.
struct RewoundDevice {
  var state: StoredDevice
  var nights: [StoredNight]
  /// The number of records processed again, including late ones.
  var records: Int
  var changes: [EventChange]
  /// Rows for requests that the service has never received.
  var rows: (any PlatformRows)?
  /// Events that were not quarantined before.
  var quarantine: [QuarantinedLine]
}
