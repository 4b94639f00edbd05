package import BatchFoundation
package import DeltaDNACampaigns
package import DeltaDNAEvents

/// Applies all rules to the records of one device after another: a pure function of records, state and settings
/// (reference deltadna 3 to 5).
///
/// The order within a record is fixed: the end of a session that is over, device block, user, then the record itself. Use is
/// ``begin(_:_:)``, then ``process(_:)`` for every record in order; nothing happens by the clock alone.
package struct GameRules {
  let settings: GameSettings
  /// Nil without a session configuration.
  let configuration: SessionConfiguration?
  let arena: Arena
  /// Newest instant of earlier runs; records before it are late.
  private var processedUntil: Instant?
  /// Of the device block as it holds now.
  var client = Client(osName: .empty, standIn: .empty)
  /// The record at hand, filled in before ``process()``.
  package var record = GameRecord()
  /// Where it was read, as a store knows it, for the events; unknown unless it is set before a record.
  package var source = StoredSource.unknown
  /// Names of the events of the record at hand, with how many there were.
  var named: [(name: Text, count: Int)] = []
  /// Memory that one event after another is put together in.
  var parameters = ParameterList()
  var responses: [TriggerResponse] = []
  var automatic = AutomaticParameters()
  let canonical: CanonicalView

  package var state: GameState
  package var output = GameOutput()
  /// Set to have every step explained; costs nothing when nil.
  package var explanation: GameExplanation?

  /// - Parameter arena: memory for derived texts; everything in ``output`` and ``state`` refers to it and to the records.
  package init(settings: GameSettings, configuration: SessionConfiguration?, arena: Arena) {
    self.settings = settings
    self.configuration = configuration
    self.arena = arena
    canonical = CanonicalView(dropsEmpty: settings.dropsEmpty)
    state = GameState(device: .empty)
  }

  /// Starts a device with what earlier runs left of it; nil for one that was never seen.
  package mutating func begin(_ device: Text, _ earlier: GameState?) {
    resume(earlier ?? GameState(device: device))
    processedUntil = state.lastSeen
  }

  /// Goes on with the device at hand in a state that was moved to other memory.
  package mutating func resume(_ moved: GameState) {
    state = moved
    automatic = AutomaticParameters()
    client = Client(osName: state.block[.osName], standIn: settings.platform)
  }

  package mutating func process(_ record: GameRecord) {
    self.record = record
    process()
  }

  /// Applies the rules to ``record``, which is large and better not copied.
  package mutating func process() {
    named.removeAll(keepingCapacity: true)
    explanation?.begin(state)
    if let processedUntil, record.timestamp < processedUntil {
      processLate()
    } else {
      processInOrder()
      state.lastSeen = record.timestamp
    }
    explanation?.end(record, state)
  }

  // MARK: - One record

  private mutating func processInOrder() {
    if case .open(let last) = state.phase, settings.isOver(record.timestamp - last) {
      let timeout = settings.sessionTimeout.wholeSeconds
      endSession("no event for more than \(timeout) s (DeltaDNA.sessionTimeoutSeconds)")
    }
    if record.type != .rawUBF { takeDeviceAndUser() }
    perform()
  }

  private mutating func takeDeviceAndUser() {
    let told = record.block.values
    for slot in told.indices {
      let value = told.span[slot]
      // The old bytes stay where they are the same: all events of the device share them.
      if value.isEmpty || state.block.values.span[slot] == value { continue }
      state.block.values[slot] = value
      if slot == DeviceSlot.osName.rawValue { client = Client(osName: value, standIn: settings.platform) }
    }
    guard let user = record.userID, state.user != user else { return }
    if !state.user.isEmpty {
      endSession("another user")
      state.crossGameUserID = .empty
      state.lastSession = .empty
    }
    state.user = user
  }

  private mutating func perform() {
    switch record.type {
    case .launch: launch()
    case .foreground: foreground()
    case .background: if state.phase != .off { state.phase = .away(since: record.timestamp) }
    case .terminate: terminate()
    case .newSession: newSession()
    case .gameEvent, .namedEvent, .goalCompleted, .goalAbandoned, .transaction: recordEvent()
    case .imageMessageAction: if !record.isNoAction { recordEvent() }
    case .notificationOpened: recordEvent()
    case .deepLink: if settings.deepLinkEventName.isEmpty { ignore() } else { recordEvent() }
    case .pushToken: registerPushToken()
    case .crossGameUserId: registerCrossGameUserID()
    case .engagement: engage()
    case .setUserId, .setMobileUserId: break
    case .forgetMe: forgetMe()
    case .stopTracking: stopTracking()
    case .consent: setConsent()
    case .clearPersistentData: clearPersistentData()
    case .storedEvent: recordStoredEvent()
    case .pushReceived, .localNotification, .custom, .location, .placemark, .identify, .rawUBF: ignore()
    }
  }

  private mutating func ignore() {
    output.counts.ignored[record.type.rawValue, default: 0] += 1
    warn(.ignored(record.type))
  }

  /// A late record speaks for its own instant only: neither session nor phase nor known values are rewound
  /// (`Ingest.lateRecords`). What a player decided about their data holds whenever it is told.
  private mutating func processLate() {
    guard settings.acceptsLateRecords else {
      output.late.append(record.position)
      explanation?.note("late: older than what an earlier run processed, quarantined (Ingest.lateRecords = quarantine)")
      return
    }
    explanation?.note(
      "late: older than what an earlier run processed, state is not rewound (Ingest.lateRecords = accept)")
    warn(.lateRecord)
    switch record.type {
    case .forgetMe, .stopTracking, .consent: return performForUser()
    case .storedEvent, .engagement: break
    default: guard record.becomesEvent(settings) else { return }
    }
    let kept = state
    if let user = record.userID, user != state.user {
      state.user = user
      state.session = .empty
      state.lastSession = .empty
    }
    for slot in record.block.values.indices where !record.block.values[slot].isEmpty {
      state.block.values[slot] = record.block.values[slot]
    }
    client = Client(osName: state.block[.osName], standIn: settings.platform)
    if state.session.isEmpty { state.session = state.lastSession }
    recordLate()
    let (emission, known) = (state.emission, state.known)
    state = kept
    (state.emission, state.known) = (emission, known)
    client = Client(osName: state.block[.osName], standIn: settings.platform)
  }

  /// The record as of the user that it names, who need not be the one of now.
  private mutating func performForUser() {
    let (user, session, lastSession) = (state.user, state.session, state.lastSession)
    guard let named = record.userID, named != user, !user.isEmpty else { return perform() }
    (state.user, state.session, state.lastSession) = (named, .empty, .empty)
    perform()
    (state.user, state.session, state.lastSession) = (user, session, lastSession)
  }

  private mutating func recordLate() {
    if isBlocked { return block() }
    if let session = record.sessionID {
      state.session = session
    } else if state.session.isEmpty, record.type != .storedEvent || settings.fillsSessionID {
      state.session = record.key.key("sessionID").text(in: arena)
    }
    switch record.type {
    case .engagement: ask(block: nil)
    case .storedEvent:
      let session = record.sessionID ?? (settings.fillsSessionID ? state.session : .empty)
      emitStored(session: session)
      state.known.insert(state.user)
    default: emitOwn()
    }
  }

  mutating func warn(_ kind: GameWarning.Kind) {
    output.warnings.append(GameWarning(kind: kind, device: state.device, position: record.position))
    explanation?.note("warning \(kind.name)")
  }
}

extension GameRecord {
  /// Whether the record would become an event of its own type, whatever is known of its device.
  func becomesEvent(_ settings: GameSettings) -> Bool {
    switch type {
    case .gameEvent, .namedEvent, .goalCompleted, .goalAbandoned, .transaction, .notificationOpened: true
    case .imageMessageAction: !isNoAction
    case .deepLink: !settings.deepLinkEventName.isEmpty
    default: false
    }
  }
}
