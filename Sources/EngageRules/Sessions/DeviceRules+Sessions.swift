package import BatchFoundation

/// Session rules (reference events 3.3, decisions 4 and 12 to 15).
extension DeviceRules {
  // MARK: - Lifecycle

  mutating func launch(at instant: Instant) {
    if !state.installed {
      state.installed = true
      emitInstalled(at: instant)
    }
    switch state.session {
    case .none: start(at: instant, link: nil)
    case .paused(let pause): resume(pause, at: instant)
    case .active: break
    }
  }

  mutating func foreground(at instant: Instant) {
    switch state.session {
    case .none: start(at: instant, link: nil)
    case .paused(let pause): resume(pause, at: instant)
    case .active: explanation?.note("already in the foreground: nothing changes")
    }
  }

  /// Pauses the session at background or termination; a second pause without a resume replaces the first.
  mutating func pause(at instant: Instant) {
    switch state.session {
    case .none:
      explanation?.note("no session to pause")
    case .active(let start, let accumulated):
      setPause(at: instant, from: start, before: accumulated)
    case .paused(let pause):
      setPause(at: instant, from: pause.segmentStart, before: pause.accumulatedBefore)
    }
  }

  /// Handles a launch during a session (rule 1): the process died without a record, so the session pauses
  /// at the last one.
  mutating func pauseAfterCrash() {
    guard case .active(let start, let accumulated) = state.session, let lastSeen = state.lastSeen else { return }
    explanation?.note(
      "launched without a preceding 'background' or 'terminate' record, so the app is assumed to have stopped at its last record"
    )
    setPause(at: lastSeen, from: start, before: accumulated)
  }

  private mutating func setPause(at instant: Instant, from start: Instant, before: Milliseconds) {
    let expiresAt = min(instant + settings.sessionTimeout, .last)
    let wasPaused = if case .paused = state.session { true } else { false }
    state.session = .paused(
      SessionPause(
        at: instant, segmentStart: start, accumulatedBefore: before,
        accumulated: before + max(instant - start, .zero), expiresAt: expiresAt,
        campaign: state.activeCampaign(at: instant), source: source, startSource: state.sessionSource))
    state.pausedCore = state.core
    let pause = wasPaused ? "this pause replaces the previous one" : "paused"
    explanation?.note("\(pause); the session ends after \(expiresAt.rfc3339) (Session.sessionLifecycleExpiration)")
  }

  private mutating func resume(_ pause: SessionPause, at instant: Instant) {
    state.session = .active(segmentStart: instant, accumulated: pause.accumulated)
    explanation?.note("session resumed")
  }

  // MARK: - Start and end

  /// Begins a session. `link` has the parameters of the link that started it; nil if none did.
  mutating func start(at instant: Instant, link: [Attribute]?) {
    state.session = .active(segmentStart: instant, accumulated: .zero)
    emitStarted(at: instant, link: link)
  }

  /// Rule 0: ends a paused session at the first instant after its expiry. The end takes effect as of the pause.
  mutating func expireSession(at instant: Instant) {
    guard case .paused(let pause) = state.session, instant > pause.expiresAt else { return }
    explanation?.note(
      "session ended as of its pause at \(pause.at.rfc3339), because the app was not used again by \(pause.expiresAt.rfc3339) "
        + "(Session.sessionLifecycleExpiration)")
    end(pause)
  }

  /// Rule 7: ends a session that is over by the known time. Records from before its expiry that are read later are
  /// late.
  mutating func expireBySilence(until known: Instant) {
    guard case .paused(let pause) = state.session else { return }
    expireSession(at: known)
    if case .none = state.session { state.silentUntil = pause.expiresAt }
  }

  /// Ends a paused session, as of its pause.
  mutating func end(_ pause: SessionPause) {
    state.session = .none
    output.sessionEnds.append((pause.at, pause.accumulated))
    if state.isUserIdKnown {
      emitEnd(pause, core: state.pausedCore)
      if let asOf = pause.identityAsOf {
        unsafe output.moments.append(
          IdentityMoment(device: Array(state.device.bytes), emission: state.emission, asOf: asOf))
      }
    } else {
      state.heldSessionEvents.append(.ended(pause, core: state.pausedCore))
      explanation?.note("the session's end event is held until the mobile user id is known")
    }
  }

  private mutating func emitEnd(_ pause: SessionPause, core: CoreTexts) {
    draftEnd(pause, core: core)
    emit()
    output.causes.append((state.emission, pause.startSource))
  }

  mutating func draftEnd(_ pause: SessionPause, core: CoreTexts) {
    startDraft(settings.codes[.sessionEnded].code, at: pause.at, core: core)
    draft.source = pause.source
    let userId = core[.primaryUserId]
    addFields(of: .sessionEnded) { rules, field in
      switch field {
      case .campaign: pause.campaign
      case .activeSeconds: AttributeText.integer(pause.accumulated.wholeSeconds, in: rules.arena)
      case .activeMinutes: AttributeText.integer(pause.accumulated.wholeSeconds / 60, in: rules.arena)
      default: rules.deviceValue(of: field, userId: userId)
      }
    }
  }

  private mutating func emitInstalled(at instant: Instant) {
    guard state.isUserIdKnown else {
      state.heldSessionEvents.append(.installed(source: source))
      explanation?.note("the installed event is held until the mobile user id is known")
      return
    }
    emitInstalled(at: instant, source: source)
  }

  private mutating func emitInstalled(at instant: Instant, source: StoredSource) {
    startDraft(settings.codes[.installed].code, at: instant, core: state.core)
    draft.source = source
    addFields(of: .installed) { $0.value(of: $1, at: instant) }
    emit()
  }

  mutating func emitStarted(at instant: Instant, link: [Attribute]?) {
    output.sessionStarts.append(instant)
    state.sessionSource = source
    explanation?.note("session started")
    guard state.isUserIdKnown else {
      state.heldSessionEvents.append(.started(at: instant, link: link, source: source))
      explanation?.note("the session's start event is held until the mobile user id is known")
      return
    }
    emitStart(at: instant, link: link, sessionStart: instant, source: source)
  }

  /// - Parameter start: The start of the session; earlier than `instant` if the event was held.
  private mutating func emitStart(
    at instant: Instant, link: [Attribute]?, sessionStart start: Instant, source: StoredSource
  ) {
    draftStart(at: instant, link: link)
    draft.source = source
    emit()
    openStart = link == nil ? (at: start, emission: state.emission) : nil
  }

  mutating func draftStart(at instant: Instant, link: [Attribute]?) {
    let kind: EventKind = link == nil ? .sessionStarted : .link
    startDraft(settings.codes[kind].code, at: instant, core: state.core)
    for parameter in link ?? [] { draft.set(parameter.name, parameter.value) }
    addFields(of: kind) { $0.value(of: $1, at: instant) }
  }

  /// Returns an automatic value for an event that no record describes.
  private func value(of field: AutomaticField, at instant: Instant) -> Text? {
    switch field {
    case .campaign: state.activeCampaign(at: instant)
    case .lastCampaign: state.lastCampaign
    default: deviceValue(of: field, userId: state.core[.primaryUserId])
    }
  }

  /// The maximum number of held events released at once.
  static let releasedAtOnce = 1024

  /// If the user id is known, releases held events in order: session starts with the given instant, session ends with
  /// their own (reference decisions 14). Returns whether any are left.
  mutating func releaseHeldEvents(at instant: Instant) -> Bool {
    guard state.isUserIdKnown, !isDenied, !state.heldSessionEvents.isEmpty else { return false }
    if !isReleasing {
      let events = state.heldSessionEvents.count.counted("event")
      explanation?.note("the mobile user id is known; the held events are released (\(events))")
    }
    for event in state.heldSessionEvents.removeFirst(Self.releasedAtOnce, in: arena) {
      switch event {
      case .installed(let source):
        emitInstalled(at: instant, source: source)
      case .started(let start, let link, let source):
        emitStart(at: instant, link: link, sessionStart: start, source: source)
      case .ended(let pause, var core):
        for id in [CoreAttribute.primaryUserId, .anonymousId, .recipientId] { core[id] = state.core[id] }
        emitEnd(pause, core: core)
      }
    }
    return !state.heldSessionEvents.isEmpty
  }

  // MARK: - Gap mode

  /// Starts a session at the first event of a device without lifecycle records (reference decisions 4).
  mutating func startGapSession(at instant: Instant, link: [Attribute]?) {
    guard case .none = state.session else { return }
    emitStarted(at: instant, link: link)
    setPause(at: instant, from: instant, before: .zero)
  }

  /// Extends a gap session, which is a session paused at its last event.
  mutating func extendGapSession(to instant: Instant) {
    guard case .paused(let pause) = state.session else { return }
    setPause(at: instant, from: pause.segmentStart, before: pause.accumulatedBefore)
  }
}

/// The state of a device's session (reference events 3.3).
package enum Session {
  case none
  /// In use since `segmentStart`, after earlier use for the time `accumulated`.
  case active(segmentStart: Instant, accumulated: Milliseconds)
  case paused(SessionPause)
}

/// A paused session, with the values at the pause that the event for the session's end will carry. The device values
/// are kept separately in ``DeviceState/pausedCore``, because they are large and the pause is read with every record.
package struct SessionPause {
  package var at: Instant
  package var segmentStart: Instant
  /// The time of use before the segment that the pause ended; another pause without a resume continues from here.
  package var accumulatedBefore: Milliseconds
  package var accumulated: Milliseconds
  /// The session ends with the first instant after this one.
  package var expiresAt: Instant
  /// The campaign active at the pause, or empty.
  package var campaign: Text
  /// The emission number of the first identity check since the pause; nil if there was none. The event for the
  /// session's end does not carry the result of that check (reference decisions 30).
  package var identityAsOf: Int64?
  /// The place where the pausing record was read, which is also the source of the session's end.
  package var source = StoredSource.unknown
  /// The place where the record that started the session was read.
  package var startSource = StoredSource.unknown
}
