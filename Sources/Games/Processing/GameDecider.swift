import BatchFoundation
import BatchIngest
import BatchPipeline
import BatchStore
import EventSchemas
import GameRules

/// Runs the rules of a game's job on devices, validates their events, and encodes those that may be sent.
final class GameDecider: DeviceDecider {
  let core: DeciderCore
  private let settings: GamePlatformRules
  private var rules: GameRules
  private var checker: EventChecker
  /// Events that may be sent, in any order; their texts must stay valid until they are encoded.
  private var events: [GameEvent] = []

  init(_ settings: GamePlatformRules, _ options: DeciderOptions) {
    self.settings = settings
    let arena = Arena()
    rules = GameRules(settings: settings.rules, configuration: settings.configuration, arena: arena)
    checker = EventChecker(
      schema: settings.schema, environment: settings.environment, largestRequest: settings.largestRequest)
    core = DeciderCore(settings, options, .game, arena, schema: settings.schema, findings: settings.findings)
  }

  // MARK: - One device

  func begin(_ device: Text, _ state: UnsafeRawBufferPointer?, _ explanation: Explanation?) throws {
    rules.begin(device, try unsafe state.map { try unsafe GameState(decoding: $0) })
    rules.explanation = explanation
  }

  func process(_ records: RecordList, _ lookahead: DeviceLookahead?) throws {
    for entry in records {
      let before = rules.output.events.count
      rules.source = core.options.files.storedSource(of: entry.position)
      rules.record.take(entry)
      rules.process()
      if rules.output.events.count != before { core.stretchBytes += entry.byteCount }
      // A single huge device must not exhaust memory; other devices are not split.
      if core.hasStretches(2, of: rules.output.events.count) { try endStretchOfDevice() }
    }
  }

  /// Inactivity alone causes no events, so this only measures sessions.
  func finish() { rules.finish(knownUntil: core.knownUntil) }

  func end(into states: inout DeviceStates) {
    if let explanation = rules.explanation { core.tally.explanation += explanation.steps }
    core.noteLate(&rules.output.late)
    let state = rules.state
    core.processed = settings.processedTime(state, known: core.knownUntil)
    unsafe state.encoded().withUnsafeBufferPointer {
      unsafe states.append(
        device: state.device, version: Int(GameState.format), held: 0, due: rules.dueAt, state: $0)
    }
    rules.state = GameState(device: .empty)
  }

  // MARK: - Stretches

  var eventCount: Int { rules.output.events.count }

  func clearOutput() { rules.output.removeAll() }

  func completeTally() {
    core.tally.details?.coverage = settings.schema == nil ? nil : checker.coverage
  }

  func settle() throws {
    rules.makeIDs()
    core.tally.add(rules.output)
    for (trigger, count) in rules.output.counts.responses {
      core.tally.details?.uses[Trigger.place(trigger), default: 0] += count
    }
    if !rules.output.engagements.isEmpty { core.results.add(EngagementRows(engagements: rules.output.engagements)) }
    try rules.output.events.removeAll { try !passes($0) }
    for event in rules.output.events {
      if settings.window.contains(event.timestamp) {
        core.counter.count(core.counter.number(of: event.name), at: event.timestamp)
      } else {
        core.tally.add(GameFigure.expired)
      }
    }
    if core.options.keepsAll {
      events += rules.output.events.map { $0.copied(to: core.keptArena) }
    } else {
      // `events` is empty here; the rules reuse its memory.
      swap(&events, &rules.output.events)
    }
    checker.forgetMemory()
  }

  /// Returns whether the event may be sent; otherwise quarantines it.
  private func passes(_ event: GameEvent) throws -> Bool {
    let findings = checker.findings(of: event)
    guard !findings.isEmpty else { return true }
    let head = EventHead(
      type: event.name, timestamp: event.timestamp, device: event.device, emission: event.emission,
      source: event.source)
    core.note(findings, of: head, id: core.arena.text(event.eventUUID.description), as: event.shown)
    if settings.sends(findings) { return true }
    core.tally.add(GameFigure.invalid)
    try core.quarantine(head, findings, block: core.encoder.encode(event))
    return false
  }

  func check(_ event: EventBlockReader) throws -> (name: String, findings: [EventFinding]) {
    checker.forgetMemory()
    let event = try GameEvent(event, in: core.arena)
    let findings = checker.findings(of: event)
    return (event.name.description, settings.sends(findings) ? [] : findings)
  }

  /// Ends a stretch in the middle of a device, and moves the device's state into the memory just freed.
  private func endStretchOfDevice() throws {
    core.noteLate(&rules.output.late)
    try endStretch()
    let bytes = rules.state.encoded()
    core.arena.reset()
    rules.resume(try unsafe GameState(decoding: core.copied(bytes)))
  }

  func encode() -> EventBlocks? {
    guard !events.isEmpty else { return nil }
    let encoded = unsafe events.withUnsafeBufferPointer { events in
      let places = core.order.places(
        events.count, timestamp: { unsafe events[$0].timestamp },
        precedes: { unsafe GameEvent.precedes(events[$0], events[$1]) })
      return unsafe core.encoder.encode(events) { places[$0] }
    }
    events.removeAll(keepingCapacity: true)
    return encoded
  }
}
