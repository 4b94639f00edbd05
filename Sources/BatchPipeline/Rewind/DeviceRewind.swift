import BatchFoundation
import BatchIngest
import BatchReport
import BatchStore

/// Rewinds devices to the night of their late records, and processes them from there as if the records had arrived in
/// time.
///
/// The rules are pure, so the earlier results can be repeated too. The results are the differences between the
/// earlier and the new results.
final class DeviceRewind {
  private struct Deciders {
    let rules: any PlatformRules
    /// The deciders for the earlier and for the new results.
    let earlier: any DeviceDecider
    let later: any DeviceDecider
    /// The decider for records while both sides have the same state.
    let common: any DeviceDecider

    init(_ rules: any PlatformRules, _ options: DeciderOptions) {
      self.rules = rules
      (earlier, later) = (rules.makeDecider(options), rules.makeDecider(options))
      var options = options
      options.keepsStatesOnly = true
      common = rules.makeDecider(options)
    }
  }

  let rewind: Rewind
  private let rules: any PlatformRules
  private let options: DeciderOptions
  var files: InputFiles { options.files }
  /// The deciders by the digest of the settings; nil if their rules are no longer available.
  private var deciders: [String: Deciders?] = [:]

  init(_ rewind: Rewind, _ rules: any PlatformRules, _ options: DeciderOptions) {
    self.rewind = rewind
    self.rules = rules
    var options = options
    options.keepsAll = true
    options.notesCauses = true
    self.options = options
  }

  /// Returns the deciders for a night; nil if a rewind cannot go back to it.
  private func deciders(of night: StoredNight) throws -> Deciders? {
    if night.night.isMark || !night.night.beyond.isEmpty && !rewind.takesBeyond { return nil }
    if let known = deciders[night.rules] { return known }
    let rules = night.rules == rewind.rules ? rules : try rewind.earlierRules(night.rules)
    let made = rules.map { Deciders($0, options) }
    deciders[night.rules] = .some(made)
    return made
  }

  /// Returns the difference between the new and the earlier counts for all devices since the last call.
  func takeTally() -> ProcessingTally {
    var (before, after) = (ProcessingTally(), ProcessingTally())
    for case let made? in deciders.values {
      before += made.earlier.takeTally()
      after += made.later.takeTally()
    }
    after -= before
    return after
  }

  /// Returns those nights of a device to which late records can belong, in order.
  ///
  /// - Parameter first: the time of the first late record.
  func nights(of device: Text, from first: Instant, in bucket: BucketNights) throws -> [StoredNight] {
    var lookback = Milliseconds.zero
    return try bucket.nights(of: device) { night in
      guard let rules = try deciders(of: night)?.rules else { return true }
      lookback = max(lookback, rules.lookback)
      let earliest = Instant(milliseconds: max(0, first.milliseconds - lookback.count))
      guard let before = night.night.before, let begin = try rules.processedTime(of: before, known: night.knownBefore)
      else {
        return true
      }
      // Results may rest on inactivity up to the known time, whatever period the settings require.
      return begin.end < earliest && night.knownBefore ?? earliest <= earliest
    }
  }

  /// Returns the known time of a device's last night if the night had different settings and a rewind can go back to
  /// it; otherwise nil.
  func knownByOthers(_ device: Text, in bucket: BucketNights) throws -> Instant? {
    guard let last = try bucket.nights(of: device, { _ in true }).last, last.rules != rewind.rules,
      try deciders(of: last) != nil
    else { return nil }
    return last.known
  }

  /// Returns the times of those records in a device's nights that have an identity, by identity key.
  func identityTimes(_ device: Text, _ nights: [StoredNight]) throws -> [UInt64: Instant] {
    try nights.reduce(into: [:]) { times, night in
      times.merge(try timeline(device, night).identityTimes) { first, _ in first }
    }
  }

  /// Returns the index of the first late record that belongs to a night, as all later ones do; the count if
  /// none does.
  func firstPlaced(_ late: RecordList, _ nights: [StoredNight]) throws -> Int {
    let places = try places(in: nights)
    return late.firstIndex { nightPlace(of: $0, in: places) != nil } ?? late.count
  }

  /// Returns whether an event at the instant would belong to one of the nights.
  func hasPlace(for instant: Instant, in nights: [StoredNight]) throws -> Bool {
    try places(in: nights).night(of: instant, .events, .unknown) != nil
  }

  /// - Parameters:
  ///   - late: the late records, each of which belongs to one of the nights.
  ///   - present: the state of the device at the known time of the store.
  func decide(
    _ device: Text, _ late: RecordList, _ nights: [StoredNight], present: StoredDevice
  ) throws -> RewoundDevice {
    let places = try places(in: nights)
    guard let first = late.first, let own = nightPlace(of: first, in: places) else {
      preconditionFailure("late records without a night")
    }
    let nightDeciders = try nights.map { try deciders(of: $0) }
    let lookback = nightDeciders.compactMap { $0?.rules.lookback }.max() ?? .zero
    let earliest = Instant(milliseconds: max(0, first.timestamp.milliseconds - lookback.count))
    // Until events are handed over, they refer to the memory of the records.
    var timelines: [RecordTimeline] = []
    defer { withExtendedLifetime(timelines) {} }
    let firsts = try nights.map { try $0.firstRecord }
    var rewound: [StoredNight] = []
    var processed = 0
    var next = late.startIndex
    var place = min(own, places.night(of: earliest, first.kind, .unknown) ?? own)
    // Of several records with the same identity, the first in order counts (reference decisions 71).
    var replaced = Set(late.filter { $0.notes.contains(.replaces) }.compactMap(\.identityKey))
    var (old, new) = (nights[place].night.before, nights[place].night.before)
    while place < nights.count {
      var night = nights[place]
      guard let nightDeciders = nightDeciders[place] else { preconditionFailure("a night that is closed") }
      let isLast = place == nights.count - 1
      let stateAfter = isLast ? present : nights[place + 1].night.before
      var end = next
      while end < late.endIndex, isLast || nightPlace(of: late[end], in: places) == place { end += 1 }
      let times = replaced.isEmpty ? [:] : try identityTimes(device, [night])
      let gone = times.filter { replaced.contains($0.key) }.map { (key: $0.key, time: $0.value) }
        .sorted { $0.time < $1.time }
      replaced.subtract(gone.map(\.key))
      if old != new || next < end || !gone.isEmpty {
        let known = [night.known, isLast ? rewind.knownBefore : nights[place + 1].knownBefore]
        let coming = firsts[(place + 1)...].compactMap { $0 }.min()
        let lateComing = end < late.endIndex ? late[end].timestamp : nil
        let timeline = try timeline(device, night)
        timelines.append(timeline)
        let added = late.list(next..<end)
        let beyond = RecordTimeline(device: device)
        try beyond.add(kept: night.night.beyond)
        timelines.append(beyond)
        (night.night.before, night.night.beyond) = (new, [])
        (night.night.records, night.night.count) = (
          RecordTimeline.kept([added], from: files, without: gone), added.count
        )
        night.night.isAddition = true
        let changes = (added.map(\.timestamp) + gone.map(\.time)).sorted()
        (old, new) = try timeline.withRecords(adding: added, from: files, without: gone) { before, after in
          var sides = (
            old: Side(device, old, before, known, until: coming, nightDeciders.earlier),
            new: Side(
              device, new, after, known, until: [coming, lateComing].compactMap { $0 }.min(), nightDeciders.later)
          )
          try beyond.withRecords { beyond in
            try sides.old.take(beyond: beyond)
            try sides.new.take(beyond: beyond)
          }
          let isSame = try decide(&sides.old, &sides.new, changes, common: nightDeciders.common)
          processed += sides.new.processed
          return isSame ? (stateAfter, stateAfter) : (sides.old.state, sides.new.state)
        }
        if let new, let settled = try nightDeciders.rules.processedTime(of: new, known: known.last ?? nil)?.settled {
          night.night.until = max(night.night.until, settled)
        }
        rewound.append(night)
      } else {
        (old, new) = (stateAfter, stateAfter)
      }
      next = end
      place += 1
      // Everything from here on is unchanged.
      if next == late.endIndex, replaced.isEmpty, new == old {
        new = present
        break
      }
    }
    var unused = LocalBatch()
    for case let made? in deciders.values { try made.common.handOver(to: &unused, isLast: true) }
    let (before, after) = (try handOver(\.earlier), try handOver(\.later))
    var steps = after.steps
    steps -= before.steps
    return RewoundDevice(
      state: new ?? present, nights: rewound, records: processed, steps: steps,
      changes: try changes(device, before, after, late),
      rows: after.batch.rows.flatMap { rows in before.batch.rows.map { rows.without($0) } ?? rows },
      quarantine: after.batch.quarantine.filter { !before.batch.quarantine.contains($0) })
  }

  private func handOver(_ which: KeyPath<Deciders, any DeviceDecider>) throws -> Results {
    var results = Results()
    for case (_, let made?) in deciders.sorted(by: { $0.key < $1.key }) {
      let decider = made[keyPath: which]
      try decider.handOver(to: &results.batch, isLast: true)
      results.causes.merge(decider.core.causes) { $1 }
      results.steps += decider.core.steps.taken()
    }
    return results
  }

  private func places(in nights: [StoredNight]) throws -> NightPlaces {
    let closed = try nights.lastIndex { try deciders(of: $0) == nil }
    return NightPlaces(
      begins: try nights.indices.map { place in
        guard let before = nights[place].night.before else { return nil }
        // The settings of the previous night determine the required period of inactivity.
        return try (deciders(of: nights[max(0, place - 1)])?.rules ?? rules).processedTime(
          of: before, known: nights[place].knownBefore)
      },
      starts: try nights.map { night in
        guard let known = night.knownBefore else { return Instant(milliseconds: 0) }
        return try night.firstRecord.map { min($0, known) } ?? known
      },
      first: closed.map { $0 + 1 } ?? 0)
  }

  private func nightPlace(of late: RecordEntry, in places: NightPlaces) -> Int? {
    places.night(of: late.timestamp, late.kind, files.storedSource(of: late.position))
  }

  private func timeline(_ device: Text, _ night: StoredNight) throws -> RecordTimeline {
    let timeline = RecordTimeline(device: device)
    for records in [night.night.records] + night.additions { try timeline.add(kept: records) }
    return timeline
  }

  /// Processes a night with its earlier and with its new records; while both sides have the same state, only one is
  /// processed.
  ///
  /// - Parameter changes: the times of new or removed records, ascending.
  /// - Returns: whether both sides end in the same state. If so, that is the stored state, although the sides may
  ///   not have been processed that far.
  private func decide(
    _ old: inout Side, _ new: inout Side, _ changes: [Instant], common: any DeviceDecider
  ) throws -> Bool {
    // A sample also affects earlier events, so the night is processed in one step.
    let isWhole = old.hasSamples || new.hasSamples
    var step = isWhole ? .max : Self.firstStep
    var passed = Instant(milliseconds: 0)
    while true {
      if !isWhole, old.state == new.state {
        guard let next = changes.first(where: { $0 >= passed }) else { return true }
        // Both sides also process the record before the change, so that each has at least one.
        let place = old.records.place(from: next)
        let start = place > old.next ? old.records[place - 1].timestamp : next
        try old.take(until: start, by: common)
        new.skip(until: start, to: old.state)
        step = Self.firstStep
      }
      let end = new.end(ofStep: step)
      try old.take(until: end, by: old.decider)
      try new.take(until: end, by: new.decider)
      guard let end else { return old.state == new.state }
      passed = end
      step *= 2
    }
  }

  /// The number of records processed before the states of both sides are first compared; it doubles each time.
  private static let firstStep = 1

  /// A night of a device, with either its earlier or its new records.
  private struct Side {
    let records: RecordList
    let hasSamples: Bool
    let decider: any DeviceDecider
    private(set) var state: StoredDevice?
    /// The index of the first record not yet processed.
    private(set) var next = 0
    private(set) var processed = 0
    private let device: Text
    private let lookahead: DeviceLookahead?
    private let known: [Instant?]

    /// Returns the exclusive end of about `step` more records, keeping records of one instant together; nil
    /// if that includes all remaining records.
    func end(ofStep step: Int) -> Instant? {
      guard step < records.count - next else { return nil }
      let first = records[next].timestamp
      return (next + step..<records.count).lazy.map { records[$0].timestamp }.first { $0 > first }
    }

    /// - Parameters:
    ///   - known: the times up to which inactivity counts, in order of application.
    ///   - coming: the time of the next record, which ends the inactivity; nil if there is none.
    init(
      _ device: Text, _ state: StoredDevice?, _ records: RecordList, _ known: [Instant?], until coming: Instant?,
      _ decider: any DeviceDecider
    ) {
      self.device = device
      self.state = state
      self.records = records
      self.decider = decider
      self.known = known.map { known in known.map { min($0, coming ?? $0) } }
      lookahead = DeviceLookahead(records)
      hasSamples = lookahead?.samples.isEmpty == false
    }

    mutating func skip(until end: Instant, to state: StoredDevice?) {
      next = records.place(from: end)
      self.state = state
    }

    /// Processes records older than the reach in isolation, as the original run did.
    mutating func take(beyond: RecordList) throws {
      guard !beyond.isEmpty else { return }
      decider.core.knownUntil = known.first ?? nil
      try decider.begin(device, earlier: state, isExplained: false)
      try decider.take(beyond, lookahead: nil)
      var states = DeviceStates()
      decider.end(into: &states)
      state = states.last
    }

    /// - Parameter end: exclusive; nil to process the rest, and then end sessions, campaigns and holds that
    ///   are over by the known times.
    mutating func take(until end: Instant?, by decider: any DeviceDecider) throws {
      let place = end.map { records.place(from: $0) } ?? records.count
      if end != nil, place == next { return }
      decider.core.knownUntil = known.first ?? nil
      try decider.begin(device, earlier: state, isExplained: false)
      if next < place {
        try decider.take(records.list(next..<place), lookahead: place - next == records.count ? nil : lookahead)
      }
      processed += place - next
      next = place
      if end == nil {
        decider.finish()
        for more in known.dropFirst().compactMap({ $0 })
        where more > decider.core.knownUntil ?? Instant(milliseconds: 0) {
          decider.core.knownUntil = more
          decider.finish()
        }
      }
      var states = DeviceStates()
      decider.end(into: &states)
      state = states.last
    }
  }
}
