import BatchFoundation

/// Phases and sessions (reference deltadna 4).
extension GameRules {
  /// Whether denied consent or opting out forbids events and sessions.
  var isBlocked: Bool { state.isDenied || state.isOptedOut }

  /// Ends a session that an event began if more than the timeout has passed since the session's last event.
  mutating func endOpenSessionIfOver() {
    guard case .open(let last) = state.phase, settings.isOver(record.timestamp - last) else { return }
    let timeout = settings.sessionTimeout.wholeSeconds
    endSession("no event for more than \(timeout) s (DeltaDNA.sessionTimeoutSeconds)")
  }

  mutating func launch() {
    let continues = if case .open = state.phase { true } else { false }
    state.phase = .on
    if continues {
      explanation?.note("this launch belongs to the session that began with an event")
    } else if !isBlocked {
      start()
    }
  }

  mutating func foreground() {
    let before = state.phase
    state.phase = .on
    if isBlocked { return }
    if state.session.isEmpty {
      start()
    } else if case .away(let since) = before, settings.isOver(record.timestamp - since) {
      explanation?.note("away too long (DeltaDNA.sessionTimeoutSeconds)")
      beginSession()
    }
  }

  mutating func terminate() {
    endGame("the app was terminated")
    state.phase = .off
  }

  mutating func newSession() {
    if isBlocked { return }
    if state.session.isEmpty { start() } else { beginSession() }
    keepOpen()
  }

  /// Starts a session and emits the events of an app start.
  mutating func start() {
    makeUser()
    beginSession()
    let isNew = state.known.insert(state.user)
    if isNew, settings.sendsNewPlayer { emitNewPlayer() }
    if settings.sendsGameStarted { emitGameStarted() }
    if settings.sendsClientDevice { emitClientDevice() }
  }

  /// Begins a session with a new `sessionID`, without emitting start events.
  mutating func beginSession() {
    setSession(record.key.uuid("sessionID").text(in: arena))
    output.sessionStarts.append(record.timestamp)
    explanation?.note("new session \(state.session)")
  }

  mutating func setSession(_ session: Text) {
    measureSession(until: lastUse)
    state.sessionBegan = record.timestamp
    state.session = session
    state.lastSession = session
    // Clears the counted responses of the previous session, even if no trigger is evaluated in this one.
    if !state.triggers.isEmpty { state.triggers.enter(session) }
  }

  /// Starts a session for an event if there is none, and extends a session that only events keep open.
  mutating func enterSession() {
    if state.session.isEmpty { start() }
    keepOpen()
  }

  mutating func keepOpen() {
    switch state.phase {
    case .off, .open: state.phase = .open(last: record.timestamp)
    case .on, .away: break
    }
  }

  /// Records the length of the current session, unless it is already recorded.
  mutating func measureSession(until end: Instant) {
    guard let began = state.sessionBegan else { return }
    output.sessionLengths.append(max(end - began, .zero))
    state.sessionBegan = nil
  }

  /// Ends the session without an event.
  mutating func endSession(_ reason: @autoclosure () -> String) {
    guard !state.session.isEmpty else { return }
    explanation?.note("session ends: \(reason())")
    measureSession(until: lastUse)
    state.session = .empty
    if case .open = state.phase { state.phase = .off }
  }

  /// Ends the session, if there is one, with `gameEnded`.
  mutating func endGame(_ reason: @autoclosure () -> String) {
    guard !state.session.isEmpty else { return }
    emitGameEnded()
    if case .away = state.phase { measureSession(until: lastUse) } else { measureSession(until: record.timestamp) }
    output.sessionEnds.append(record.timestamp)
    endSession(reason())
  }
}
