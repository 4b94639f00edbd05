import BatchFoundation
import BatchReport
import BatchStore
import EngageRules

/// The session and campaign rows of Engage devices.
struct EngageDeviceRows: DeviceRows {
  let sessionColumns = [
    "device", "session", "mode", "startedAt", "pausedAt", "expiresAt", "usedMilliseconds", "heldEvents", "lastSeen",
  ]

  let campaignColumns = ["device", "campaign", "expiresAt", "active"]

  var campaignNote: String? { nil }

  /// Returns the session row. `startedAt` is the start of the current period of use; `usedMilliseconds` is the time of
  /// use before that start, or up to the pause.
  func session(of device: StoredDevice, _ personal: PersonalData) throws -> SessionRow {
    try unsafe device.state.withUnsafeBytes { bytes in
      let state = try unsafe DeviceState(decoding: bytes)
      var (started, paused, expires): (Instant?, Instant?, Instant?)
      var used: Int64?
      let status: SessionRow.Status
      switch state.session {
      case .none: status = .none
      case .active(let start, let accumulated):
        status = .active
        started = start
        used = accumulated.count
      case .paused(let pause):
        status = .paused
        (started, paused, expires) = (pause.segmentStart, pause.at, pause.expiresAt)
        used = pause.accumulated.count
      }
      return SessionRow(
        status: status, lastSeen: state.lastSeen,
        cells: [
          .text(personal.id(state.device.description).text), .text(status.rawValue),
          .text(state.hasLifecycle ? "lifecycle" : "gap"), .text(started?.rfc3339), .text(paused?.rfc3339),
          .text(expires?.rfc3339), .number(used), .number(state.heldCount),
          .text(state.lastSeen?.rfc3339),
        ])
    }
  }

  func campaign(of device: StoredDevice, at instant: Instant, _ personal: PersonalData) throws -> CampaignRow? {
    try unsafe device.state.withUnsafeBytes { bytes in
      let state = try unsafe DeviceState(decoding: bytes)
      guard let campaign = state.campaign else { return nil }
      let isActive = campaign.isActive(at: instant)
      return CampaignRow(
        name: ByteText(campaign.name.description), expiresAt: campaign.expiresAt, isActive: isActive,
        cells: [
          .text(personal.id(state.device.description).text), .text(campaign.name.description),
          .text(campaign.expiresAt.rfc3339), .flag(isActive),
        ])
    }
  }
}

/// A device's stored state in sentences.
struct StoredDeviceState {
  let lines: [String]

  /// - Parameter known: The store's known time; nil if no run recorded one.
  init(_ stored: StoredDevice, knownUntil known: Instant?) throws {
    lines = try unsafe stored.state.withUnsafeBytes { bytes in
      let state = try unsafe DeviceState(decoding: bytes)
      var lines: [String] = []
      switch state.session {
      case .none: lines.append("no session is open")
      case .active(let start, _): lines.append("a session has been active since \(start.rfc3339)")
      case .paused(let pause):
        lines.append(
          "a session has been paused since \(pause.at.rfc3339); unless the app is used again, the session ends with the first "
            + "record or run after \(pause.expiresAt.rfc3339)"
        )
      }
      if let campaign = state.campaign {
        let isOver = [state.lastSeen, known].compactMap { $0 }.max().map { !campaign.isActive(at: $0) } ?? false
        lines.append(
          "campaign '\(campaign.name.description.printable)' "
            + (isOver ? "expired at" : "is active until") + " \(campaign.expiresAt.rfc3339)")
      }
      if state.consent.isDenied {
        lines.append("consent is denied: the device's data is not sent until consent is given")
      }
      if !state.waiting.isEmpty {
        lines.append(
          state.waiting.count.counted("session event is", "session events are")
            + " pending (HOLD) until a record contains a mobile user id, or until 'identity' is true and "
            + "Recipient.enableAutoAnonymousTracking is enabled")
      }
      if !state.held.isEmpty {
        lines.append(
          state.held.count.counted("event is", "events are")
            + " pending (HOLD) until the next run, because a location may still arrive (Augmentation.augmentationTimeout)"
        )
      }
      lines.append(
        state.hasLifecycle
          ? "the device's exports have lifecycle records, which define sessions"
          : "the device's exports have no lifecycle records, so gaps between events define sessions")
      return lines
    }
  }
}
