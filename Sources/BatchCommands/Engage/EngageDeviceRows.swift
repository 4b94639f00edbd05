import BatchFoundation
import BatchReport
import BatchStore
import EngageRules

extension EngageCommands {
  var sessionColumns: [String] {
    ["device", "session", "mode", "startedAt", "pausedAt", "expiresAt", "usedMilliseconds", "heldEvents", "lastSeen"]
  }

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

  func campaign(of device: StoredDevice) throws -> DeviceCampaign? {
    try unsafe device.state.withUnsafeBytes { bytes in
      try unsafe DeviceState(decoding: bytes).campaign.map {
        DeviceCampaign(name: $0.name.description, expiresAt: $0.expiresAt)
      }
    }
  }
}
