package import BatchFoundation
package import BatchStore

/// Applies all rules to the records of one device after another: a pure function of records, state, settings and the
/// known time.
///
/// The order within a record is fixed (reference formats 3.8): expiry of the session and campaign if they are over,
/// device block and ids, release of events held for the user id, then the record itself. Call ``begin(_:)``,
/// ``announce(until:)``, ``announce(_:)`` for every sample (``RecordType/isSample``), ``process(_:)`` for every record
/// in order, ``finish()`` at the end of the input, and ``end()``.
package struct DeviceRules {
  let settings: RuleSettings
  let links: DeepLinkRouter
  /// The instant up to which inactivity counts: sessions, campaigns and holds that are over by then end even if no
  /// record follows (reference events 3.3 rule 7). If nil, inactivity ends nothing.
  package var knownUntil: Instant?
  let arena: Arena
  /// The instant of the device's last record in this run, which determines which events can still be held for samples.
  var lastRecord: Instant?
  /// The end of the time that earlier runs processed; records before it are late.
  var processedUntil: Instant?
  /// The event for the latest automatic session start, as long as a link at the same instant may still replace it.
  var openStart: (at: Instant, emission: Int64)?
  /// Whether any plug-in can add attributes to the events of the current device.
  var augmentsDevice: Bool {
    settings.augmentation.looksUpTables || !state.samples.coordinates.isEmpty || !state.samples.places.isEmpty
  }
  /// The announced consent records of the device, in time order.
  var consentsToCome: [(at: Instant, consent: Consent)] = []
  /// Whether held events are being released before the current record.
  var isReleasing = false
  /// Whether the current record is late.
  var isDecidingLate = false
  /// Whether the owner of the current device is already in ``output``.
  var ownerIsNoted = false
  /// Whether samples were announced since the last record.
  var samplesAreNew = false
  /// The position of the current record, for warnings.
  var position = RecordPosition(file: 0, line: 0)
  /// The stored position of the current record, for events; unknown unless the caller sets it before processing the
  /// record.
  package var source = StoredSource.unknown

  /// Returns the source of a record, for results that outlive the run; nil if it is not kept.
  package var recordSource: (RecordPosition) -> RecordSource? = { _ in nil }

  package var state: DeviceState
  package var output = RuleOutput()
  /// Receives an explanation of every step; nil, which costs nothing, if none is wanted.
  package var explanation: Explanation?

  /// The id of the current device, shared by its warnings; nil before the first warning.
  private var warnedDevice: String?
  /// The search for misspelled push keys; all devices share its cache.
  var spelling = ParameterSpelling()
  /// The event under construction; each draft is built in place, because an event is large.
  var draft = EventDraft(code: .empty, timestamp: Instant(milliseconds: 0), core: CoreTexts())

  /// - Parameter arena: The memory for derived texts; ``output`` and ``state`` refer to it and to the records.
  package init(settings: RuleSettings, links: DeepLinkRouter, knownUntil: Instant?, arena: Arena) {
    self.settings = settings
    self.links = links
    self.knownUntil = knownUntil
    self.arena = arena
    state = DeviceState(device: .empty)
  }

  // MARK: - One device

  /// Starts a device with its state from earlier runs, or with a new one.
  package mutating func begin(_ earlier: consuming DeviceState) {
    // A state is large: each further copy costs as much as a record.
    state = earlier
    processedUntil = state.processedUntil
    lastRecord = nil
    openStart = nil
    consentsToCome = []
    samplesAreNew = false
    isReleasing = false
    ownerIsNoted = false
    warnedDevice = nil
  }

  /// Registers the instant of the device's last record; events whose deadline is before it are not held for a later
  /// run.
  package mutating func announce(until last: Instant) { lastRecord = last }

  /// Registers an upcoming location, placemark or consent record; all must be registered before the first event.
  package mutating func announce(_ record: Record) {
    samplesAreNew = true
    if record.type == .consent {
      announceConsent(record)
    } else if !isLate(record) {
      announceSample(record)
    }
  }

  /// Processes a record or, if it releases many held events, releases some of them.
  ///
  /// - Returns: Whether the record is done. If not, ``output`` may be taken, and the record must be passed again.
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

  private func isLate(_ record: Record) -> Bool { processedUntil.map { record.timestamp < $0 } ?? false }

  /// Whether no future record can change an event in ``output``, so that the output may be taken between two records.
  package var isSettled: Bool {
    guard let openStart else { return true }
    return state.lastSeen.map { openStart.at < $0 } ?? false
  }

  /// Ends the session, campaign and holds that are over by the known time.
  package mutating func finish() {
    if let knownUntil {
      explanation?.note("end of input; the known time is \(knownUntil.rfc3339)")
      expireBySilence(until: knownUntil)
      expireCampaign(at: knownUntil)
    } else {
      explanation?.note("end of input; without asOf, nothing expires")
    }
    settleHeld()
    pruneSamples()
    output.counts.heldForUserId += state.heldSessionEvents.count
    output.counts.heldForSamples += state.held.count
    explanation?.end("end", nil, at: nil, state.summary)
  }

  /// Prepares the state for the run that continues from it, whether or not the input has ended.
  package mutating func end() {
    guard let openStart, openStart.at == state.lastSeen else { return }
    state.awaitedUntil = max(state.awaitedUntil ?? openStart.at, openStart.at)
  }

  /// Appends the encoded state to `states`.
  package mutating func appendState(to states: inout DeviceStates) {
    // The state itself in the closure would be copied.
    let (device, held, due) = (state.device, state.heldCount, state.dueAt)
    unsafe state.withEncoded {
      unsafe states.append(
        device: device, version: Int(DeviceState.format), held: held, due: due,
        state: $0.assumingMemoryBound(to: UInt8.self))
    }
  }

  // MARK: - One record

  /// - Returns: False if more held events must be released first.
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
      if releaseHeldEvents(at: record.timestamp) { return false }
      decide(record)
      // Held events are also released when consent is given.
      if record.type == .consent, releaseHeldEvents(at: record.timestamp) { return false }
    }
    (state.lastSeen, state.lastKind, state.lastSource) = (record.timestamp, record.kind, source)
    // The record ends any inactivity before it.
    state.silentUntil = nil
    if let silent = state.awaitedUntil, silent < record.timestamp { state.awaitedUntil = nil }
    return true
  }

  /// Applies the effects of the record's time and values, before those of its type.
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

  /// Returns whether the type counts for gap sessions (reference decisions 12); push settings count only if they have a
  /// code.
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
      draftEvent(of: record)
      emit()
    }
  }

  /// Takes over the device block and ids from the record, and generates a mobile user id if required.
  private mutating func takeIdentity(of record: Record) {
    let wasAutomatic = state.mobileUserIdIsAutomatic
    let before = (user: state.core[.primaryUserId], recipient: state.core[.recipientId])
    state.take(record)
    if settings.generatesMobileUserIds, !state.isUserIdKnown {
      state.core[.primaryUserId] = arena.text(AutomaticMobileUserId.id(of: state.device))
      state.mobileUserIdIsAutomatic = true
      explanation?.note("mobile user id generated from the device id (Recipient.enableAutoAnonymousTracking)")
    }
    guard settings.reconcilesIdentities,
      !ownerIsNoted || record.mobileUserId != nil || record.recipientId != nil
    else { return }
    let isNew = !before.user.isEmpty && !Self.isSame(before.user, state.core[.primaryUserId])
    // The recorded recipient belongs to the previous id.
    if isNew, record.recipientId == nil { state.core[.recipientId] = .empty }
    guard !ownerIsNoted || isNew || before.user.isEmpty || before.recipient != state.core[.recipientId] else { return }
    ownerIsNoted = true
    noteOwner(record, from: max(state.emission, EmissionNumber.begin(at: record.timestamp)) + 1)
    if isNew, !wasAutomatic {
      explanation?.note(
        "a different mobile user id: another person or a new id of the same person (Recipient.onNewUserId)")
    }
  }

  private static func isSame(_ one: Text, _ other: Text) -> Bool {
    one == other || AutomaticMobileUserId.key(of: one.description) == AutomaticMobileUserId.key(of: other.description)
  }

  /// - Parameter emission: The emission number from which events belong to the person; nil if only the event of a late
  ///   record does.
  mutating func noteOwner(_ record: Record, from emission: Int64?) {
    output.owners.append(
      DeviceSetup(
        device: state.device.description, firstSeen: record.timestamp, fromEmission: emission,
        mobileUserId: state.core[.primaryUserId].description, recipientId: state.core[.recipientId].description,
        source: recordSource(record.position)))
  }

  mutating func check(_ record: Record) {
    var ids: [ColumnValue] = []
    if let body = record.body {
      for member in body.members {
        guard !settings.reservedColumns.contains(FoldedText(member.key)) else {
          warn(
            .reservedColumn,
            "the ids contain the column '\(member.key.inWarning)', which the program itself writes; left out")
          continue
        }
        guard !member.value.isOfNobody, let value = AttributeText.scalar(member.value, in: arena) else { continue }
        ids.append(ColumnValue(member.key.description, value.description))
      }
    }
    output.checks.append(
      IdentityCheck(
        device: state.device.description, timestamp: record.timestamp, emission: state.emission,
        instruction: record.instruction, ids: ids, mobileUserId: state.core[.primaryUserId].description,
        anonymousId: state.core[.anonymousId].description, recipientId: state.core[.recipientId].description,
        source: recordSource(record.position)))
    explanation?.note(
      record.instruction.map { "request to the service: \($0.name)" }
        ?? "identity check; number of columns: \(ids.count)")
    if case .paused(var pause) = state.session, pause.identityAsOf == nil {
      pause.identityAsOf = state.emission
      state.session = .paused(pause)
    }
    // The check takes its own number, so that the order around it is clear even if there is no event in between.
    state.emission += 1
  }

  mutating func warn(_ kind: WarningKind, _ detail: @autoclosure () -> String) {
    add(Warning(kind: kind, device: nameOfDevice(), position: position, detail: detail()))
  }

  /// Warns about an attribute that is an array or an object.
  mutating func warn(ofNested name: Text, in place: StaticString) {
    add(Warning(device: nameOfDevice(), position: position, nested: name, in: place))
  }

  private mutating func add(_ warning: Warning) {
    output.warnings.append(warning)
    explanation?.note("warning \(warning.kind.rawValue): \(warning.detail)")
  }

  private mutating func nameOfDevice() -> String {
    let name = warnedDevice ?? state.device.description
    warnedDevice = name
    return name
  }
}

extension RecordType {
  /// The kind of the record's event; nil if the record is not an event, or has its own code.
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

  /// Whether the record identifies the recipient of the device or requests a change to it.
  var concernsRecipient: Bool {
    switch self {
    case .identify, .contactList, .program, .optOut, .optIn: true
    default: false
    }
  }

  /// Whether the rules make an event from the record; raw events are passed through instead. Only such records start
  /// and extend gap sessions (reference decisions 12).
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
  /// The change requested for the recipient; nil for an `identify` record.
  fileprivate var instruction: ContactInstruction? {
    ContactInstruction(name: "\(type)", target: subject?.description ?? "")
  }
}

extension DeviceState {
  /// Takes over the record's device values and ids; absent or empty values replace nothing (reference decisions 7).
  @inline(__always)
  mutating func take(_ record: Record) {
    let values = record.deviceValues.values
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
