import BatchConfiguration
import BatchFoundation
import BatchReport
import BatchStore
import EngageRules

extension IdentityWork {
  /// Gives a person a recipient (reference identity 5.2, decisions 58).
  ///
  /// Once an addition may have succeeded, no other is tried until a look-up by the mobile user id finds nobody,
  /// so neither a lost response nor a kill creates a duplicate. If merges are marked in the list, recipients are always
  /// looked up first: an addition may return an existing recipient, which may be marked as merged.
  ///
  /// - Throws: ``RemoteFailure``, including permanent refusals.
  func setUp(_ person: inout Person, _ turn: CheckTurn) throws {
    guard person.progress.isDue else { return }
    if !person.recipientId.isEmpty { return try register(&person, turn) }
    guard Self.isWritable(person.mobileUserId) else {
      person.progress = .impossible
      return try save(person)
    }
    let isAutomatic = person.mobileUserId.isIdentical(to: AutomaticMobileUserId.id(of: person.device))
    let mayExist = !isAutomatic || settings.recipient.marksMergesInDatabase || reconciler.looksBeforeAdding
    if mayExist || person.progress == .adding, let found = try find([user(of: person)]) {
      guard try settle(&person, on: found) else { return }
    } else if person.progress != .adding, try takeOver(for: &person, turn) {
      return
    } else {
      guard try add(&person, turn) else { return }
    }
    try finishSetup(of: person)
  }

  private func finishSetup(of person: Person) throws {
    try reconciler.journal { try store.identities.finishSetup(person) }
  }

  private func user(of person: Person) -> ColumnValue {
    ColumnValue(settings.recipient.mobileUserIdColumn, person.mobileUserId)
  }

  /// Whether the recipient that was read is the device's own. The response to the addition may have named a different
  /// recipient, which later responses do not reveal (reference decisions 36).
  ///
  /// - Returns: False if it is somebody else's. The device then gets the recipient that a look-up finds; without one,
  ///   its set-up is refused.
  func isOwn(_ image: RecipientImage?, of device: inout KnownDevice) throws -> Bool {
    guard device.person.progress == .added, let image, image.id.isIdentical(to: device.person.recipientId),
      image.id.isIdentical(to: device.identity.recipientId)
    else { return true }
    if try RecipientQuestion.isSame(device.person.mobileUserId, image[settings.recipient.mobileUserIdColumn])
      || reconciler.columns.finds(user(of: device.person), cutOn: image)
    {
      device.person.progress = .ready
      return true
    }
    remote.reconnect()
    try reconciler.journal { try store.identities.withdrawAddition(of: image.id) }
    (device.person.recipientId, device.person.progress, device.identity.recipientId) = ("", .adding, "")
    guard let found = try find([self.user(of: device.person)]) else {
      try refuse(device, "\(RemoteFailure.wrongAnswer)")
      return false
    }
    guard try settle(&device.person, on: found) else { return false }
    device.identity = device.person.identity
    try finishSetup(of: device.person)
    return false
  }

  /// Adds a recipient, with a look-up before each further attempt. Returns false if the look-up finds a
  /// forgotten recipient.
  private func add(_ person: inout Person, _ turn: CheckTurn) throws -> Bool {
    let user = user(of: person)
    var mayExist = false
    var isAgain = false
    var refusals = 0
    var attempts = RetryPolicy.Attempts(retryPolicy)
    while true {
      if mayExist, let found = try find([user]) { return try settle(&person, on: found) }
      if person.progress != .adding {
        person.progress = .adding
        try save(person)
      }
      try turn.waitForTurn()
      mayExist = true
      let id: String
      do {
        id = try remote.add([user])
      } catch .exists(let words) {
        guard attempts.waitForRepeat() else { throw RemoteFailure.exists(words) }
        continue
      } catch .absent where !isAgain, .wrongAnswer where !isAgain {
        // An addition cannot report an absent recipient, so this response belongs to a look-up. A response without an
        // id is wrong too.
        remote.reconnect()
        isAgain = true
        continue
      } catch {
        // After a second failure, other pieces no longer wait, so that they show whether only this one fails (reference
        // decisions 60).
        refusals += 1
        if refusals > 1 { turn.decide() }
        try attempts.next(after: error)
        continue
      }
      guard try store.identities.knows(recipient: id, ofAnotherUserThan: user.value) else {
        log.count { $0.figures.created += 1 }
        log.note(added: id, as: PlanningDatabase.newID(of: [user]), for: person.device)
        (person.recipientId, person.progress) = (id, .added)
        return true
      }
      // Either a person is known by both ids, or the response belongs to another request (reference decisions 36).
      remote.reconnect()
      if let found = try find([user]) { return try settle(&person, on: found) }
      guard !isAgain else { throw RemoteFailure.wrongAnswer }
      isAgain = true
    }
  }

  /// Gives a person the found recipient, or the one into which it was merged. Returns false if that one was forgotten.
  private func settle(_ person: inout Person, on found: RecipientImage) throws -> Bool {
    let end =
      switch try chainEnd(of: found) {
      case .recipient(let end): end
      case .broken: found
      }
    if isForgotten(end.id) {
      log.count { $0.figures.conflicts += 1 }
      block(person)
      return false
    }
    let user = end[settings.recipient.mobileUserIdColumn]
    let isOwn = user.isEmpty || RecipientQuestion.isSame(user, person.mobileUserId)
    (person.recipientId, person.knownAs, person.progress) = (end.id, isOwn ? "" : user, .ready)
    return true
  }

  var renames: Bool { settings.recipient.onNewUserId == .rename }

  /// Gives a person the recipient of their predecessor, and writes the new id to it unless it has a different id.
  ///
  /// - Returns: False if the person needs a separate recipient: there is no predecessor, its recipient does not exist
  ///   or is somebody else's, or an operator removed the new id from it.
  private func takeOver(for person: inout Person, _ turn: CheckTurn) throws -> Bool {
    let since = turn.now
    guard var device = try store.identities.predecessor(of: person, renames: renames) else { return false }
    let predecessor = device.person
    guard !device.identity.recipientId.isEmpty, let first = try read(device.identity.recipientId) else { return false }
    guard try isOwn(first, of: &device) else {
      if device.person.recipientId.isEmpty { return false }
      return try takeOver(for: &person, turn)
    }
    guard case .recipient(let image) = try chainEnd(of: first),
      try !store.merges.refusesMerge(of: image.id, into: image.id, list: settings.list)
    else { return false }
    guard case .entered = try turn.enter([first.id, image.id], since: since) else {
      return try takeOver(for: &person, turn)
    }
    defer { turn.leave() }
    turn.decide()
    let user = image[settings.recipient.mobileUserIdColumn]
    let isFree =
      try user.isEmpty || RecipientQuestion.isSame(user, predecessor.mobileUserId)
      ? true : store.identities.who { [person] in try $0.isAutomatic(user, before: person.fromEmission) }
    guard isFree == true else {
      // Devices that record different ids share no recipient, but an id that no device records belongs to the same
      // person.
      guard renames || isFree == nil else { return false }
      (person.recipientId, person.knownAs, person.progress) = (image.id, user, .ready)
      try finishSetup(of: person)
      return true
    }
    if device.person != predecessor { try save(device.person) }
    device = KnownDevice(
      device: person.device, person: person,
      identity: DeviceIdentity(recipientId: image.id, mobileUserId: person.mobileUserId))
    try carryOut(
      draft.settingMobileUserId(.register, MergeDraft.subject(device), on: image), for: device, fresh: [image])
    person = try store.identities.person(person.mobileUserId) ?? person
    return true
  }

  /// Row 5 of the set-up: writes the generated id to a recipient that was known before its device had a mobile user id,
  /// unless the recipient already has such an id.
  private func register(_ person: inout Person, _ turn: CheckTurn) throws {
    let recipient = person.recipientId
    let since = turn.now
    guard case .entered = try turn.enter([recipient], since: since) else { return try register(&person, turn) }
    defer { turn.leave() }
    person.progress = .ready
    guard let image = try read(recipient), image[settings.recipient.mobileUserIdColumn].isEmpty else {
      return try save(person)
    }
    let device = KnownDevice(device: person.device, person: person, identity: person.identity)
    try carryOut(
      draft.settingMobileUserId(.register, MergeDraft.subject(device), on: image), for: device, fresh: [image])
  }

  private func save(_ person: Person) throws {
    try reconciler.journal { try store.identities.save([person]) }
  }
}
