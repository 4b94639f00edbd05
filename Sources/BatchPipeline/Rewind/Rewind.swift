import BatchFoundation
import BatchIngest
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
  var wireForm: WireForm
}

/// A device that was rewound and processed again, up to the known time of the store.
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

/// The nights that late records belong to: each goes to the night that knew its time, whose settings then apply.
struct NightPlaces {
  /// The processed time before each night; nil for the first of a device.
  let begins: [DecidedTime?]
  /// The time, for each night, before which records belong to the night before.
  let starts: [Instant]
  /// The first night that a rewind can return to.
  let first: Int

  func night(of instant: Instant, _ kind: InputKind, _ source: StoredSource) -> Int? {
    let last = begins.indices.last { place in
      place >= first && (place == first || instant >= starts[place])
        && begins[place].map { !$0.covers(instant, kind, source, until: $0.silence) } ?? true
    }
    if let last { return last }
    // Additional counts may reach further back than the nights.
    guard begins.indices.contains(first), let begin = begins[first] else { return nil }
    return begin.covers(instant, kind, source, until: begin.end) ? nil : first
  }
}

extension StoredNight {
  /// The time of its first record, which can be before the known time of that night.
  var firstRecord: Instant? {
    get throws { try ([night.records] + additions).compactMap { try RecordTimeline.first(kept: $0) }.min() }
  }
}
