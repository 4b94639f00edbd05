import BatchFoundation
import BatchIngest
import BatchPipeline
import BatchReport
import BatchStore
import EngageRules
import EventSchemas

/// Runs the rules of Engage over devices and encodes their events.
final class EngageDecider: DeviceDecider {
  let core: DeciderCore
  private var rules: DeviceRules
  /// Events that no later record can change, in any order; their texts must live until they are encoded.
  private var events: [Event] = []
  /// The program that adds attributes after all plug-ins; nil for none.
  private let program: ProgramAugmentation?
  /// The checks against the schema; nil if events are not checked.
  private let checks: EventChecks?
  /// The positions of the records that caused the rules' events, for ``program`` only.
  private var places: [RecordPosition] = []
  /// The maximum number of stretches of events kept unencoded for a device with stored state: any number of its events
  /// may be held, even if the input is small.
  private static let mostStretchesKept = 64
  private var hasPast = false
  /// The devices since the last stretch ended, in order, each with its number of records that show a use of the app.
  private var uses: [(device: Text, count: Int)] = []
  private var campaigns: CampaignCounter
  private let steps: CampaignStepCodes
  /// The set-ups of the owners that the current device's records name.
  private var owners: [DeviceSetup] = []
  /// Whether anything from the current device is sent to the service, regardless of the device's final consent.
  private var concernsService = false

  init(_ settings: EngagePlatformRules, _ options: DeciderOptions) {
    campaigns = CampaignCounter(attribute: settings.rules.fields[.campaign])
    steps = CampaignStepCodes(settings.rules)
    let arena = Arena()
    rules = DeviceRules(
      settings: settings.rules, links: settings.links, knownUntil: options.knownUntil, arena: arena)
    rules.recordSource = { options.files.source(of: $0) }
    checks = settings.schema.map {
      EventChecks($0, naming: [settings.rules.fields[.eventName], settings.rules.fields[.goalName]])
    }
    program = settings.program.map { ProgramAugmentation($0) }
    core = DeciderCore(settings, options, .engage, arena, schema: settings.schema, findings: settings.findings)
  }

  // MARK: - One device

  func begin(_ device: Text, _ state: UnsafeRawBufferPointer?, _ explanation: Explanation?) throws {
    owners = []
    concernsService = false
    hasPast = unsafe state != nil
    rules.knownUntil = core.knownUntil
    rules.begin(try unsafe state.map { try unsafe DeviceState(decoding: $0) } ?? DeviceState(device: device))
    uses.append((device, 0))
    rules.explanation = explanation
  }

  func process(_ records: RecordList, _ lookahead: DeviceLookahead?) throws {
    guard let last = records.last else { return }
    rules.announce(until: lookahead?.last ?? last.timestamp)
    if let lookahead {
      for sample in lookahead.samples { rules.announce(Record(sample)) }
    } else {
      for entry in records where entry.isSample { rules.announce(Record(entry)) }
    }
    for entry in records {
      if steps.isUse(entry) { uses[uses.count - 1].count += 1 }
      var (before, checks) = (rules.output.events.count, rules.output.checks.count)
      rules.source = core.options.files.storedSource(of: entry.position)
      while !rules.advance(Record(entry)) {
        // The record releases held events, of which there may be any number.
        concernsService = true
        if program != nil { notePlace(entry.position) }
        guard rules.output.events.count >= 2 * core.options.events, rules.isSettled else { continue }
        try endStretchOfDevice()
        (before, checks) = (0, 0)
      }
      if rules.output.events.count != before { core.stretchBytes += entry.byteCount }
      if rules.output.events.count > before || rules.output.checks.count > checks { concernsService = true }
      if program != nil { notePlace(entry.position) }
      // Only a device that far exceeds its share is split, so that it cannot exhaust memory.
      if core.hasStretches(2, of: rules.output.events.count), rules.isSettled { try endStretchOfDevice() }
    }
  }

  func finish() {
    rules.knownUntil = core.knownUntil
    rules.finish()
    if program != nil { notePlace(places.last ?? RecordPosition(file: 0, line: 0)) }
  }

  /// Notes this record's position for the events made since the last call.
  private func notePlace(_ position: RecordPosition) {
    // The rules sometimes withdraw an event.
    while places.count > rules.output.events.count { places.removeLast() }
    while places.count < rules.output.events.count { places.append(position) }
  }

  func end(into states: inout DeviceStates) {
    rules.end()
    core.noteLate(&rules.output.late)
    if let explanation = rules.explanation { core.tally.explanation += explanation.steps }
    core.processed = rules.state.processedTime
    takeOwners()
    if concernsService || !rules.isDenied { add(IdentityRows(setups: owners)) }
    rules.appendState(to: &states)
  }

  /// Moves the owners out of the rules' output.
  private func takeOwners() {
    owners += rules.output.owners
    rules.output.owners.removeAll(keepingCapacity: true)
  }

  private func add(_ rows: IdentityRows) { if !rows.isEmpty { core.results.add(rows) } }

  // MARK: - Stretches

  var eventCount: Int { rules.output.events.count }

  func clearOutput() {
    rules.output.removeAll()
    uses.removeAll(keepingCapacity: true)
  }

  func completeTally() {
    campaigns.takeCounts(into: &core.tally, isLast: true)
    core.tally.details?.coverage = checks?.coverage
  }

  func settle() throws {
    if let program { augment(by: program) }
    if let checks { try keepPassing(checks) }
    countEvents()
    core.tally.add(rules.output)
    for route in rules.output.routes { core.tally.details?.uses[route, default: 0] += 1 }
    add(
      IdentityRows(
        checks: rules.output.checks, moments: rules.output.moments, locations: rules.output.locations))
    if core.options.notesCauses { core.causes.merge(rules.output.causes) { $1 } }
    guard core.options.keepsAll else { return swap(&events, &rules.output.events) }
    for event in rules.output.events { events.append(event.copied(to: core.keptArena)) }
    if hasPast, events.count >= Self.mostStretchesKept * core.options.events { encodeEvents() }
  }

  /// Counts events by type and campaign, and the steps of devices.
  private func countEvents() {
    Self.count(
      rules.output.events, uses, with: steps, events: &core.counter, campaigns: &campaigns, steps: &core.steps)
    campaigns.takeCounts(into: &core.tally, isLast: false)
  }

  /// Static, because access to an object's own counters would be checked for each event.
  private static func count(
    _ events: [Event], _ uses: [(device: Text, count: Int)], with codes: CampaignStepCodes,
    events counter: inout EventCounter, campaigns: inout CampaignCounter, steps: inout StepCounter
  ) {
    var (next, device) = (0, Text.empty)
    /// Starts the next device, which may have no events.
    func beginDevice() -> Text {
      steps.begin(uses[next].device)
      if uses[next].count > 0 { steps.count(.used, times: uses[next].count) }
      next += 1
      return uses[next - 1].device
    }
    // Texts in the same memory need no further look-up.
    var types = [Int?](repeating: nil, count: codes.codes.count)
    var (code, type, step) = (Text.empty, -1, CampaignStep?.none)
    var (campaign, campaignNumber) = (Text.empty, -1)
    for event in events {
      // The devices of the events are in `uses`, in the same order.
      while event.device != device { device = beginDevice() }
      if type < 0 || !event.code.isSameMemory(as: code) {
        code = event.code
        let place = codes.place(of: code)
        step = place.flatMap { codes.codes[$0].step }
        type = place.flatMap { types[$0] } ?? counter.number(of: code)
        if let place { types[place] = type }
      }
      counter.count(type, at: event.timestamp)
      let named = event.value(of: campaigns.attribute)
      if let named {
        if campaignNumber < 0 || !named.isSameMemory(as: campaign) {
          (campaign, campaignNumber) = (named, campaigns.number(of: named))
        }
        campaigns.count(campaignNumber, at: event.timestamp)
      }
      // Named events and links may have the code of goals, but they name no goal.
      if let step, step != .goals || event.value(of: codes.goal) != nil { steps.count(step, of: named) }
    }
    while next < uses.count { device = beginDevice() }
  }

  /// Quarantines events that do not fit the schema.
  private func keepPassing(_ checks: EventChecks) throws {
    try rules.output.events.removeAll { event in
      let findings = checks.findings(of: event)
      guard !findings.isEmpty else { return false }
      let id = EventID(timestamp: event.timestamp, device: event.device, emission: event.emission)
      let head = EventHead(
        type: core.arena.text(checks.name(of: event)), timestamp: event.timestamp, device: event.device,
        emission: event.emission, source: event.source)
      core.note(findings, of: head, id: core.arena.text("\(id)"), as: event.shown)
      let block = unsafe withUnsafePointer(to: event) {
        unsafe core.encoder.encode(UnsafeBufferPointer(start: $0, count: 1)).bytes
      }
      try core.quarantine(head, findings, block: block)
      return true
    }
  }

  func check(_ event: EventBlockReader) -> (name: String, findings: [EventFinding]) {
    guard let checks else { return ("", []) }
    let event = Event(event, in: core.arena)
    return (checks.name(of: event), checks.findings(of: event))
  }

  private func augment(by program: ProgramAugmentation) {
    for failed in program.augment(&rules.output.events, in: core.arena) {
      let device = rules.output.events[failed.index].device.description
      let place = failed.index < places.count ? places[failed.index] : RecordPosition(file: 0, line: 0)
      rules.output.warnings.append(
        Warning(kind: .augmentationProgram, device: device, position: place, detail: failed.reason))
    }
    places.removeAll(keepingCapacity: true)
  }

  /// Ends a stretch in the middle of a device and copies the device's state, so that the arena can be reused.
  private func endStretchOfDevice() throws {
    core.noteLate(&rules.output.late)
    takeOwners()
    try endStretch()
    // Held events (``HeldSessionEvents``) do not use the arena.
    let held = rules.state.heldSessionEvents
    rules.state.heldSessionEvents = HeldSessionEvents()
    let bytes = rules.state.encoded()
    core.arena.reset()
    rules.state = try unsafe DeviceState(decoding: core.copied(bytes))
    rules.state.heldSessionEvents = held
    uses.append((rules.state.device, 0))
  }

  func encode() -> EventBlocks? {
    guard !events.isEmpty else { return nil }
    let encoded = unsafe events.withUnsafeBufferPointer { events in
      let places = core.order.places(
        events.count, timestamp: { unsafe events[$0].timestamp },
        precedes: { unsafe Event.precedes(events[$0], events[$1]) })
      return unsafe core.encoder.encode(events, at: places)
    }
    events.removeAll(keepingCapacity: true)
    return encoded
  }
}

/// Counts events by campaign name and time until the counts are moved to the tally.
private struct CampaignCounter: ~Copyable {
  /// The attribute that names an event's campaign; its memory must outlive this counter.
  let attribute: Text
  private var campaigns = NumberedNames()
  private var times: [TimeCounts] = []

  init(attribute: Text) { self.attribute = attribute }

  /// Returns the number of a campaign, which is valid until ``takeCounts(into:isLast:)``.
  mutating func number(of campaign: Text) -> Int {
    let (number, isNew) = campaigns.number(of: campaign)
    if isNew { times.append(TimeCounts()) }
    return number
  }

  mutating func count(_ number: Int, at instant: Instant) { times[number].add(instant) }

  /// Moves the counts into the tally at the end, and whenever there are too many campaigns to keep.
  mutating func takeCounts(into tally: inout ProcessingTally, isLast: Bool) {
    guard isLast || campaigns.count > NumberedNames.limit else { return }
    for (number, times) in times.enumerated() { tally.activity.campaign(campaigns[number]) { $0.events += times } }
    campaigns.removeAll()
    times.removeAll(keepingCapacity: true)
  }
}

/// Recognizes the events that are steps of a campaign, and the records of an app in use.
private struct CampaignStepCodes {
  /// The codes of all kinds of events, each with its step; nil if it is none. A goal also has a goal name.
  let codes: [(code: Text, step: CampaignStep?)]
  private let received: Text
  let goal: Text

  init(_ settings: RuleSettings) {
    let steps: [EventKind: CampaignStep] = [
      .receivedNotification: .received, .openedNotification: .opened, .sessionEnded: .sessions, .goalCompleted: .goals,
    ]
    // Kinds may share a code, and the first in this order counts.
    let kinds = EventKind.allCases.sorted { steps[$0]?.rawValue ?? .max < steps[$1]?.rawValue ?? .max }
    codes = kinds.map { kind in
      let code = settings.codes[kind].code
      return (code, kinds.first { settings.codes[$0].code == code }.flatMap { steps[$0] })
    }
    received = settings.codes[.receivedNotification].code
    goal = settings.fields[.goalName]
  }

  /// Returns whether the record shows that somebody used the app (``RecordType/isUse``).
  func isUse(_ entry: RecordEntry) -> Bool {
    guard let type = RecordType(rawValue: entry.type) else { return false }
    return type.isUse ?? (received.isEmpty || received != Record(entry).subject ?? .empty)
  }

  /// Returns the place of the code; nil if it is of no kind.
  func place(of code: Text) -> Int? {
    // Most events have the very text of the settings.
    codes.firstIndex { $0.code.isSameMemory(as: code) } ?? codes.firstIndex { $0.code == code }
  }
}

extension Event {
  /// Returns the value of a non-core attribute; nil if it is missing or empty.
  fileprivate func value(of name: Text) -> Text? {
    for place in unsafe attributes.indices {
      let attribute = unsafe attributes[place]
      if attribute.name == name { return attribute.value.isEmpty ? nil : attribute.value }
    }
    return nil
  }
}

/// The counts of Engage's deciders for the summary, named as in ``ProcessingTally/figures``.
enum EngageFigure: String {
  case sessionsStarted, sessionsEnded, campaignsSet, campaignsExpired, linksInSessions, identityChecks
  case heldForUserId = "waitingForUserId"
  case heldForSamples = "waitingForSamples"
}

extension ProcessingTally {
  /// Adds the rules' output except for its events.
  mutating func add(_ output: RuleOutput) {
    for instant in output.sessionStarts { activity.sessionsStarted.add(instant) }
    for end in output.sessionEnds { activity.sessionEnded(at: end.at, after: end.used.wholeSeconds) }
    for set in output.campaignSets {
      activity.campaign(ByteText(set.campaign.name.description)) {
        $0.wasSet(at: set.at, until: set.campaign.expiresAt)
      }
    }
    for campaign in output.campaignExpiries {
      activity.campaign(ByteText(campaign.name.description)) { $0.expired.add(campaign.expiresAt) }
    }
    for warning in output.warnings {
      warnings[warning.kind.rawValue, default: Warnings()].add(at: warning.position) {
        Warnings.Example(device: warning.device, position: warning.position, detail: warning.detail)
      }
    }
    let counts = output.counts
    add(EngageFigure.sessionsStarted, output.sessionStarts.count)
    add(EngageFigure.sessionsEnded, output.sessionEnds.count)
    add(EngageFigure.campaignsSet, output.campaignSets.count)
    add(EngageFigure.campaignsExpired, output.campaignExpiries.count)
    add(EngageFigure.linksInSessions, counts.linksInSessions)
    add(EngageFigure.identityChecks, output.checks.count { $0.instruction == nil })
    add(EngageFigure.heldForUserId, counts.heldForUserId)
    add(EngageFigure.heldForSamples, counts.heldForSamples)
  }
}
