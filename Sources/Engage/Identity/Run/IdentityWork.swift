import BatchConfiguration
import BatchFoundation
import BatchReport
import BatchStore
import EngageRules

/// The work on set-ups and checks in one run, shared by the run's threads.
struct IdentityWork: Sendable {
  var reconciler: IdentityReconciler
  var log: RunLog
  /// The columns that checks name but the list lacks; such checks are recorded as refused.
  var missingColumns: Set<ByteText>
  var draft: MergeDraft
  /// The forgotten people, whose recipients no device may get even if the service still has them.
  var forgotten: ForgottenPeople

  var store: EventStore { reconciler.store }
  var settings: IdentitySettings { reconciler.settings }
  var remote: any RecipientDatabase { reconciler.remote }
  var retryPolicy: RetryPolicy { reconciler.retryPolicy }

  func isForgotten(_ recipient: String) -> Bool {
    Array(recipient.utf8).withText { forgotten.contains(.recipient, $0) }
  }

  /// The maximum number of set-ups or checks read from the store at a time.
  private static let page = 20_000

  /// The maximum number of set-ups whose recipients are added one after another, each after the response to the
  /// previous addition, so that a small run always yields the same ids. For more set-ups, calls overlap to save time.
  private var orderedSetups: Int { reconciler.isSandbox ? 5_000 : 50 }

  private enum Piece {
    /// A set-up. If `inOrder` is true, its recipient is added after those of all earlier set-ups, so that the service
    /// numbers new recipients in the order in which their devices were first seen.
    case setup(Person, inOrder: Bool)
    case check(PendingCheck)

    var device: String {
      switch self {
      case .setup(let person, _): person.device
      case .check(let pending): pending.check.device
      }
    }

    /// The id of the check; nil for a set-up.
    var check: Int64? {
      switch self {
      case .setup: nil
      case .check(let pending): pending.id
      }
    }

    /// Returns the keys of an unfinished plan; pieces that share one must wait.
    static func keys(of plan: MergePlan) -> [String] {
      keys(of: plan.device, plan.ids, DeviceIdentity(), plan.checkId == nil ? [plan.after.mobileUserId] : [])
    }

    /// The keys of the piece; pieces that share a key are processed in order.
    var keys: [String] {
      switch self {
      case .setup(let person, _): Self.keys(of: person.device, [], person.identity)
      case .check(let pending):
        Self.keys(
          of: pending.check.device, pending.check.ids,
          DeviceIdentity(recipientId: pending.check.recipientId, mobileUserId: pending.check.mobileUserId))
      }
    }

    private static func keys(
      of device: String, _ ids: [ColumnValue], _ identity: DeviceIdentity, _ users: [String] = []
    ) -> [String] {
      let columns = ids.map { ("id\0\($0.name)", $0.value) }
      let all =
        ([identity.mobileUserId] + users).map {
          ("user", String(decoding: RecipientQuestion.folded($0), as: UTF8.self))
        } + [("recipient", identity.recipientId)]
        + columns
      return ["device\0" + device] + all.filter { !$0.1.isEmpty }.map { "\($0)\0\($1)" }
    }
  }

  func processAll() throws {
    var person: Person?
    while !log.hasEnded {
      let persons = try store.identities.personsToSetUp(
        after: person, limit: Self.page, follows: false, renames: renames)
      guard let last = persons.last else { break }
      person = last
      let inOrder = persons.count <= orderedSetups
      run(persons.map { .setup($0, inOrder: inOrder) })
    }
    // Earlier checks must merge a recipient before a set-up takes it over, as if each record were processed in a
    // separate run.
    person = nil
    var check: PendingCheck?
    while !log.hasEnded {
      let persons = try store.identities.personsToSetUp(
        after: person, limit: Self.page, follows: true, renames: renames)
      let pieces = try Self.byTime(persons, store.identities.pendingChecks(after: check, limit: Self.page))
      if pieces.isEmpty { break }
      for case .setup(let last, _) in pieces { person = last }
      for case .check(let last) in pieces { check = last }
      run(pieces)
    }
  }

  /// Interleaves set-ups and checks by time, up to the point where more of either must be read from the store.
  private static func byTime(_ persons: [Person], _ checks: [PendingCheck]) -> [Piece] {
    var (persons, checks, pieces) = (persons[...], checks[...], [Piece]())
    let (hasMorePersons, hasMoreChecks) = (persons.count == page, checks.count == page)
    while !(persons.isEmpty && (hasMorePersons || checks.isEmpty)), !(checks.isEmpty && hasMoreChecks) {
      let isSetUp = persons.first.map { person in
        checks.first.map {
          (person.firstSeen, ByteText(person.device), person.fromEmission)
            <= ($0.check.timestamp, ByteText($0.check.device), $0.check.emission + 1)
        } ?? true
      }
      if isSetUp == true {
        pieces.append(.setup(persons.removeFirst(), inOrder: true))
      } else {
        pieces.append(.check(checks.removeFirst()))
      }
    }
    return pieces
  }

  /// The number of threads: more than there are concurrent calls, so that calls proceed while other threads wait for
  /// the disk.
  var threads: Int { settings.concurrency <= 1 ? 1 : settings.concurrency * 2 }

  private func run(_ pieces: [Piece]) {
    let schedule = CheckSchedule(keys: pieces.map(\.keys))
    Threads.run(min(threads, pieces.count)) { _ in
      while let turn = schedule.take() {
        work(on: pieces[turn.piece], turn)
        turn.finish()
        if reconciler.shouldEnd() { log.fail(.interrupted) }
        if log.hasEnded { schedule.stop() }
      }
    }
  }

  private func work(on piece: Piece, _ turn: CheckTurn) {
    // Pieces that follow an unfinished one are postponed with it, to keep the order.
    guard !log.isPostponed(piece.keys) else { return log.postpone(piece.device, check: piece.check, keys: piece.keys) }
    do {
      switch piece {
      case .setup(var person, let inOrder):
        if !inOrder { turn.decide() }
        // An earlier piece may have changed the person.
        person = try store.identities.person(person.mobileUserId) ?? person
        try setUp(&person, turn)
      case .check(let pending): try check(pending, turn)
      }
      log.succeed()
    } catch let failure as RemoteFailure {
      guard failure.concernsOneDevice else {
        return log.postpone(piece.device, check: piece.check, keys: piece.keys, failure)
      }
      do {
        try refuse(piece, failure)
        log.succeed()
      } catch {
        log.fail(error)
      }
    } catch is StoppedError {
      // Whoever stopped the work has reported the reason.
    } catch {
      log.fail(error)
    }
  }

  /// Records that the service permanently refused a call of a set-up or check.
  private func refuse(_ piece: Piece, _ failure: RemoteFailure) throws {
    switch piece {
    case .setup(let person, _):
      let person = try store.identities.person(person.mobileUserId) ?? person
      try refuse(KnownDevice(device: person.device, person: person, identity: person.identity), "\(failure)")
    case .check(let pending):
      try refuse(KnownDevice(device: pending.check.device, pending), "\(failure)", check: pending)
    }
  }

  /// Leaves a set-up, or one of a device's checks, to the next run, and records the service's reason (reference
  /// decisions 37).
  func refuse(_ known: KnownDevice, _ reason: String, check: PendingCheck? = nil) throws {
    var device = known
    if check == nil {
      device.device = known.person.device
      device.identity.mobileUserId = known.person.mobileUserId
      block(known.person)
      log.block(known.device)
    }
    let refused = device
    let plan = draft.refused(MergeDraft.subject(device, check), reason)
    _ = try reconciler.journal { try store.merges.refuse(plan, for: refused, run: reconciler.run) }
    log.count { $0.figures.refused += 1 }
    if let check, check.check.instruction != nil { log.block("check\0\(check.id)") } else { log.block(device.device) }
  }

  /// Leaves further checks of all the person's devices to a later run.
  func block(_ person: Person) { log.block("person\0\(person.key)") }

  func isBlocked(_ person: Person) -> Bool { log.isBlocked("person\0\(person.key)") }

  // MARK: Plans of earlier runs

  /// Continues interrupted plans. The devices whose plans need an operator get no further checks in this run.
  func finishOpenPlans() throws {
    for plan in try store.merges.openPlans() {
      switch plan.state {
      case .open, .undoing:
        do {
          try finish(plan, isResumed: true)
          log.succeed()
        } catch let failure as RemoteFailure {
          log.postpone(plan.device, check: plan.checkId, keys: Piece.keys(of: plan), failure)
          if log.hasEnded { return }
        }
      // The set-up or the check is repeated when its turn comes.
      case .refused where !plan.isUnderWay: break
      case .refused: try resume(plan)
      default: block(by: plan)
      }
    }
  }

  /// Leaves later checks of the plan's device to a later run. An instruction does not affect the device's identity, so
  /// only its own check is left.
  func block(by plan: MergePlan) {
    guard plan.scenario.isInstruction else { return log.block(plan.device) }
    if let check = plan.checkId { log.block("check\0\(check)") }
  }

  /// Resumes a plan at an operator's request.
  func resume(_ plan: MergePlan) throws {
    var plan = plan
    switch plan.state {
    case .held:
      try reconciler.journal { try store.merges.settle(plan.id, as: .dropped, reason: plan.reason, lines: []) }
      if let check = plan.checkId, let pending = try store.identities.pendingCheck(check) {
        try self.check(pending, .alone)
      }
    case .refused where !plan.isUnderWay:
      if let check = plan.checkId {
        if let pending = try store.identities.pendingCheck(check) { try again(.check(pending)) }
      } else if let person = try store.identities.person(plan.after.mobileUserId) {
        try again(.setup(person, inOrder: false))
      }
    case .conflict, .refused:
      plan.state = plan.steps.contains(where: \.isUndoStarted) ? .undoing : .open
      try reconciler.journal { try store.merges.settle(plan.id, as: plan.state, reason: "", lines: []) }
      // Steps that were started are carried out again: the service refused them, or the operator has checked them.
      try finish(plan, isResumed: false)
    default: try finish(plan, isResumed: true)
    }
  }

  private func again(_ piece: Piece) throws {
    do {
      switch piece {
      case .setup(var person, _): try setUp(&person, .alone)
      case .check(let pending): try check(pending, .alone)
      }
    } catch let failure as RemoteFailure where failure.concernsOneDevice {
      try refuse(piece, failure)
    }
  }

  /// - Parameter isResumed: Whether the steps that an earlier run started may have been carried out.
  private func finish(_ plan: MergePlan, isResumed: Bool) throws {
    var plan = plan
    var executor = MergeExecutor(reconciler: reconciler, isResumed: isResumed)
    if plan.checkId != nil, !plan.scenario.isInstruction { log.count { $0.figures.checks += 1 } }
    let outcome =
      plan.state == .undoing
      ? try executor.undo(&plan)
      : try executor.carryOut(&plan)
    account(for: plan, outcome)
  }

  func account(for plan: MergePlan, _ outcome: MergeExecutor.Outcome) {
    if outcome == .undone { return }
    guard outcome == .done else {
      if outcome == .refused { log.count { $0.figures.refused += 1 } } else { log.count { $0.figures.conflicts += 1 } }
      block(by: plan)
      return
    }
    log.count { result in
      switch plan.scenario {
      case .register, .setIds, .setMobileUserId, .contactList, .program, .optOut, .optIn: result.figures.updated += 1
      case .moveMobileUserId, .markMerged: result.figures.merged += 1
      case .reassign: result.reassigned += 1
      case .location:
        result.figures.updated += 1
        result.locations += 1
      case .setUp, .none: break
      }
      if plan.index(of: .audit) != nil { result.figures.auditRows += 1 }
    }
  }

  // MARK: Reading

  func read(_ recipient: String) throws(RemoteFailure) -> RecipientImage? {
    try remote.named(recipient, retryPolicy)
  }

  /// Finds a recipient, even if its columns truncated the ids that one of the store's plans wrote to it (reference
  /// decisions 61).
  func find(_ ids: [ColumnValue]) throws -> RecipientImage? {
    let remote = remote
    do {
      return try retryPolicy.repeating { () throws(RemoteFailure) in try remote.find(ids) }
    } catch .wrongAnswer {
      let written = try store.merges.recipients(with: ids)
      guard !written.isEmpty,
        let holder = try retryPolicy.repeating({ () throws(RemoteFailure) in try remote.holder(of: ids) }),
        written.contains(holder), let image = try read(holder),
        try ids.allSatisfy({
          let kind = try reconciler.columns.kind(of: $0.name)
          return kind.keeps($0.value, as: image[$0.name]) || kind.cuts($0.value, to: image[$0.name])
        })
      else { throw RemoteFailure.wrongAnswer }
      return image
    } catch {
      throw error
    }
  }

  // MARK: Chains

  enum ChainEnd {
    case recipient(RecipientImage)
    /// The reason, and the ids in the chain.
    case broken(String, [String])
  }

  /// Follows the marks of earlier merges to the remaining recipient.
  func chainEnd(of first: RecipientImage) throws -> ChainEnd {
    var image = first
    var seen: Set<ByteText> = [ByteText(first.id)]
    func broken(_ reason: String) -> ChainEnd { .broken(reason, seen.map(\.string)) }
    while true {
      let column = settings.recipient.mergedRecipientIdColumn
      let marker = image.mark(in: column)
      if marker.isEmpty { return .recipient(image) }
      guard RecipientQuestion.isID(marker) || marker.hasPrefix(PlanningDatabase.newID(of: [])) else {
        let code = MessageAuthenticationCode(key: try store.runs.reportKey()).code(for: Array(image.id.utf8)).prefix(8)
        return broken(
          "the merge mark of recipient \(Hexadecimal.text(of: code)) in column '\(column)' is not a recipient id")
      }
      guard seen.insert(ByteText(marker)).inserted else { return broken("the chain of earlier merges is circular") }
      guard seen.count <= settings.recipient.longestMergeChain + 1 else {
        return broken("the chain of earlier merges is longer than Recipient.maxMergeChain")
      }
      guard let next = try read(marker) else {
        return broken("the chain of earlier merges ends at a recipient that is gone")
      }
      image = next
    }
  }
}
