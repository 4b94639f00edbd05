import BatchConfiguration
import BatchFoundation
import BatchReport
import BatchStore
import EngageRules

/// The pending write of the latest location of a recipient's devices (reference events 5.4).
struct LocationUpdate {
  var location: LastKnownLocation
  var recipient: String
  var columns: [ColumnValue]
  /// Older locations that ``location`` replaces; nothing is written for them.
  var replaced: [LastKnownLocation] = []
}

extension IdentityReconciler {
  /// Returns the pending locations; empty if locations are not written.
  func pendingLocations() throws -> [LastKnownLocation] {
    settings.locations == nil ? [] : try store.identities.pendingLocations()
  }

  /// Returns the latest pending location of each recipient, sorted by the bytes of the recipient's id. If locations are
  /// simultaneous, the one from the device with the greater id (by bytes) counts. `outdated` locations are older than
  /// one already written. Devices without a recipient are left out.
  func locationUpdates() throws -> (due: [LocationUpdate], outdated: [LastKnownLocation]) {
    var newest: [ByteText: LocationUpdate] = [:]
    for location in try pendingLocations() {
      guard var update = try update(for: location) else { continue }
      if let other = newest[ByteText(update.recipient)] {
        let isNewer = other.location.order < location.order
        let (later, earlier) = isNewer ? (update, other) : (other, update)
        update = later
        update.replaced = other.replaced + [earlier.location]
      }
      newest[ByteText(update.recipient)] = update
    }
    var due: [LocationUpdate] = []
    var outdated: [LastKnownLocation] = []
    for update in newest.sorted(by: { $0.key < $1.key }).map(\.value) {
      if let written = try store.identities.writtenLocation(on: update.recipient),
        update.location.order < (written.at.milliseconds, ByteText(written.device))
      {
        outdated += update.replaced + [update.location]
      } else {
        due.append(update)
      }
    }
    return (due, outdated)
  }

  private func update(for location: LastKnownLocation) throws -> LocationUpdate? {
    let recipient = try store.identities.known(location)?.identity.recipientId ?? location.recipientId
    guard !recipient.isEmpty, let columns = settings.locations else { return nil }
    return LocationUpdate(
      location: location, recipient: recipient,
      columns: [
        ColumnValue(columns.addressColumn, location.address.isEmpty ? "UNKNOWN" : location.address),
        ColumnValue(columns.timeColumn, columns.dateFormat.format(location.at)),
      ])
  }
}

extension LastKnownLocation {
  /// The order of locations of one recipient; the greatest one counts.
  fileprivate var order: (Int64, ByteText) { (at.milliseconds, ByteText(device)) }
}

extension IdentityWork {
  func writeLocations() throws {
    if log.hasEnded { return }
    let (updates, outdated) = try reconciler.locationUpdates()
    if !outdated.isEmpty { try reconciler.journal { try store.identities.finishLocations(outdated) } }
    if updates.isEmpty { return }
    let schedule = CheckSchedule(keys: updates.map { [$0.recipient] })
    Threads.run(min(threads, updates.count)) { _ in
      while let turn = schedule.take() {
        let update = updates[turn.piece]
        do {
          try write(update)
          log.succeed()
        } catch let failure as RemoteFailure where failure.concernsOneDevice {
          log.count { $0.figures.refused += 1 }
          log.note("a recipient's last known location is left for the next run: \(failure)")
        } catch let failure as RemoteFailure {
          log.postpone(update.location.device, check: nil, keys: [], failure)
        } catch {
          log.fail(error)
        }
        turn.finish()
        if log.hasEnded { schedule.stop() }
      }
    }
  }

  private func write(_ update: LocationUpdate) throws {
    if let plannedChanges = reconciler.plannedChanges,
      !plannedChanges.covers(update, naming: { log.plannedName(of: $0) })
    {
      return
    }
    var device = try store.identities.known(update.location)
    guard let image = try read(update.recipient) else {
      // The recipient no longer exists, so there is nothing to write to.
      return try reconciler.journal { try store.identities.finishLocations(update.replaced + [update.location]) }
    }
    if var known = device {
      guard try isOwn(image, of: &known) else {
        if known.identity.recipientId.isEmpty { return }
        var own = update
        own.recipient = known.identity.recipientId
        return try write(own)
      }
      device = known
    }
    if !image.matches(update.columns) {
      let none = DeviceIdentity(recipientId: update.recipient)
      var plan = draft.placing(update, on: image, for: device?.identity ?? none)
      let lines = [JournalLine(.plan, plan.key), JournalLine(.start, .setLocation, undo: false)]
      _ = try reconciler.journal { try store.merges.begin(&plan, for: device, lines: lines, run: reconciler.run) }
      plan.steps[0].isStarted = true
      var executor = MergeExecutor(reconciler: reconciler, fresh: [image])
      let outcome = try executor.carryOut(&plan)
      account(for: plan, outcome)
      // The next run tries a refused location again.
      guard outcome == .done else { return }
    }
    let written = (update.location, update.recipient)
    try reconciler.journal {
      try store.identities.finishLocations(update.replaced + [update.location], written: written)
    }
  }
}
