package import BatchFoundation

/// Applies all rules to the records of one device after another: a pure function of records, state and settings
/// (reference deltadna 3 to 5).
///
/// A record's effects have a fixed order: the end of a session that is over, the device block, the user, then the
/// record's own effect. Call ``begin(_:_:)``, ``process()`` for every record in order, and ``makeIDs()`` before
/// reading the events. The passage of time alone emits no events; it only measures sessions (``finish(knownUntil:)``).
package struct GameRules {
  let settings: GameSettings
  /// Nil if there is no session configuration.
  let configuration: SessionConfiguration?
  let arena: Arena
  /// The instant of the device's last record in earlier runs; nil if there was none. Records before it are late.
  private var processedUntil: Instant?
  /// The platform and operating system derived from the current device block.
  var client = Client(osName: .empty, standIn: .empty)
  /// The current record; fill it in before calling ``process()``.
  package var record = GameRecord()
  /// The current record's position as the store keeps it, for events. Set it before each record if it is known.
  package var source = StoredSource.unknown
  /// The number of events with each name that were emitted for the current record.
  var named: [(name: Text, count: Int)] = []
  /// Reused memory for the parameters of each event.
  var parameters = ParameterList()
  var responses: [TriggerResponse] = []
  var automatic = AutomaticParameters()
  let canonical: CanonicalView

  package var state: GameState
  /// The last use of the current session before the record.
  var lastUse = Instant(milliseconds: 0)
  package var output = GameOutput()
  /// Makes the ids that events in ``output`` still lack.
  let ids = EventIDs()
  /// Receives an explanation of every step; nil, which costs nothing, if none is wanted.
  package var explanation: Explanation?

  /// - Parameter arena: memory for derived texts; ``output`` and ``state`` refer to it and to the records.
  package init(settings: GameSettings, configuration: SessionConfiguration?, arena: Arena) {
    self.settings = settings
    self.configuration = configuration
    self.arena = arena
    canonical = CanonicalView(dropsEmpty: settings.dropsEmpty, dropsEmptied: settings.dropsEmptied)
    state = GameState(device: .empty)
  }

  /// Starts a device with its state from earlier runs; nil for a new device.
  package mutating func begin(_ device: Text, _ earlier: GameState?) {
    resume(earlier ?? GameState(device: device))
    processedUntil = state.lastSeen
  }

  /// Gives the events in ``output`` their ids; call once for many records.
  package mutating func makeIDs() { ids.make(in: &output.events) }

  /// Continues the current device with a copy of its state in other memory.
  package mutating func resume(_ moved: GameState) {
    state = moved
    automatic = AutomaticParameters()
    client = Client(osName: state.block[.osName], standIn: settings.platform)
  }

  /// Measures the current session, up to its last use, if inactivity has ended it by `knownUntil`; does nothing if
  /// `knownUntil` is nil.
  package mutating func finish(knownUntil: Instant?) {
    guard let knownUntil, let last = state.lastUseOfOpenSession, settings.isOver(knownUntil - last) else { return }
    measureSession(until: last)
  }

  /// The instant that `knownUntil` must exceed for ``finish(knownUntil:)`` to measure the current session. Nil if there
  /// is nothing to measure, or if inactivity never ends sessions.
  package var dueAt: Instant? {
    guard let last = state.lastUseOfOpenSession, settings.sessionTimeout > .zero else { return nil }
    return min(last + settings.sessionTimeout, .last)
  }

  /// Applies the rules to ``record``. Callers fill it in, because a record is too large to copy.
  package mutating func process() {
    named.removeAll(keepingCapacity: true)
    explanation?.begin(state.summary)
    if let processedUntil, record.timestamp < processedUntil {
      processLate()
    } else {
      processInOrder()
      (state.lastSeen, state.lastKind, state.lastSource) = (record.timestamp, record.kind, source)
    }
    explanation?.end(record.type.name, record.position, at: record.timestamp, state.summary)
  }

  // MARK: - One record

  private mutating func processInOrder() {
    // A record proves inactivity up to its instant, as the known time does; whichever comes first measures the session.
    finish(knownUntil: record.timestamp)
    noteLastUse()
    endOpenSessionIfOver()
    state.emission = max(state.emission, EmissionNumber.begin(at: record.timestamp))
    if record.type != .rawUBF { takeDeviceAndUser() }
    perform()
  }

  /// Sets ``lastUse``; called before the record is applied, because applying it may end the session.
  private mutating func noteLastUse() {
    switch state.phase {
    case .away(let since): lastUse = since
    case .open(let last): lastUse = last
    // A launch while the app is in use means that the app had stopped unrecorded.
    case .on: lastUse = record.type == .launch ? state.lastSeen ?? record.timestamp : record.timestamp
    case .off: lastUse = state.lastSeen ?? record.timestamp
    }
  }

  private mutating func takeDeviceAndUser() {
    let values = record.block.values
    for slot in values.indices {
      let value = values.span[slot]
      // Equal values keep their old memory, so that all events of the device share it.
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

  mutating func perform() {
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

  mutating func warn(_ kind: GameWarning.Kind) {
    output.warnings.append(GameWarning(kind: kind, device: state.device, position: record.position))
    explanation?.note("warning \(kind.name)")
  }
}

/// The settings of the rules (reference deltadna 1); their texts must outlive the rules.
package struct GameSettings {
  /// The `sdkVersion` of every event; not empty.
  package var sdkVersion = Text.empty
  /// The default for devices without a recorded value; empty if there is none. The same holds for `clientVersion`.
  package var platform = Text.empty
  package var clientVersion = Text.empty
  package var dropsEmpty = false
  /// Whether objects and arrays in which everything was dropped are dropped too.
  package var dropsEmptied = false
  package var fillsSessionID = false
  /// The name of the event for a deep link; empty if links cause no event.
  package var deepLinkEventName = Text.empty
  package var sendsNewPlayer = false
  package var sendsGameStarted = false
  package var sendsClientDevice = false
  /// The maximum inactivity within a session; zero if inactivity never ends sessions.
  package var sessionTimeout = Milliseconds.zero
  /// Whether all triggers respond to an event rather than only the first.
  package var triggersMultipleActions = false
  /// Whether late records are accepted rather than quarantined.
  package var acceptsLateRecords = false

  package init() {}

  /// Returns whether a session is over after being unused for this long.
  func isOver(_ span: Milliseconds) -> Bool { sessionTimeout > .zero && span > sessionTimeout }

  /// Returns the first instant at which a session last used at `lastUse` is over; nil if it never is.
  package func over(after lastUse: Instant) -> Instant? {
    sessionTimeout > .zero ? min(lastUse + sessionTimeout + Milliseconds(1), .last) : nil
  }
}
