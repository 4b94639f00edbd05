import BatchFoundation
import BatchIngest
import BatchPipeline
import BatchStore
import EventSchemas
import GameRules

/// Runs the rules of a deltaDNA job over devices, checks their events, and encodes the valid ones as chunks. Events are
/// encoded in stretches: each is a series of chunks in the order of delivery.
final class GameDecider: DeviceDecider {
  private let settings: GameDecisionRules
  private var options: DeciderOptions
  private let arena = Arena()
  private let keptArena = Arena(blockSize: 1 << 20)
  private var rules: GameRules
  private var checker: EventChecker
  private var words: FindingWords
  /// Events to be encoded, in any order; their texts must live until then.
  private var events: [GameEvent] = []
  private var order = DeliveryOrder()
  private var counter = EventCounter()
  private var encoder: EventBlockWriter
  private var setAside: EventBlockWriter
  /// The series to be handed over.
  private var blocks: [EventBlocks] = []
  private var quarantine: [QuarantinedLine] = []
  private var rows = EngagementRows()
  /// The findings of the current stretch, for `--findings-out`.
  private var findingsLines = LineSeries()
  private var tally = DecisionTally()
  private var details: GameDetails
  /// The bytes of records that became events since the last stretch ended.
  private var stretchBytes = 0
  /// Meaningless, but storing it makes `RecordList.touch` read.
  private var touched: UInt8 = 0
  private(set) var decided: DecidedTime?
  private(set) var late: Set<RecordPosition> = []

  init(_ settings: GameDecisionRules, _ options: DeciderOptions) {
    self.settings = settings
    self.options = options
    rules = GameRules(settings: settings.rules, configuration: settings.configuration, arena: arena)
    checker = settings.makeChecker()
    words = FindingWords(settings.schema)
    details = GameDetails(settings)
    encoder = EventBlockWriter(.game, limits: options.limits)
    setAside = EventBlockWriter(.game, limits: options.limits)
  }

  // MARK: - One device

  func begin(_ device: Text, earlier: StoredDevice?, isExplained: Bool) throws {
    late.removeAll(keepingCapacity: true)
    rules.begin(device, try earlier.map { try state($0.state) })
    rules.explanation = isExplained ? Explanation() : nil
  }

  func take(_ records: RecordList, lookahead: DeviceLookahead?) throws {
    touched &+= records.touch()
    for entry in records {
      let before = rules.output.events.count
      rules.source = options.files.storedSource(of: entry.position)
      rules.record.take(entry)
      rules.process()
      if rules.output.events.count != before { stretchBytes += entry.byteCount }
      // A device far larger than its share must not fill the memory; others are not cut.
      if hasStretches(2) { try endStretchOfDevice() }
    }
  }

  var knownUntil: Instant? {
    get { options.knownUntil }
    set { options.knownUntil = newValue }
  }

  /// Silence alone sends nothing; it only measures sessions.
  func finish() { rules.finish(knownUntil: options.knownUntil) }

  func end(into states: inout DeviceStates) {
    if let explanation = rules.explanation { tally.explanation += explanation.steps }
    noteLate()
    let state = rules.state
    decided = settings.decided(state, known: options.knownUntil)
    unsafe state.encoded().withUnsafeBufferPointer {
      unsafe states.append(
        device: state.device, version: Int(GameState.format), held: 0, due: rules.dueAt, state: $0)
    }
  }

  /// Moves the late records out of the rules' output, which continues over the devices of a stretch.
  private func noteLate() {
    late.formUnion(rules.output.late)
    rules.output.late.removeAll(keepingCapacity: true)
  }

  private func state(_ stored: [UInt8]) throws -> GameState {
    let bytes = unsafe stored.withUnsafeBufferPointer { unsafe arena.copy($0) }
    return try unsafe GameState(decoding: UnsafeRawBufferPointer(bytes.bytes))
  }

  // MARK: - Stretches

  var isFull: Bool { hasStretches(1) || !blocks.isEmpty || quarantine.count > 256 }

  func handOver(to batch: inout LocalBatch, isLast: Bool) throws {
    try endStretch()
    if isLast { encodeEvents() }
    rules.state = GameState(device: .empty)
    arena.reset()
    batch.events += blocks
    blocks = []
    batch.quarantine += quarantine
    quarantine = []
    guard !rows.engagements.isEmpty else { return }
    batch.add(rows)
    rows = EngagementRows()
  }

  func takeTally() -> DecisionTally {
    defer {
      tally = DecisionTally()
      details = GameDetails(settings)
    }
    counter.takeCounts(into: &tally, isLast: true)
    details.coverage = settings.schema == nil ? nil : checker.coverage
    tally.details = details
    return tally
  }

  /// Returns whether events or record bytes exceed `times` stretches.
  private func hasStretches(_ times: Int) -> Bool {
    !options.keepsAll
      && (rules.output.events.count >= times * options.events || stretchBytes >= times * options.bytes)
  }

  /// Ends a stretch: checks and counts the events, and encodes them as a separate series or keeps them.
  private func endStretch() throws {
    defer { stretchBytes = 0 }
    if options.keepsStatesOnly { return rules.output.removeAll() }
    rules.makeIDs()
    tally.add(rules.output)
    details.responses.merge(rules.output.counts.responses, uniquingKeysWith: +)
    rows.engagements += rules.output.engagements
    try keepPassing(&rules.output.events)
    for event in rules.output.events {
      if settings.window.contains(event.timestamp) {
        counter.count(event.name, at: event.timestamp)
      } else {
        tally.add(GameFigure.expired)
      }
    }
    if options.keepsAll {
      events += rules.output.events.map { $0.copied(to: keptArena) }
    } else {
      // No event waits here; the rules continue in the memory of the last ones.
      swap(&events, &rules.output.events)
    }
    checker.forgetMemory()
    counter.takeCounts(into: &tally, isLast: false)
    try settings.findings?.append(&findingsLines)
    if !options.keepsAll { encodeEvents() }
    rules.output.removeAll()
  }

  /// Removes the events that may not be sent.
  private func keepPassing(_ events: inout [GameEvent]) throws {
    var kept = 0
    for place in events.indices where try passes(events[place]) {
      if kept < place { events[kept] = events[place] }
      kept += 1
    }
    events.removeLast(events.count - kept)
  }

  /// Returns whether the event may be sent; otherwise quarantines it.
  private func passes(_ event: GameEvent) throws -> Bool {
    let findings = checker.findings(of: event)
    guard !findings.isEmpty else { return true }
    for finding in findings { tally.figures[FindingReport.figure(finding.id), default: 0] += 1 }
    details.findings.add(findings, ofEvent: event.name, eventUUID: arena.text(event.eventUUID.description))
    if settings.findings != nil {
      findingsLines.add(event.findingsLine(findings), at: event.timestamp, event.device, event.emission)
    }
    if settings.sends(findings) { return true }
    tally.add(GameFigure.invalid)
    tally.quarantinedEvents += 1
    var line = try QuarantinedLine(
      event, detail: words.words(findings, ofEvent: event.name.description), block: setAside.encode(event))
    line.source = options.files.source(of: event.source)
    quarantine.append(line)
    return false
  }

  /// Ends a stretch in the middle of a device; its state moves to the memory just freed.
  private func endStretchOfDevice() throws {
    noteLate()
    try endStretch()
    let bytes = rules.state.encoded()
    arena.reset()
    rules.resume(try state(bytes))
  }

  private func encodeEvents() {
    guard !events.isEmpty else { return }
    let encoded = unsafe events.withUnsafeBufferPointer { events in
      order.find(
        events.count, timestamp: { unsafe events[$0].timestamp },
        precedes: { unsafe GameEvent.precedes(events[$0], events[$1]) })
      // A local, because every access to a member would be checked for exclusivity.
      let order = order
      return unsafe encoder.encode(events) { order.place($0) }
    }
    events.removeAll(keepingCapacity: true)
    tally.chunks += encoded.entries.count
    blocks.append(encoded)
    keptArena.reset()
  }
}
