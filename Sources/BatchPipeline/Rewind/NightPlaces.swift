import BatchFoundation
import BatchIngest
import BatchStore

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
