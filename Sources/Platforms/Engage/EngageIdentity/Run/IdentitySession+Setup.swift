import BatchConfiguration
import BatchFoundation
import BatchStore
import EngageEvents

extension IdentitySession {
  /// Gives a device its recipient (reference identity 5.2).
  ///
  /// Once a recipient may have been added, none is added again before a look-up by the mobile user id has found none, so neither
  /// a lost answer nor a kill leaves a second one. With marks every recipient is looked up first: the answer to an addition does
  /// not say whether the recipient was there already, and one that was may be marked as merged.
  ///
  /// - Parameter isSavedLater: the caller stores the device together with what it does next.
  /// - Throws: also what the service refuses for good.
  func setUp(_ device: inout KnownDevice, _ turn: Turn, isSavedLater: Bool = false) throws {
    guard device.progress == .waiting || device.progress == .adding else { return }
    let automatic = AutomaticMobileUserId.id(of: device.device)
    let hadUser = !device.identity.mobileUserId.isEmpty
    if !hadUser, settings.recipient.createsAnonymousUsers { device.identity.mobileUserId = automatic }
    let isAutomatic = device.identity.mobileUserId.isIdentical(to: automatic)
    if !device.identity.recipientId.isEmpty {
      if isAutomatic, settings.recipient.createsAnonymousUsers { return try register(&device, turn) }
      device.progress = .ready
      return isSavedLater ? () : try save(device)
    }
    guard !device.identity.mobileUserId.isEmpty, Self.isWritable(device.identity.mobileUserId) else {
      device.progress = .impossible
      return isSavedLater ? () : try save(device)
    }
    if let known = try store.identities.device(withUser: device.identity.mobileUserId) {
      device.identity.recipientId = known.identity.recipientId
      device.progress = known.progress == .added ? .added : .ready
    } else {
      let mayExist = !isAutomatic || settings.recipient.marksMergesInDatabase || reconciler.looksBeforeAdding
      guard let (recipient, isAdded) = try add(&device, mayExist: mayExist, turn) else { return }
      device.identity.recipientId = recipient
      device.progress = isAdded ? .added : .ready
    }
    try finishSetup(of: device)
  }

  private func finishSetup(of device: KnownDevice) throws {
    try reconciler.journal { try store.identities.finishSetup(device) }
  }

  /// Whether the recipient of a device is its own, by what was read of it: the answer to its addition may have been another's, whom no
  /// later answer shows either (reference decisions 36).
  ///
  /// - Returns: false for somebody else's. The device then has the one that a look-up finds, or none, and its set-up is refused.
  func isOwn(_ image: RecipientImage?, of device: inout KnownDevice) throws -> Bool {
    guard device.progress == .added, let image, image.id.isIdentical(to: device.identity.recipientId) else {
      return true
    }
    let column = settings.recipient.mobileUserIdColumn
    let user = image[column]
    let asked = [device.identity.mobileUserId, AutomaticMobileUserId.id(of: device.device)]
    // One without a mobile user id was not added with one, unless a merge of another device took it away.
    let isSame =
      user.isEmpty
      ? try asked.contains { try store.merges.takes($0, from: image.id) }
      : asked.contains { RecipientQuestion.isSame($0, user) }
    if isSame {
      device.progress = .ready
      return true
    }
    remote.reconnect()
    try reconciler.journal { try store.identities.withdrawAddition(of: image.id) }
    (device.identity.recipientId, device.progress) = ("", .adding)
    guard let found = try find([IdentityColumn(name: column, value: device.identity.mobileUserId)]) else {
      try refuse(device, "\(RemoteFailure.wrongAnswer)")
      return false
    }
    guard let own = try settled(found, device) else { return false }
    (device.identity.recipientId, device.progress) = (own, .ready)
    try finishSetup(of: device)
    return false
  }

  /// - Returns: whether the answer to an addition alone names it; nil when the device waits.
  private func add(
    _ device: inout KnownDevice, mayExist: Bool, _ turn: Turn
  ) throws -> (recipient: String, isAdded: Bool)? {
    let user = IdentityColumn(name: settings.recipient.mobileUserIdColumn, value: device.identity.mobileUserId)
    var mayExist = mayExist || device.progress == .adding
    var isAgain = false
    var attempts = RetryPolicy.Attempts(retryPolicy)
    while true {
      if mayExist, let found = try find([user]) { return try settled(found, device).map { ($0, false) } }
      if device.progress != .adding {
        device.progress = .adding
        try save(device)
      }
      try turn.waitForTurn()
      mayExist = true
      let id: String
      do {
        id = try remote.add([user])
      } catch .exists {
        guard attempts.repeats() else { throw RemoteFailure.exists }
        continue
      } catch .absent where !isAgain, .wrongAnswer where !isAgain {
        // Nobody can be absent who is to be added: the answer was to a look-up. And one without an id is none.
        remote.reconnect()
        isAgain = true
        continue
      } catch {
        try attempts.next(after: error)
        continue
      }
      guard try store.identities.knows(recipient: id, ofAnotherUserThan: user.value) else {
        log.count { $0.created += 1 }
        log.note(added: id, as: PlanningDatabase.newID(of: [user]), for: device.device)
        return (id, true)
      }
      // Somebody is known by both ids, or the answer was another's (reference decisions 36).
      remote.reconnect()
      if let found = try find([user]) { return try settled(found, device).map { ($0, false) } }
      guard !isAgain else { throw RemoteFailure.wrongAnswer }
      isAgain = true
    }
  }

  /// The recipient that a found one went up in; a device waits until the service has a forgotten one no more.
  private func settled(_ found: RecipientImage, _ device: KnownDevice) throws -> String? {
    let recipient =
      switch try chainEnd(of: found) {
      case .recipient(let end): end.id
      case .broken: found.id
      }
    return isForgotten(recipient) ? wait(device) : recipient
  }

  private func wait(_ device: KnownDevice) -> String? {
    log.count { $0.conflicts += 1 }
    log.block(device.device)
    return nil
  }

  /// Row 5: a recipient that was known before the device had a mobile user id gets the one made here, unless it has one.
  private func register(_ device: inout KnownDevice, _ turn: Turn) throws {
    let recipient = device.identity.recipientId
    let since = turn.now
    guard case .entered = try turn.enter([recipient], since: since) else { return try register(&device, turn) }
    defer { turn.leave() }
    device.progress = .ready
    guard let image = try read(recipient), image[settings.recipient.mobileUserIdColumn].isEmpty else {
      return try save(device)
    }
    let plan = draft.settingMobileUserId(.register, MergeDraft.subject(device), on: image)
    try carryOut(plan, for: device, fresh: [image])
  }

  private func save(_ device: KnownDevice) throws {
    try reconciler.journal { try store.identities.save([device]) }
  }
}
