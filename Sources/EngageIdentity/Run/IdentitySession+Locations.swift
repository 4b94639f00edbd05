import EngageModel
import EngageStore

extension IdentitySession {
  /// Writes the newest place of each device to its recipient (spec engage-events 5.4). Nothing is sent for a device that has no
  /// id; its place waits until it has one.
  func writeLocations() throws {
    let pending = try store.pendingLocations()
    if pending.isEmpty || log.hasEnded { return }
    let schedule = CheckSchedule(keys: pending.map { [$0.device] })
    onThreads(min(threads, pending.count)) {
      while let index = schedule.take() {
        do {
          try write(pending[index])
        } catch let failure as RemoteFailure {
          log.fail(failure)
        } catch {
          log.fail(error)
        }
        schedule.finish(index)
        if log.hasEnded { schedule.stop() }
      }
    }
  }

  private func write(_ location: LastKnownLocation) throws {
    let known = try store.device(location.device)?.identity
    let recipient = known?.recipientId ?? location.recipientId
    let user = known?.mobileUserId ?? location.mobileUserId
    let columns = [
      IdentityColumn(name: settings.locations.address, value: location.address.isEmpty ? "UNKNOWN" : location.address),
      IdentityColumn(
        name: settings.locations.time, value: settings.locations.timeFormat?.format(location.at) ?? location.at.rfc3339),
    ]
    do {
      guard try send(columns, recipient: recipient, user: user) else { return }
      log.count { $0.locations += 1 }
    } catch {
      switch error {
      case .absent: break  // The recipient is gone: there is nothing to write the place to.
      case .refused, .exists: return log.count { $0.conflicts += 1 }
      case .uncertain, .stopped, .interrupted: throw error
      }
    }
    try reconciler.journal { try store.finishLocation(location) }
  }

  /// Both columns are set to fixed values, so the update may be repeated.
  ///
  /// - Returns: false when there is no id to send it to.
  private func send(
    _ columns: [IdentityColumn], recipient: String, user: String
  ) throws(RemoteFailure) -> Bool {
    let remote = remote
    switch settings.locations.addressing {
    case .recipientId:
      if recipient.isEmpty { return false }
      try patience.reading { () throws(RemoteFailure) in try remote.update(recipient, columns) }
    case .email:
      if user.isEmpty { return false }
      let key = IdentityColumn(name: "EMAIL", value: user)
      try patience.reading { () throws(RemoteFailure) in try remote.updateMatch(of: key, columns) }
    }
    return true
  }
}
