import BatchFoundation

/// Late records (reference decisions 34) that BatchPipeline's `Rewind` could not put back into their night.
extension GameRules {
  /// Processes a late record, which takes effect only at its own instant: finished sessions and known values stay
  /// unchanged. A player's privacy choices apply from the moment they are read.
  mutating func processLate() {
    guard settings.acceptsLateRecords else {
      output.late.append(record.position)
      explanation?.note("late: before the last processed record, quarantined (Ingest.lateRecords = quarantine)")
      return
    }
    explanation?.note(
      "late: before the last processed record, outside sessions (Ingest.lateRecords = accept)")
    warn(.lateRecord)
    switch record.type {
    case .forgetMe, .stopTracking, .consent: return performForUser()
    case .storedEvent, .engagement: break
    default: guard record.becomesEvent(settings) else { return }
    }
    let kept = state
    if let user = record.userID { state.user = user }
    (state.session, state.lastSession) = (.empty, .empty)
    for slot in record.block.values.indices where !record.block.values[slot].isEmpty {
      state.block.values[slot] = record.block.values[slot]
    }
    client = Client(osName: state.block[.osName], standIn: settings.platform)
    recordLate()
    let (emission, known) = (state.emission, state.known)
    state = kept
    (state.emission, state.known) = (emission, known)
    client = Client(osName: state.block[.osName], standIn: settings.platform)
  }

  /// Applies the record to the user that it names, without making that user the current one.
  private mutating func performForUser() {
    let (user, session, lastSession) = (state.user, state.session, state.lastSession)
    guard let named = record.userID, named != user, !user.isEmpty else { return perform() }
    (state.user, state.session, state.lastSession) = (named, .empty, .empty)
    perform()
    (state.user, state.session, state.lastSession) = (user, session, lastSession)
  }

  private mutating func recordLate() {
    if isBlocked { return block() }
    makeUser()
    if let session = record.sessionID {
      state.session = session
    } else if record.type != .storedEvent || settings.fillsSessionID {
      state.session = record.key.uuid("sessionID").text(in: arena)
    }
    switch record.type {
    case .engagement: ask(block: nil)
    case .storedEvent:
      emitStored(session: state.session)
      state.known.insert(state.user)
    default: emitOwn()
    }
  }
}

extension GameRecord {
  /// Returns whether the record becomes an event of its own, regardless of the device's state.
  func becomesEvent(_ settings: GameSettings) -> Bool {
    switch type {
    case .gameEvent, .namedEvent, .goalCompleted, .goalAbandoned, .transaction, .notificationOpened: true
    case .imageMessageAction: !isNoAction
    case .deepLink: !settings.deepLinkEventName.isEmpty
    default: false
    }
  }
}
