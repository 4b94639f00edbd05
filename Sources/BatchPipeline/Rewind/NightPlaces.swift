import BatchFoundation
import BatchIngest
import BatchStore

/// The nights of a device that late records belong to: each is added to the night that knew its time, so that the settings of that one
/// decide it.
struct NightPlaces {
  /// Of each night, what was decided before it; nil for the first of a device.
  let begins: [DecidedTime?]
  /// What comes before it, the night before knew.
  let starts: [Instant]
  /// No rewind goes back behind it.
  let first: Int

  /// - Parameter source: where the record was read.
  func night(of instant: Instant, _ kind: InputKind, _ source: StoredSource) -> Int? {
    let last = begins.indices.last { place in
      place >= first && (place == first || instant >= starts[place])
        && begins[place].map { !$0.covers(instant, kind, source, until: $0.silence) } ?? true
    }
    if let last { return last }
    // What is counted besides may reach further back than the nights.
    guard begins.indices.contains(first), let begin = begins[first] else { return nil }
    return begin.covers(instant, kind, source, until: begin.end) ? nil : first
  }
}

extension StoredNight {
  /// The time of the first of its records, which can be from before what was known by then.
  var firstRecord: Instant? {
    get throws { try ([night.records] + additions).compactMap { try RecordTimeline.first(kept: $0) }.min() }
  }
}
