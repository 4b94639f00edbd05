package import BatchFoundation

/// Everything the rules remember about a device between records and, encoded, between runs. Its texts point into the
/// device's records or the bytes from which it was decoded; ``encoded()`` and ``init(decoding:)`` carry the state from
/// run to run.
package struct DeviceState {
  /// The current device block and ids; the device id is set once.
  package var core = CoreTexts()
  /// The ids by which Acoustic's mobile SDKs know the installation and the app; empty until a record names them.
  package var channelId = Text.empty
  package var appKey = Text.empty
  /// Whether the mobile user id was generated here, so that it yields to a recorded one (reference decisions 15).
  package var mobileUserIdIsAutomatic = false
  /// Whether a lifecycle record was seen, which ends gap mode permanently (reference decisions 4).
  package var hasLifecycle = false
  package var installed = false
  package var consent = Consent()
  package var session = Session.none
  /// The device block and ids as of the last pause, which the event for a session's end carries (reference decisions
  /// 15).
  package var pausedCore = CoreTexts()
  /// The place where the record that started the last session was read.
  package var sessionSource = StoredSource.unknown
  package var heldSessionEvents = HeldSessionEvents()
  package var campaign: Campaign?
  /// The instant of the latest record of any type.
  package var lastSeen: Instant?
  /// The kind of the last record at that instant.
  package var lastKind = InputKind.events
  package var lastSource = StoredSource.unknown
  /// The end of the inactivity that ended the last session; nil if the latest record came later or ended the session.
  package var silentUntil: Instant?
  /// The end of the latest hold that expired before the awaited record arrived: a sample, or a link at the instant of a
  /// session's start. Nil if that end is not after the latest record.
  package var awaitedUntil: Instant?
  /// The last emission number used or, if higher, the number after which those for the last record start.
  package var emission: Int64 = 0
  package var samples = LocationSamples()
  /// Events whose samples may still come, oldest first.
  package var held: [HeldEvent] = []

  package init(device: Text) { core[.deviceId] = device }

  package var device: Text { core[.deviceId] }

  /// The instant before which records are late: the latest record, or the end of the inactivity after it that ended a
  /// session (reference decisions 34).
  package var processedUntil: Instant? {
    guard let lastSeen, let silentUntil else { return lastSeen }
    return max(lastSeen, min(silentUntil + Milliseconds(1), .last))
  }

  /// The end of other inactivity on which results rely: a campaign expired, or an event was emitted without the record
  /// for which it was held. A record before that end would contradict these results. Nil if there is none.
  package var otherSilence: Instant? {
    guard let lastSeen else { return nil }
    var silence: Instant?
    if let campaign, campaign.expiryWasSeen { silence = campaign.expiresAt }
    if let awaitedUntil { silence = max(silence ?? lastSeen, min(awaitedUntil + Milliseconds(1), .last)) }
    return silence.flatMap { $0 > lastSeen ? $0 : nil }
  }

  /// The first instant at which inactivity can end the paused session; nil if no session is paused.
  package var openUntil: Instant? {
    guard case .paused(let pause) = session else { return nil }
    return min(pause.expiresAt + Milliseconds(1), .last)
  }

  /// Whether the mobile user id is known, so that automatic events are emitted at once.
  package var isUserIdKnown: Bool { !core[.primaryUserId].isEmpty }

  package func activeCampaign(at instant: Instant) -> Text {
    guard let campaign, campaign.isActive(at: instant) else { return .empty }
    return campaign.name
  }

  /// The most recently stored campaign, active or not; empty if there is none.
  package var lastCampaign: Text { campaign?.name ?? .empty }

  /// The next instant at which the clock alone changes something: the end of a session, the expiry of a campaign, or
  /// the deadline of a held event. Nil if nothing is due.
  package var dueAt: Instant? {
    var due: Instant?
    func consider(_ instant: Instant) { due = due.map { min($0, instant) } ?? instant }
    if case .paused(let pause) = session { consider(pause.expiresAt) }
    if let campaign, !campaign.expiryWasSeen { consider(campaign.expiresAt) }
    for event in held { consider(event.deadline) }
    return due
  }

  /// The number of events that the state holds (status `HOLD`) for the user id or a sample.
  package var heldCount: Int { heldSessionEvents.count + held.count }
}

/// An event whose augmentation is still open at the end of a run.
package struct HeldEvent {
  package var draft: EventDraft
  package var emission: Int64
  package var deadline: Instant
}

extension DeviceState {
  /// The state on one line, for explanations and listings.
  package var summary: String {
    var parts: [String] = []
    switch session {
    case .none: parts.append("no session")
    case .active(let start, let accumulated):
      parts.append("session active since \(start.rfc3339), after \(accumulated.count) ms of use")
    case .paused(let pause):
      parts.append("session paused at \(pause.at.rfc3339), after \(pause.accumulated.count) ms of use")
    }
    if let campaign {
      parts.append("campaign \"\(campaign.name)\" until \(campaign.expiresAt.rfc3339)")
    } else {
      parts.append("no campaign")
    }
    parts.append(isUserIdKnown ? "user id known" : "user id unknown")
    if consent.isDenied { parts.append("consent denied") }
    if !heldSessionEvents.isEmpty { parts.append("\(heldSessionEvents.count) pending") }
    if !held.isEmpty { parts.append("\(held.count) held") }
    parts.append(hasLifecycle ? "lifecycle rules" : "gap mode")
    return parts.joined(separator: "; ")
  }
}

extension EventDraft {
  var explained: String {
    let named = others.sorted { $0.name < $1.name }.map { "\($0.name)=\"\($0.value)\"" }.joined(separator: ", ")
    return "\(code) at \(timestamp.rfc3339) [\(named)]\(expired ? " (EXPIRED)" : "")"
  }
}
