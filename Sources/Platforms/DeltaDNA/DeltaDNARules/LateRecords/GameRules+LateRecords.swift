import BatchFoundation
import DeltaDNAEvents

/// Records older than what an earlier run processed of their device (`Ingest.lateRecords`).
extension GameRules {
  /// A late record speaks for its own instant only: neither session nor phase nor known values are rewound
  /// (`Ingest.lateRecords`). What a player decided about their data holds whenever it is told.
  mutating func processLate() {
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
