import BatchFoundation
import BatchStore
import BatchThreads

/// The newest place of a device on its way to its recipient (reference events 5.4).
struct LocationUpdate {
  var location: LastKnownLocation
  var recipient: String
  var columns: [IdentityColumn]
}

extension IdentityReconciler {
  /// Places that wait for their update; none where they are not written.
  func pendingLocations() throws -> [LastKnownLocation] {
    settings.locations == nil ? [] : try store.pendingLocations()
  }

  /// Nil for a device without a recipient; its place waits until it has one.
  func update(for location: LastKnownLocation) throws -> LocationUpdate? {
    let recipient = try store.device(location.device)?.identity.recipientId ?? location.recipientId
    guard !recipient.isEmpty, let columns = settings.locations else { return nil }
    return LocationUpdate(
      location: location, recipient: recipient,
      columns: [
        IdentityColumn(name: columns.address, value: location.address.isEmpty ? "UNKNOWN" : location.address),
        IdentityColumn(name: columns.time, value: columns.timeFormat?.format(location.at) ?? location.at.rfc3339),
      ])
  }
}

extension IdentitySession {
  func write(_ locations: [LastKnownLocation]) {
    if locations.isEmpty || log.hasEnded { return }
    let schedule = CheckSchedule(keys: locations.map { [$0.device] })
    Threads.run(min(threads, locations.count)) { _ in
      while let index = schedule.take() {
        do {
          try write(locations[index])
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
    guard let update = try reconciler.update(for: location) else { return }
    if let approval = reconciler.approval, !approval.covers(update, naming: { log.proposedName(of: $0) }) { return }
    let remote = remote
    do {
      // Both columns are set to fixed values, so the update may be repeated.
      try patience.reading { () throws(RemoteFailure) in try remote.update(update.recipient, update.columns) }
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
}
