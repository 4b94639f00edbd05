import BatchFoundation
import BatchReport
import BatchStore
import GameRules

extension GameCommands {
  var sessionColumns: [String] {
    ["device", "userID", "session", "sessionID", "phase", "since", "optedOut", "use", "export", "lastSeen"]
  }

  var campaignNote: String? {
    "a game's campaigns respond to events and are not tied to a device; 'store events --type ddnaEventTriggeredAction' lists the responses"
  }

  /// Returns the session row. `since` is the time when the app went to the background, or the time of the
  /// last event of an open session. `use` and `export` are empty if no record stated them.
  func session(of device: StoredDevice, _ personal: PersonalData) throws -> SessionRow {
    try unsafe device.state.withUnsafeBytes { bytes in
      let state = try unsafe GameState(decoding: bytes)
      var status: SessionRow.Status = state.session.isEmpty ? .none : .active
      let phase: String
      var since: Instant?
      switch state.phase {
      case .off: phase = "off"
      case .on: phase = "on"
      case .away(let instant):
        phase = "away"
        since = instant
        if status == .active { status = .paused }
      case .open(let last):
        phase = "open"
        since = last
      }
      return SessionRow(
        status: status, lastSeen: state.lastSeen,
        cells: [
          .text(personal.id(state.device.description).text), .text(personal.id(state.user.description).text),
          .text(status.rawValue), .text(state.session.isEmpty ? nil : state.session.description), .text(phase),
          .text(since?.rfc3339), .flag(state.isOptedOut), .flag(state.use),
          .flag(state.export), .text(state.lastSeen?.rfc3339),
        ])
    }
  }

  func campaign(of device: StoredDevice) -> DeviceCampaign? { nil }
}
