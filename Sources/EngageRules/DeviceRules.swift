package import BatchFoundation

/// Applies all rules to the records of one device after another: a pure function of records, state, settings and the known
/// time.
///
/// The order within a record is fixed (reference formats 3.8): expiry of what is over, device block and ids, release of what
/// waited for the user id, then the record itself. Use is ``begin(_:_:)``, ``announce(until:)``, ``announce(_:)`` for every
/// record that ``RecordType/isSample``, then ``process(_:)`` for every record in order, then ``finish()`` at the end of the input, and
/// ``end()``.
package struct DeviceRules {
  let settings: RuleSettings
  let links: DeepLinkRouter
  /// What only silence decides is decided up to there: what is over by then ends, even if no record follows (reference events 3.3
  /// rule 7). Nil decides nothing by silence.
  package var knownUntil: Instant?
  let arena: Arena
  /// Of the records of the device in this run; decides which events can still wait for samples.
  var lastRecord: Instant?
  /// What earlier runs decided ends before it; records before it are late.
  var processedUntil: Instant?
  /// The automatic 13 of the newest session start, while a link of the same instant may still take its place.
  var openStart: OpenStart?
  /// Whether any plug-in can add something to the events of the device at hand.
  var augmentsDevice: Bool {
    settings.augmentation.looksUpTables || !state.samples.coordinates.isEmpty || !state.samples.places.isEmpty
  }
  /// Consent records of the device that were announced, in the order of time.
  var consentsToCome: [(at: Instant, said: Consent)] = []
  /// Events that waited are on their way out, before the record at hand.
  var isReleasing = false
  /// The record at hand is late.
  var isDecidingLate = false
  /// Whom the device at hand records is in ``output``.
  var ownerIsNoted = false
  /// Samples were announced since the last record.
  var samplesAreNew = false
  /// Where the record at hand stood, for warnings.
  var position = RecordPosition(file: 0, line: 0)
  /// The same as a store knows it, for the events; unknown unless it is set before a record.
  package var source = StoredSource.unknown

  package var state: DeviceState
  package var output = RuleOutput()
  /// Set to have every step explained; costs nothing when nil.
  package var explanation: Explanation?

  /// The id of the device at hand, which its warnings share; nil before the first.
  private var warnedDevice: String?
  /// Of keys of pushes, of all devices.
  var spelling = ParameterSpelling()
  /// Attributes of the last draft, whose memory is for the next one.
  var spareAttributes: [Attribute] = []

  struct OpenStart {
    var at: Instant
    var emission: Int64
  }

  /// - Parameter arena: memory for derived texts; everything in ``output`` and ``state`` refers to it and to the records.
  package init(settings: RuleSettings, links: DeepLinkRouter, knownUntil: Instant?, arena: Arena) {
    self.settings = settings
    self.links = links
    self.knownUntil = knownUntil
    self.arena = arena
    state = DeviceState(device: .empty)
  }

  // MARK: - One device

  /// Starts a device with what earlier runs left of it; nil for one that was never seen.
  package mutating func begin(_ device: Text, _ earlier: DeviceState?) {
    state = earlier ?? DeviceState(device: device)
    processedUntil = state.decidedUntil
    lastRecord = nil
    openStart = nil
    consentsToCome = []
    samplesAreNew = false
    isReleasing = false
    ownerIsNoted = false
    warnedDevice = nil
  }

  /// Takes note of the last record to come; what is due by then is not held for a later run.
  package mutating func announce(until last: Instant) { lastRecord = last }

  /// Takes note of a location, placemark or consent record to come. Samples count for events by their time alone, so all are known
  /// before the first event.
  package mutating func announce(_ record: Record) {
    samplesAreNew = true
    if record.type == .consent {
      announceConsent(record)
    } else if !isLate(record) {
      announceSample(record)
    }
  }

  package mutating func process(_ record: Record) { while !advance(record) {} }

  /// Decides a record, or lets go of some of the many events that waited for it.
  ///
  /// - Returns: whether the record is decided. If it is not, what is in ``output`` may be taken, and the record has to come again.
  package mutating func advance(_ record: Record) -> Bool {
    if !isReleasing {
      if samplesAreNew { dropDeniedSamples() }
      position = record.position
      explanation?.begin(state.summary)
    }
    isReleasing = isLate(record) ? !processLate(record) : !processInOrder(record)
    if !isReleasing {
      explanation?.end("\(record.type)", record.position, at: record.timestamp, state.summary)
    }
    return !isReleasing
  }

  /// Whether it is from before what earlier runs decided of the device.
  private func isLate(_ record: Record) -> Bool { processedUntil.map { record.timestamp < $0 } ?? false }

  /// Whether no record to come can change an event that is in ``output``, so that it may be taken between two records.
  package var isSettled: Bool {
    guard let openStart else { return true }
    return state.lastSeen.map { openStart.at < $0 } ?? false
  }

  /// Ends what is over by the end of the known time.
  package mutating func finish() {
    if let knownUntil {
      explanation?.note("end of input, known until \(knownUntil.rfc3339)")
      expireBySilence(until: knownUntil)
      expireCampaign(at: knownUntil)
    } else {
      explanation?.note("end of input; without asOf, silence decides nothing")
    }
    settleHeld()
    pruneSamples()
    output.counts.waitingForUserId += state.waiting.count
    output.counts.waitingForSamples += state.held.count
    explanation?.end("end", nil, at: nil, state.summary)
  }

  /// Leaves the state to whoever begins with it, whether the input is at its end or not.
  package mutating func end() {
    guard let openStart, openStart.at == state.lastSeen else { return }
    state.awaitedUntil = max(state.awaitedUntil ?? openStart.at, openStart.at)
  }

  // MARK: - One record

  /// - Returns: false if more of what waited is to go first.
  private mutating func processInOrder(_ record: Record) -> Bool {
    if !isReleasing {
      takeOver(record)
      state.emission = max(state.emission, EmissionNumber.begin(at: record.timestamp))
    }
    if record.type == .rawEvent {
      if isDenied { withhold(record) } else { emitRaw(record) }
    } else if isDenied, record.type != .consent {
      withhold(record)
    } else {
      if releases(at: record.timestamp) { return false }
      decide(record)
      // What waited goes out when consent is given as well.
      if record.type == .consent, releases(at: record.timestamp) { return false }
    }
    (state.lastSeen, state.lastKind, state.lastSource) = (record.timestamp, record.kind, source)
    // It is behind whatever silence ended.
    state.silentUntil = nil
    if let silent = state.awaitedUntil, silent < record.timestamp { state.awaitedUntil = nil }
    return true
  }

  /// What its time and its values change, before it is anything itself.
  private mutating func takeOver(_ record: Record) {
    if record.type == .launch, case .active = state.session { pauseAfterCrash() }
    expireSession(at: record.timestamp)
    guard record.type != .rawEvent else { return }
    expireCampaign(at: record.timestamp)
    takeIdentity(of: record)
  }

  private mutating func decide(_ record: Record) {
    let instant = record.timestamp
    if record.type.isLifecycle {
      state.hasLifecycle = true
    } else if countsForSessions(record.type), !state.hasLifecycle, record.type != .deepLink {
      startGapSession(at: instant, link: nil)
    }
    perform(record)
    if countsForSessions(record.type), !state.hasLifecycle { extendGapSession(to: instant) }
  }

  /// Whether gap sessions go by such records (reference decisions 12): by those of push settings only where they have a code.
  private func countsForSessions(_ type: RecordType) -> Bool {
    switch type {
    case .pushEnabled: !settings.codes[.pushEnabled].code.isEmpty
    case .pushDisabled: !settings.codes[.pushDisabled].code.isEmpty
    default: type.becomesEvent
    }
  }

  private mutating func perform(_ record: Record) {
    let instant = record.timestamp
    switch record.type {
    case .launch: launch(at: instant)
    case .foreground: foreground(at: instant)
    case .background, .terminate: pause(at: instant)
    case .deepLink: openLink(record)
    case .identify, .contactList, .program, .optOut, .optIn: check(record)
    case .placemark: noteLocation(record)
    case .location: explainSample(at: instant)
    case .consent: setConsent(record)
    case .setMobileUserId: if record.mobileUserId == nil { explanation?.note("the id is empty: nothing changes") }
    case .rawEvent: emitRaw(record)
    case .namedEvent, .goalCompleted, .goalAbandoned, .localNotification, .localNotificationOpened, .pushReceived,
      .notificationOpened, .custom, .pushEnabled, .pushDisabled:
      storeCampaign(of: record)
      emit(draft(of: record))
    }
  }

  /// Device block and ids of the record; a device without a mobile user id gets one if identity asks for it.
  private mutating func takeIdentity(of record: Record) {
    let wasAutomatic = state.mobileUserIdIsAutomatic
    let before = (user: state.core[.primaryUserId], recipient: state.core[.recipientId])
    state.take(record)
    if settings.generatesMobileUserIds, !state.isUserIdKnown {
      state.core[.primaryUserId] = arena.text(AutomaticMobileUserId.id(of: state.device))
      state.mobileUserIdIsAutomatic = true
      explanation?.note("mobile user id made from the device id (Recipient.enableAutoAnonymousTracking)")
    }
    guard settings.reconcilesIdentities,
      !ownerIsNoted || record.mobileUserId != nil || record.recipientId != nil
    else { return }
    let isNew = !before.user.isEmpty && !Self.isSame(before.user, state.core[.primaryUserId])
    // The recipient that records named is the one of the id before.
    if isNew, record.recipientId == nil { state.core[.recipientId] = .empty }
    guard !ownerIsNoted || isNew || before.user.isEmpty || before.recipient != state.core[.recipientId] else { return }
    ownerIsNoted = true
    noteOwner(record, from: max(state.emission, EmissionNumber.begin(at: record.timestamp)) + 1)
    if isNew, !wasAutomatic {
      explanation?.note("another mobile user id: another person from here on (Recipient.onNewUserId)")
    }
  }

  private static func isSame(_ one: Text, _ other: Text) -> Bool {
    one == other || AutomaticMobileUserId.key(of: one.description) == AutomaticMobileUserId.key(of: other.description)
  }

  /// - Parameter emission: from which on events are the person's; nil for the event of a late record alone.
  mutating func noteOwner(_ record: Record, from emission: Int64?) {
    output.owners.append(
      DecidedOwner(
        position: record.position,
        setup: DeviceSetup(
          device: state.device.description, firstSeen: record.timestamp, fromEmission: emission,
          mobileUserId: state.core[.primaryUserId].description, recipientId: state.core[.recipientId].description)))
  }

  mutating func check(_ record: Record) {
    var ids: [IdentityColumn] = []
    if let body = record.body {
      for member in body.members {
        guard !settings.reservedColumns.contains(FoldedText(member.key)) else {
          warn(.reservedColumn, "ids name '\(member.key.inWarning)', a column that the program writes; left out")
          continue
        }
        guard let value = AttributeText.scalar(member.value, in: arena) else { continue }
        ids.append(IdentityColumn(name: member.key.description, value: value.description))
      }
    }
    output.checks.append(
      DecidedCheck(
        position: record.position,
        check: IdentityCheck(
          device: state.device.description, timestamp: record.timestamp, emission: state.emission,
          instruction: record.instruction, ids: ids, mobileUserId: state.core[.primaryUserId].description,
          anonymousId: state.core[.anonymousId].description,
          recipientId: state.core[.recipientId].description)))
    explanation?.note(
      record.instruction.map { "asks the service: \($0.name)" } ?? "identity check of \(ids.count) columns")
    if case .paused(var pause) = state.session, pause.identityAsOf == nil {
      pause.identityAsOf = state.emission
      state.session = .paused(pause)
    }
    // A number of its own, so that what comes before and after the check can be told apart where no event lies between.
    state.emission += 1
  }

  mutating func warn(_ kind: WarningKind, _ detail: @autoclosure () -> String) {
    let warned = warnedDevice ?? state.device.description
    warnedDevice = warned
    output.warnings.append(
      Warning(kind: kind, device: warned, position: position, detail: detail()))
    explanation?.note("warning \(kind.rawValue): \(detail())")
  }
}

extension RecordType {
  /// What the event of such a record tells; nil where it is none, or has a code of its own.
  var eventKind: EventKind? {
    switch self {
    case .namedEvent: .namedEvent
    case .goalCompleted: .goalCompleted
    case .goalAbandoned: .goalAbandoned
    case .localNotification, .pushReceived: .receivedNotification
    case .localNotificationOpened, .notificationOpened: .openedNotification
    case .pushEnabled: .pushEnabled
    case .pushDisabled: .pushDisabled
    default: nil
    }
  }

  var isLocalNotification: Bool { self == .localNotification || self == .localNotificationOpened }

  var isNotification: Bool { eventKind == .receivedNotification || eventKind == .openedNotification }

  var isLifecycle: Bool {
    switch self {
    case .launch, .foreground, .background, .terminate: true
    default: false
    }
  }

  /// Whether it says who the recipient of the device is, or what is to be done with it.
  var concernsRecipient: Bool {
    switch self {
    case .identify, .contactList, .program, .optOut, .optIn: true
    default: false
    }
  }

  /// Whether the record itself is an event; such records make and extend gap sessions (reference decisions 12).
  var becomesEvent: Bool {
    switch self {
    case .namedEvent, .goalCompleted, .goalAbandoned, .localNotification, .localNotificationOpened, .pushReceived,
      .notificationOpened, .deepLink, .custom, .pushEnabled, .pushDisabled:
      true
    case .launch, .foreground, .background, .terminate, .location, .placemark, .identify, .setMobileUserId, .rawEvent,
      .contactList, .program, .optOut, .optIn, .consent:
      false
    }
  }
}

extension Record {
  /// What it asks to be done with the recipient; nil for an `identify` record.
  fileprivate var instruction: ContactInstruction? {
    ContactInstruction(name: "\(type)", target: subject?.description ?? "")
  }
}

extension DeviceState {
  /// What a record says of device and ids; absent and empty values replace nothing (reference decisions 7).
  @inline(__always)
  mutating func take(_ record: Record) {
    let values = record.deviceValues.values.span
    for slot in values.indices where !values[slot].isEmpty { core.learn(slot, values[slot]) }
    if let text = record.mobileUserId {
      core.learn(CoreAttribute.primaryUserId.rawValue, text)
      mobileUserIdIsAutomatic = false
    }
    if let text = record.anonymousId { core.learn(CoreAttribute.anonymousId.rawValue, text) }
    if let text = record.recipientId { core.learn(CoreAttribute.recipientId.rawValue, text) }
    if let text = record.channelId { channelId = text }
    if let text = record.appKey { appKey = text }
  }
}
