import BatchConfiguration
import BatchFoundation
import BatchStore
import EngageRules

/// Carries out or undoes a plan step by step, and notes each step in the journal (reference identity 5.6).
///
/// Before each write, the target is read. If it already has the new values, the step is done; if it still has the
/// previous values, they can be replaced; any other values were written by somebody else. If a write is not confirmed,
/// the next read shows its effect. The same loop therefore serves first attempts, repeated ones and resumed plans.
struct MergeExecutor {
  var reconciler: IdentityReconciler
  /// Whether an earlier run may have carried out the steps that it started, without anybody having checked since.
  var isResumed = false

  enum Outcome: Equatable {
    case done, undone
    /// The service permanently refused a call.
    case refused
    case conflict(String)
  }

  /// The reason why a plan stops.
  enum Stop: Error {
    case conflict(String)
    /// The service permanently refuses a step, so the completed steps are undone.
    case abort(String)
  }

  /// The images read under the plan's locks just before the plan was stored; valid only for its first step.
  var fresh: [RecipientImage] = []

  var remote: any RecipientDatabase { reconciler.remote }
  var retryPolicy: RetryPolicy { reconciler.retryPolicy }

  // MARK: Forward

  /// - Throws: ``RemoteFailure`` if repeated calls got no usable response; the plan stays open and can be resumed.
  mutating func carryOut(_ plan: inout MergePlan) throws -> Outcome {
    var pending: [JournalLine] = []
    do {
      for index in plan.steps.indices where !plan.steps[index].isDone {
        let name = plan.steps[index].name
        let mayBeMade = isResumed && plan.steps[index].isStarted
        if name == .publishMapping {
          var lines = pending
          if !plan.steps[index].isStarted { lines.append(JournalLine(.start, name, undo: false)) }
          lines += [JournalLine(.done, name, undo: false), JournalLine(.end, MergeState.done.rawValue)]
          let finished = plan
          try journal { try $0.conclude(finished, lines: lines, run: reconciler.run) }
          plan.steps[index].isStarted = true
        } else {
          if !plan.steps[index].isStarted {
            pending.append(JournalLine(.start, name, undo: false))
            plan.steps[index].isStarted = true
          }
          // Only a write needs its start to be durable first.
          if name != .verify { try flush(&pending, plan) }
          switch name {
          case .verify: try verify(plan)
          case .audit: try writeAuditRow(plan.steps[index])
          case .setLocation: try place(plan.steps[index], undo: false)
          case .addToContactList, .addToProgram, .optOut, .optIn:
            try instruct(plan.steps[index], undo: false, mayBeMade: mayBeMade)
          default: try update(plan.steps[index], plan, undo: false)
          }
          pending.append(JournalLine(.done, name, undo: false))
        }
        plan.steps[index].isDone = true
      }
      if plan.scenario.isInstruction {
        let (finished, lines) = (plan, pending + [JournalLine(.end, MergeState.done.rawValue)])
        try journal { try $0.conclude(finished, lines: lines, run: reconciler.run) }
      }
      plan.state = .done
      return .done
    } catch Stop.conflict(let reason) {
      return try stop(&plan, reason, pending)
    } catch let failure as RemoteFailure where failure.concernsOneDevice {
      return try refuse(&plan, failure, pending)
    } catch Stop.abort(let reason) {
      try flush(&pending, plan)
      plan.reason = reason
      plan.undoCause = .refusedStep
      let undone = plan
      _ = try journal { try $0.beginUndo(undone) }
      return try undo(&plan)
    }
  }

  // MARK: Undo

  /// Undoes the steps that were started. The plan must already be stored as `undoing`, with an ``MergePlan/undoCause``.
  mutating func undo(_ plan: inout MergePlan) throws -> Outcome {
    plan.state = .undoing
    var pending: [JournalLine] = []
    do {
      for index in plan.steps.indices.reversed()
      where plan.steps[index].isStarted && !plan.steps[index].isUndone && plan.steps[index].name != .verify {
        let name = plan.steps[index].name
        if !plan.steps[index].isUndoStarted {
          pending.append(JournalLine(.start, name, undo: true))
          plan.steps[index].isUndoStarted = true
        }
        if name == .publishMapping {
          let lines = pending + [JournalLine(.done, name, undo: true)]
          let withdrawn = plan
          guard try journal({ try $0.withdraw(withdrawn, lines: lines) }) else {
            throw Stop.conflict("a later plan for the device or its recipients was carried out; undo that one first")
          }
          pending = []
        } else {
          try flush(&pending, plan)
          if name == .audit, plan.keepsAuditHistory {
            try writeCounterRow(plan.steps[index], plan)
          } else if name == .audit {
            try deleteAuditRow(plan.steps[index])
          } else if name == .setLocation {
            try place(plan.steps[index], undo: true)
          } else if plan.scenario.isInstruction {
            try instruct(plan.steps[index], undo: true, mayBeMade: false)
          } else {
            try update(plan.steps[index], plan, undo: true)
          }
          pending.append(JournalLine(.done, name, undo: true))
        }
        plan.steps[index].isUndone = true
      }
      pending.append(JournalLine(.end, MergeState.undone.rawValue))
      let undone = plan
      let lines = pending
      try journal { try $0.finishUndo(undone, lines: lines, run: reconciler.run) }
      plan.state = plan.undoCause == .operator ? .undone : .refused
      return plan.undoCause == .operator ? .undone : .refused
    } catch let failure as RemoteFailure where failure.concernsOneDevice {
      return try refuse(&plan, failure, pending)
    } catch Stop.conflict(let reason) {
      return try stop(&plan, reason, pending)
    } catch Stop.abort(let reason) {
      return try stop(&plan, reason, pending)
    }
  }

  // MARK: Steps

  private mutating func update(_ step: MergeStep, _ plan: MergePlan, undo: Bool) throws {
    let changes = undo ? step.changes.map(\.reversed) : step.changes
    var attempts = RetryPolicy.Attempts(retryPolicy)
    while true {
      guard let image = try current(step.target) else {
        // A recipient that no longer exists needs neither a mark nor clearing, and cannot be restored.
        if undo || (plan.scenario.isMerge && step.target.isIdentical(to: plan.loser)) { return }
        throw Stop.abort("\(step.name.rawValue): the recipient is gone")
      }
      if try areMade(changes, step, on: image) { return }
      try compare(changes, image, step.name)
      do {
        return try remote.update(step.target, changes.map { ColumnValue($0.name, $0.after) })
      } catch .absent(let words) {
        guard attempts.waitForRepeat() else { throw Stop.abort("\(step.name.rawValue): \(words)") }
      } catch .exists(let words) {
        throw Stop.abort("\(step.name.rawValue): \(words); another recipient has the same unique key")
      } catch .refused(_, let reason) {
        throw Stop.abort("\(step.name.rawValue): \(reason)")
      } catch {
        try attempts.next(after: error)
      }
    }
  }

  /// - Throws: ``Stop`` if a column has neither the old nor the new value.
  private func compare(_ changes: [ColumnChange], _ image: RecipientImage, _ name: MergeStepName) throws {
    guard try changes.allSatisfy({ try isMade($0, on: image) || isToBeMade($0, on: image) }) else {
      throw Stop.conflict("\(name.rawValue): the recipient was changed by another program or person")
    }
  }

  /// Writes a location over any value. When undoing, only the address is compared, because the service may return the
  /// time in a different format.
  private mutating func place(_ step: MergeStep, undo: Bool) throws {
    var attempts = RetryPolicy.Attempts(retryPolicy)
    let changes = undo ? step.changes.map(\.reversed) : step.changes
    while true {
      // A missing recipient has no location.
      guard let image = try current(step.target) else { return }
      if undo, let address = changes.first, try !isToBeMade(address, on: image) {
        if try isMade(address, on: image) { return }
        throw Stop.conflict(
          "\(MergeStepName.undoPrefix)\(step.name.rawValue): the recipient was changed by another program or person")
      }
      do {
        return try remote.update(step.target, changes.map { ColumnValue($0.name, $0.after) })
      } catch .absent {
        return
      } catch .refused(_, let reason) {
        throw Stop.abort("\(step.name.rawValue): \(reason)")
      } catch {
        try attempts.next(after: error)
      }
    }
  }

  /// Carries out an instruction on a recipient. It is the only step of its plan, so a refusal leaves nothing to undo. A
  /// person must act, because a later run would be refused as well.
  ///
  /// - Parameter mayBeMade: Whether an earlier attempt may have succeeded. If so, an instruction for a program stops,
  ///   because membership cannot be queried and the program must not be started twice.
  private mutating func instruct(_ step: MergeStep, undo: Bool, mayBeMade: Bool) throws {
    let name = (undo ? MergeStepName.undoPrefix : "") + step.name.rawValue
    guard let asked = step.instruction, let instruction = undo ? asked.reversed : asked else {
      throw StoreError.inconsistent("step \(step.name.rawValue) of a merge plan cannot be carried out or undone")
    }
    let inDoubt = Stop.conflict(
      "\(name): the outcome of the request is unknown; the recipient may already be in the program")
    if mayBeMade, case .program = instruction { throw inDoubt }
    var attempts = RetryPolicy.Attempts(retryPolicy)
    while true {
      guard let image = try current(step.target) else {
        if undo { return }
        throw Stop.conflict("\(name): the recipient is gone")
      }
      let column = reconciler.settings.recipient.mobileUserIdColumn
      let user = ColumnValue(column, image[column])
      switch instruction {
      case .optOut where image.isOptedOut, .optIn where !image.isOptedOut: return
      case .optOut where user.value.isEmpty:
        throw Stop.conflict("\(name): the recipient has no mobile user id, which the opt-out requires")
      default: break
      }
      do {
        return try remote.make(instruction, for: step.target, user: user)
      } catch .exists {
        return
      } catch .lost {
        throw inDoubt
      } catch .absent(let words) {
        throw Stop.conflict("\(name): \(words)")
      } catch .refused(_, let reason) {
        throw Stop.conflict("\(name): \(reason)")
      } catch {
        try attempts.next(after: error)
      }
    }
  }

  /// Reads every recipient to which the plan writes, and repeats acknowledged writes whose values are missing.
  private mutating func verify(_ plan: MergePlan) throws {
    let steps = plan.steps.filter(\.name.isUpdate)
    for attempt in 1... {
      var images: [ByteText: RecipientImage] = [:]
      for recipient in plan.recipients {
        if let image = try current(recipient) {
          images[ByteText(recipient)] = image
        } else if !recipient.isIdentical(to: plan.loser) || !plan.scenario.isMerge {
          throw Stop.abort("\(MergeStepName.verify.rawValue): the recipient is gone")
        }
      }
      if plan.scenario.isMerge, let winner = images[ByteText(plan.winner)] {
        try refuseMutualMerge(plan, winner)
      }
      let missing = try steps.compactMap { step -> (step: MergeStep, columns: [ColumnChange])? in
        guard let image = images[ByteText(step.target)], try !areMade(step.changes, step, on: image) else { return nil }
        return (step, try step.changes.filter { try !isMade($0, on: image) })
      }
      if missing.isEmpty { return }
      if attempt >= retryPolicy.tries {
        let names = missing.flatMap(\.columns).map { "'\($0.name)'" }.joined(separator: ", ")
        throw Stop.conflict("\(MergeStepName.verify.rawValue): the service did not keep the values written to \(names)")
      }
      for step in missing.map(\.step) { try update(step, plan, undo: false) }
    }
  }

  /// Stops if somebody else merged the winner into the loser, because neither would remain (reference decisions 63).
  private func refuseMutualMerge(_ plan: MergePlan, _ winner: RecipientImage) throws {
    let settings = reconciler.settings.recipient
    guard settings.marksMergesInDatabase else { return }
    var mark = winner.mark(in: settings.mergedRecipientIdColumn)
    for _ in 0..<settings.longestMergeChain where !mark.isEmpty {
      guard !mark.isIdentical(to: plan.loser) else {
        throw Stop.conflict(
          "\(MergeStepName.verify.rawValue): the recipients are marked as merged into each other; run 'verify' to see how to correct this"
        )
      }
      mark = try remote.named(mark, retryPolicy)?.mark(in: settings.mergedRecipientIdColumn) ?? ""
    }
  }

  private mutating func writeAuditRow(_ step: MergeStep) throws {
    fresh = []
    let row = try step.auditRow()
    do {
      try retryPolicy.repeating { () throws(RemoteFailure) in try remote.writeRow(row, table: step.target) }
    } catch {
      guard error.concernsOneDevice else { throw error }
      throw Stop.abort("\(step.name.rawValue): \(error)")
    }
  }

  private func deleteAuditRow(_ step: MergeStep) throws {
    let key = try step.auditRow()[0]
    do {
      try retryPolicy.repeating { () throws(RemoteFailure) in try remote.deleteRow(key: key, table: step.target) }
    } catch .absent {
    } catch {
      guard error.concernsOneDevice else { throw error }
      throw Stop.conflict("\(step.name.rawValue): the row could not be deleted: \(error)")
    }
  }

  /// Keeps the audit row and writes a second one, with a different key and the recipients' roles exchanged, but only
  /// after a comparison shows that the merge can be undone (reference decisions 65).
  private mutating func writeCounterRow(_ step: MergeStep, _ plan: MergePlan) throws {
    if let first = plan.steps.last(where: { $0.name.isUpdate && $0.isStarted && !$0.isUndone }),
      let image = try current(first.target)
    {
      try compare(first.changes.map(\.reversed), image, first.name)
      fresh = [image]
    }
    let earlier = try reconciler.store.merges.mergesMade(
      of: plan.loser, into: plan.winner, list: plan.list, before: plan.id)
    let row = try step.auditRow()
    var counter = row
    counter[0].value = NameUUID.mergeKey(
      list: plan.list, loser: plan.loser, winner: plan.winner, earlier: earlier, undo: true)
    (counter[1].value, counter[2].value) = (row[2].value, row[1].value)
    try retryPolicy.repeating { () throws(RemoteFailure) in try remote.writeRow(counter, table: step.target) }
  }

  private mutating func current(_ recipient: String) throws -> RecipientImage? {
    if !fresh.isEmpty {
      defer { fresh = [] }
      if let image = fresh.first(where: { $0.id.isIdentical(to: recipient) }) { return image }
    }
    return try remote.named(recipient, retryPolicy)
  }

  // MARK: Journal

  private func flush(_ lines: inout [JournalLine], _ plan: MergePlan) throws {
    if lines.isEmpty { return }
    let flushed = lines
    try journal { try $0.append(flushed, to: plan.id) }
    lines = []
  }

  private func stop(_ plan: inout MergePlan, _ reason: String, _ lines: [JournalLine]) throws -> Outcome {
    // A second audit row already reports the merge as undone, so the next run continues to undo it.
    let isOnItsWay = plan.keepsAuditHistory && plan.steps.contains { $0.name == .audit && $0.isUndone }
    plan.state = isOnItsWay ? .undoing : .conflict
    plan.reason = reason
    let (id, state) = (plan.id, plan.state)
    let step = plan.steps.first { $0.isStarted && !$0.isDone }?.name.rawValue ?? ""
    try journal { try $0.settle(id, as: state, reason: reason, lines: lines + [JournalLine(.conflict, step)]) }
    return .conflict(reason)
  }

  /// Stops a plan after a call that was refused or answered wrongly, without changing the plan's
  /// progress or its recipients, because the response reveals nothing about its steps.
  private func refuse(_ plan: inout MergePlan, _ failure: RemoteFailure, _ lines: [JournalLine]) throws -> Outcome {
    plan.state = .refused
    plan.reason = "\(failure)"
    let (id, reason) = (plan.id, plan.reason)
    try journal { try $0.settle(id, as: .refused, reason: reason, lines: lines) }
    return .refused
  }

  private func journal<Value>(_ change: (MergeJournal) throws -> Value) throws -> Value {
    try reconciler.journal { try change(reconciler.store.merges) }
  }
}

/// The points at which a test may end the run as a kill would.
package enum KillPoint: Sendable { case beforeJournal, afterJournal }
package typealias Kill = @Sendable (KillPoint) throws -> Void
