import BatchFoundation
import BatchIngest
import BatchPipeline
import BatchStore
import EngageRules
import EventSchemas

/// Runs the rules of Engage over devices and encodes their events in stretches: series of chunks in delivery order.
final class EngageDecider: DeviceDecider {
  private let settings: EngageDecisionRules
  private let options: DeciderOptions
  private let arena = Arena()
  private let keptArena = Arena(blockSize: 1 << 20)
  private var rules: DeviceRules
  /// Events not yet encoded, in any order; their texts must live until then.
  private var events: [Event] = []
  private var spareEvents: [Event] = []
  private var order = DeliveryOrder()
  private var encoder: EventBlockWriter
  /// The program that adds attributes last; nil for none.
  private let program: ProgramAugmentation?
  /// Nil if events are not checked.
  private let checks: EventChecks?
  private var quarantine: [QuarantinedLine] = []
  /// The findings of the current stretch, for `--findings-out`.
  private var findingsLines = LineSeries()
  /// The positions of the records that caused the rules' events, for ``program`` only.
  private var places: [RecordPosition] = []
  /// The stretches kept for a device with a past, for which any number of events may wait even in a small input.
  private static let mostStretchesKept = 64
  private var hasPast = false
  private var blocks: [EventBlocks] = []
  private var rows = IdentityRows()
  private var counter = EventCounter()
  private var campaigns: CampaignCounter
  private var tally = DecisionTally()
  private var details: EngageDetails
  /// The bytes of records that became events since the last stretch ended.
  private var stretchBytes = 0
  /// The set-ups of the owners that the current device records.
  private var owners: [DeviceSetup] = []
  /// Whether anything of the current device is sent to the service, whatever its final consent.
  private var concernsService = false
  private(set) var decided: DecidedTime?
  private(set) var causes: [Int64: StoredSource] = [:]
  /// Unused; keeping the result forces the reads of `RecordList.touch`.
  private var touched: UInt8 = 0
  private(set) var late: Set<RecordPosition> = []

  init(_ settings: EngageDecisionRules, _ options: DeciderOptions) {
    self.settings = settings
    self.options = options
    campaigns = CampaignCounter(attribute: settings.rules.fields[.campaign])
    rules = DeviceRules(
      settings: settings.rules, links: settings.links, knownUntil: options.knownUntil, arena: arena)
    encoder = EventBlockWriter(.engage, limits: options.limits)
    details = EngageDetails(links: settings.links, schema: settings.schema)
    checks = settings.makeChecks(options.limits)
    program = settings.program.map { ProgramAugmentation($0) }
  }

  // MARK: - One device

  func begin(_ device: Text, earlier: StoredDevice?, isExplained: Bool) throws {
    late.removeAll(keepingCapacity: true)
    causes = [:]
    owners = []
    concernsService = false
    hasPast = earlier != nil
    rules.begin(device, try earlier.map { try state($0) })
    rules.explanation = isExplained ? Explanation() : nil
  }

  func take(_ records: RecordList, lookahead: DeviceLookahead?) throws {
    guard let last = records.last else { return }
    touched &+= records.touch()
    rules.announce(until: lookahead?.last ?? last.timestamp)
    if let lookahead {
      for sample in lookahead.samples { rules.announce(Record(sample)) }
    } else {
      for entry in records where entry.isSample { rules.announce(Record(entry)) }
    }
    for entry in records {
      var (before, checks) = (rules.output.events.count, rules.output.checks.count)
      rules.source = options.files.storedSource(of: entry.position)
      while !rules.advance(Record(entry)) {
        // Events waiting since earlier records, any number of them.
        concernsService = true
        if program != nil { notePlace(entry.position) }
        guard rules.output.events.count >= 2 * options.events, rules.isSettled else { continue }
        try endStretchOfDevice()
        (before, checks) = (0, 0)
      }
      if rules.output.events.count != before { stretchBytes += entry.byteCount }
      if rules.output.events.count > before || rules.output.checks.count > checks { concernsService = true }
      if program != nil { notePlace(entry.position) }
      // A device that far exceeds its share must not fill the memory; others are not split.
      if hasStretches(2), rules.isSettled { try endStretchOfDevice() }
    }
  }

  var knownUntil: Instant? {
    get { rules.knownUntil }
    set { rules.knownUntil = newValue }
  }

  func finish() {
    rules.finish()
    if program != nil { notePlace(places.last ?? RecordPosition(file: 0, line: 0)) }
  }

  /// Assigns the events made since the last call to this record.
  private func notePlace(_ position: RecordPosition) {
    // The rules sometimes withdraw an event.
    while places.count > rules.output.events.count { places.removeLast() }
    while places.count < rules.output.events.count { places.append(position) }
  }

  func end(into states: inout DeviceStates) {
    rules.end()
    noteLate()
    if let explanation = rules.explanation { tally.explanation += explanation.steps }
    let state = rules.state
    decided = state.decided
    takeOwners()
    if concernsService || !rules.isDenied { rows.setups += owners }
    unsafe state.encoded().withUnsafeBufferPointer {
      unsafe states.append(
        device: state.device, version: Int(DeviceState.format), held: state.heldCount, due: state.dueAt, state: $0)
    }
  }

  /// Moves the owners out of the rules' output, as ``noteLate()`` does.
  private func takeOwners() {
    owners += rules.output.owners.map { decided in
      var setup = decided.setup
      setup.source = options.files.source(of: decided.position)
      return setup
    }
    rules.output.owners.removeAll(keepingCapacity: true)
  }

  /// Moves the late records out of the rules' output, which continues across the devices of a stretch.
  private func noteLate() {
    late.formUnion(rules.output.late)
    rules.output.late.removeAll(keepingCapacity: true)
  }

  private func state(_ stored: StoredDevice) throws -> DeviceState {
    let bytes = unsafe stored.state.withUnsafeBufferPointer { unsafe arena.copy($0) }
    return try unsafe DeviceState(decoding: UnsafeRawBufferPointer(bytes.bytes))
  }

  // MARK: - Stretches

  var isFull: Bool { hasStretches(1) || !blocks.isEmpty || quarantine.count > 256 }

  func handOver(to batch: inout LocalBatch, isLast: Bool) throws {
    try endStretch()
    if isLast { encodeEvents() }
    rules.state = DeviceState(device: .empty)
    arena.reset()
    batch.events += blocks
    blocks = []
    batch.quarantine += quarantine
    quarantine = []
    guard !rows.isEmpty else { return }
    batch.add(rows)
    rows = IdentityRows()
  }

  func takeTally() -> DecisionTally {
    defer {
      tally = DecisionTally()
      details = EngageDetails(links: settings.links, schema: settings.schema)
    }
    takeCounts(isLast: true)
    details.coverage = checks?.coverage
    tally.details = details
    return tally
  }

  private func takeCounts(isLast: Bool) {
    counter.takeCounts(into: &tally, isLast: isLast)
    campaigns.takeCounts(into: &tally, isLast: isLast)
  }

  /// Whether the rules' events, or the records they came from, amount to this many stretches.
  private func hasStretches(_ times: Int) -> Bool {
    !options.keepsAll
      && (rules.output.events.count >= times * options.events || stretchBytes >= times * options.bytes)
  }

  /// Checks and counts the rules' output, and encodes its events as a separate series or keeps them.
  private func endStretch() throws {
    defer { stretchBytes = 0 }
    if options.keepsStatesOnly { return rules.output.removeAll() }
    if let program { augment(by: program) }
    if let checks { try keepPassing(checks) }
    for event in rules.output.events { counter.count(event.code, at: event.timestamp) }
    tally.add(rules.output)
    for route in rules.output.routes { details.routes[route, default: 0] += 1 }
    rows.checks += rules.output.checks.map { decided in
      var check = decided.check
      check.source = options.files.source(of: decided.position)
      return check
    }
    rows.moments += rules.output.moments
    if options.notesCauses { causes.merge(rules.output.causes) { $1 } }
    rows.locations += rules.output.locations
    if options.keepsAll {
      for event in rules.output.events { events.append(event.copied(to: keptArena)) }
      if hasPast, events.count >= Self.mostStretchesKept * options.events { encodeEvents() }
    } else {
      swap(&events, &rules.output.events)
      encodeEvents()
    }
    rules.output.removeAll()
  }

  /// Quarantines events that do not fit the schema.
  private func keepPassing(_ checks: EventChecks) throws {
    try rules.output.events.removeAll { event in
      let findings = checks.findings(of: event)
      guard !findings.isEmpty else { return false }
      for finding in findings { tally.figures[FindingReport.figure(finding.id), default: 0] += 1 }
      let id = EventID(timestamp: event.timestamp, device: event.device, emission: event.emission)
      details.findings.add(
        findings, ofEvent: arena.text(checks.name(of: event)), eventUUID: arena.text("\(id)"))
      if settings.findings != nil {
        findingsLines.add(event.findingsLine(findings), at: event.timestamp, event.device, event.emission)
      }
      tally.quarantinedEvents += 1
      var line = try checks.quarantined(event, findings)
      line.source = options.files.source(of: event.source)
      quarantine.append(line)
      return true
    }
    try settings.findings?.append(&findingsLines)
  }

  private func augment(by program: ProgramAugmentation) {
    for failed in program.augment(&rules.output.events, in: arena) {
      let device = rules.output.events[failed.index].device.description
      let place = failed.index < places.count ? places[failed.index] : RecordPosition(file: 0, line: 0)
      rules.output.warnings.append(
        Warning(kind: .augmentationProgram, device: device, position: place, detail: failed.reason))
    }
    places.removeAll(keepingCapacity: true)
  }

  /// Ends a stretch in the middle of a device and moves its state, so that the arena can be reused.
  private func endStretchOfDevice() throws {
    noteLate()
    takeOwners()
    try endStretch()
    // Waiting events do not use the arena.
    let waiting = rules.state.waiting
    rules.state.waiting = WaitingEvents()
    let bytes = rules.state.encoded()
    arena.reset()
    let kept = unsafe bytes.withUnsafeBufferPointer { unsafe arena.copy($0) }
    rules.state = try unsafe DeviceState(decoding: UnsafeRawBufferPointer(kept.bytes))
    rules.state.waiting = waiting
  }

  /// Sorts the events, moving each once.
  private func sortEvents() {
    // Local variables avoid an exclusivity check on every access.
    var sorted = spareEvents
    spareEvents = []
    sorted.removeAll(keepingCapacity: true)
    unsafe events.withUnsafeBufferPointer { events in
      order.find(
        events.count, timestamp: { unsafe events[$0].timestamp },
        precedes: { unsafe Event.precedes(events[$0], events[$1]) })
      order.forEach { unsafe sorted.append(events[$0]) }
    }
    spareEvents = events
    events = sorted
  }

  private static func encode(
    _ events: [Event], with encoder: inout EventBlockWriter, counting campaigns: inout CampaignCounter
  ) -> EventBlocks {
    unsafe events.withUnsafeBufferPointer { events in unsafe encoder.encode(events) { campaigns.count($0) } }
  }

  private func encodeEvents() {
    guard !events.isEmpty else { return }
    sortEvents()
    let encoded = Self.encode(events, with: &encoder, counting: &campaigns)
    takeCounts(isLast: false)
    events.removeAll(keepingCapacity: true)
    tally.chunks += encoded.entries.count
    blocks.append(encoded)
    keptArena.reset()
  }
}
