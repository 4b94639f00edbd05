import BatchConfiguration
import BatchFoundation
import BatchReport
import BatchStore
import EngageRules

extension IdentityWork {
  /// Looks up the ids of a check and carries out its scenario (reference identity 5.3).
  func check(_ pending: PendingCheck, _ turn: CheckTurn) throws {
    let check = pending.check
    if log.isBlocked(check.device) || log.isBlocked("check\0\(pending.id)") { return }
    if check.instruction == nil { log.count { $0.figures.checks += 1 } }
    let user =
      check.mobileUserId.isEmpty && settings.recipient.createsAnonymousUsers
      ? AutomaticMobileUserId.id(of: check.device) : check.mobileUserId
    guard !user.isEmpty, var person = try store.identities.person(user) else {
      return try stop(
        pending, KnownDevice(device: check.device, pending), as: .dropped,
        reason: user.isEmpty
          ? "no mobile user id, and none may be generated" : "an operator chose to leave the device without a recipient"
      )
    }
    if isBlocked(person) { return log.block(check.device) }
    // The order of additions must not depend on the speed of calls.
    if person.progress.isDue { try turn.waitForTurn() }
    do {
      try setUp(&person, turn)
    } catch let failure as RemoteFailure where failure.concernsOneDevice {
      return try refuse(KnownDevice(device: check.device, person: person, identity: person.identity), "\(failure)")
    }
    if log.isBlocked(check.device) || isBlocked(person) { return }
    var device = KnownDevice(
      device: check.device, person: person,
      identity: try store.identities.who {
        try $0.identity(of: check.device, user, recorded: check.recipientId, at: check.emission + 1)
      })
    guard !device.identity.recipientId.isEmpty else {
      return try stop(
        pending, device, as: .dropped,
        reason: Self.isWritable(user)
          ? "an operator chose to leave the device without a recipient"
          : "the mobile user id contains characters that XML cannot represent")
    }
    if let instruction = check.instruction { return try make(instruction, pending, device, turn) }
    let ids = check.ids.filter { !$0.isBlank }
    guard ids.allSatisfy({ Self.isColumn($0.name) && Self.isWritable($0.value) }) else {
      return try stop(
        pending, device, as: .dropped,
        reason:
          "an id has no column name, or its column name or value contains characters that XML cannot represent")
    }
    if let missing = ids.first(where: { missingColumns.contains(ByteText($0.name)) }) {
      return try refuse(
        device, "list \(settings.list) has no column '\(missing.name)' for looking up the id", check: pending)
    }
    if ids.isEmpty {
      let known = device
      return try reconciler.journal { try store.identities.finish(pending, as: known, run: reconciler.run) }
    }
    // Each attempt ends the check, or finds that its data is outdated or that its recipient was merged.
    let before = device.identity
    do {
      while try !attempt(pending, &device, ids, turn, before) {}
    } catch let failure as RemoteFailure where failure.concernsOneDevice {
      turn.leave()
      try refuse(device, "\(failure)", check: pending)
    }
  }

  /// - Returns: Whether the check has ended; false if it must be attempted again.
  private func attempt(
    _ pending: PendingCheck, _ device: inout KnownDevice, _ ids: [ColumnValue], _ turn: CheckTurn,
    _ before: DeviceIdentity
  ) throws -> Bool {
    let since = turn.now
    let found = try find(ids)
    var winner: RecipientImage?
    if let found {
      switch try chainEnd(of: found) {
      case .recipient(let end): winner = end
      case .broken(let reason, let chain):
        return try hold(pending, device, reason, chain, turn, since: since)
      }
    }
    if let found, isForgotten(found.id) || winner.map({ isForgotten($0.id) }) ?? false {
      try stop(
        pending, device, as: .held,
        reason:
          "the service still has a forgotten recipient with these ids; delete it with 'forget --at-service', then run 'identity resume'"
      )
      return true
    }
    let recipient = device.identity.recipientId
    let isKnown = winner?.id.isIdentical(to: recipient) == true && device.person.progress != .added
    let current = isKnown ? winner : try read(recipient)
    guard try isOwn(current, of: &device) else { return device.identity.recipientId.isEmpty }
    let involved = [recipient, found?.id, winner?.id].compactMap { $0 }
    guard case .entered(let hasWaited) = try turn.enter(involved, since: since) else { return false }
    var subject = MergeDraft.subject(device, pending)
    subject.ids = ids
    switch try decide(subject, current: current, winner: winner) {
    case .unchanged:
      turn.decide()
      let known = device
      guard let winner, !recipient.isIdentical(to: before.recipientId) else {
        try reconciler.journal { try store.identities.finish(pending, as: known, run: reconciler.run) }
        break
      }
      // Somebody else merged the device's previous recipient.
      subject.current = before
      try carryOut(draft.reassigning(subject, from: before.recipientId, to: winner), for: device, fresh: [])
    case .follow:
      turn.leave()
      guard let current else { return false }
      let since = turn.now
      switch try chainEnd(of: current) {
      case .recipient(let end):
        device.identity.recipientId = end.id
        return false
      case .broken(let reason, let chain): return try hold(pending, device, reason, chain, turn, since: since)
      }
    case .plan(let plan):
      turn.decide()
      // After a wait, the data is read again before a write.
      try carryOut(plan, for: device, fresh: hasWaited ? [] : [current, winner].compactMap { $0 })
    }
    return true
  }

  /// Holds a check whose chain of merges is broken. Waits for the check's turn first, because earlier checks may change
  /// the chain; returns false if they did.
  private func hold(
    _ pending: PendingCheck, _ device: KnownDevice, _ reason: String, _ chain: [String], _ turn: CheckTurn, since: Int
  ) throws -> Bool {
    guard case .entered = try turn.enter([device.identity.recipientId] + chain, since: since) else { return false }
    try stop(pending, device, as: .held, reason: reason)
    return true
  }

  func carryOut(_ chosen: MergePlan, for device: KnownDevice, fresh: [RecipientImage]) throws {
    var plan = chosen
    if let plannedChanges = reconciler.plannedChanges, !plannedChanges.covers(plan, naming: { log.plannedName(of: $0) })
    {
      plan.state = .held
      plan.reason = "not part of the change plan that is being carried out"
    }
    var lines = [JournalLine(.plan, plan.key)]
    let first = plan.steps.first?.name
    if let first, first != .publishMapping { lines.append(JournalLine(.start, first, undo: false)) }
    let holder = try reconciler.journal {
      try store.merges.begin(&plan, for: device, lines: lines, run: reconciler.run)
    }
    guard holder == nil else {
      // An operator must first settle an earlier plan.
      return log.postpone(plan.device, check: plan.checkId, keys: [])
    }
    guard plan.state == .open else {
      if plan.state == .held {
        log.count { $0.figures.conflicts += 1 }
        block(by: plan)
      } else if !plan.loser.isEmpty {
        log.count { $0.figures.decidedByPolicy += 1 }
      }
      return
    }
    if first != .publishMapping, !plan.steps.isEmpty { plan.steps[0].isStarted = true }
    var executor = MergeExecutor(reconciler: reconciler, fresh: fresh)
    let outcome = try executor.carryOut(&plan)
    account(for: plan, outcome)
  }

  private func stop(
    _ pending: PendingCheck, _ device: KnownDevice, as state: MergeState, reason: String
  ) throws {
    let loser = state == .held ? device.identity.recipientId : ""
    let plan = draft.stopped(MergeDraft.subject(device, pending), as: state, reason: reason, loser: loser)
    try carryOut(plan, for: device, fresh: [])
  }

  /// Whether the string can be a column name; only the service knows whether the column exists.
  static func isColumn(_ name: String) -> Bool { !name.isEmpty && isWritable(name) }

  /// Whether XML 1.0 can represent the string: it must not contain U+FFFE, U+FFFF or most characters below U+0020.
  static func isWritable(_ text: String) -> Bool {
    text.unicodeScalars.allSatisfy { scalar in
      switch scalar.value {
      case 0x09, 0x0A, 0x0D: true
      case 0..<0x20, 0xFFFE, 0xFFFF: false
      default: true
      }
    }
  }

  /// Carries out an instruction on the recipient that the device had at the time of the record, or on the one into
  /// which that recipient has since been merged (reference identity 5.7).
  func make(_ instruction: ContactInstruction, _ pending: PendingCheck, _ known: KnownDevice, _ turn: CheckTurn) throws
  {
    var device = known
    let recipient = device.identity.recipientId
    func plan(for recipient: String) -> MergePlan {
      draft.asking(instruction, MergeDraft.subject(device, pending), of: recipient)
    }
    func stop(as state: MergeState, _ reason: String) throws {
      turn.decide()
      var stopped = plan(for: state == .held ? recipient : "")
      (stopped.state, stopped.reason, stopped.steps) = (state, reason, [])
      try carryOut(stopped, for: device, fresh: [])
    }
    guard Self.isWritable(instruction.target) else {
      return try stop(
        as: .dropped, "the id of the contact list or program contains characters that XML cannot represent")
    }
    while true {
      let since = turn.now
      guard let first = try read(recipient) else { return try stop(as: .held, "the device's recipient is gone") }
      guard try isOwn(first, of: &device) else {
        return device.identity.recipientId.isEmpty ? () : try make(instruction, pending, device, turn)
      }
      let image: RecipientImage
      switch try chainEnd(of: first) {
      case .recipient(let end): image = end
      case .broken(let reason, let chain):
        guard case .entered = try turn.enter([recipient] + chain, since: since) else { continue }
        return try stop(as: .held, reason)
      }
      guard case .entered(let hasWaited) = try turn.enter([recipient, image.id], since: since) else { continue }
      if isForgotten(image.id) { return try stop(as: .held, "the recipient was forgotten") }
      turn.decide()
      switch instruction {
      case .optOut where image.isOptedOut, .optIn where !image.isOptedOut:
        return try reconciler.journal { try store.identities.finish(pending, as: device, run: reconciler.run) }
      default: return try carryOut(plan(for: image.id), for: device, fresh: hasWaited ? [] : [image])
      }
    }
  }
}
