import BatchFoundation
package import BatchStore
import EngageRules
import GRDB

/// The plans of merges, with the journal of their steps. Functions throw ``StoreError``; see ``EventStore``.
package struct MergeJournal: Sendable {
  let connection: StoreConnection

  /// Stores a plan, its first journal lines and the device's person, and locks its recipients, in one transaction.
  ///
  /// A plan that is dropped at once finishes its check. A location plan replaces the recipient's earlier location plans
  /// that have ended.
  ///
  /// - Parameter device: The device; nil if the store does not know its person.
  /// - Returns: The number of the plan that holds one of the recipients, if nothing was stored; otherwise nil.
  package func begin(
    _ plan: inout MergePlan, for device: KnownDevice?, lines: [JournalLine], run: RunID
  ) throws -> Int64? {
    var stored = plan
    let holder: Int64? = try connection.writeTogether { db in
      if stored.holdsLocks {
        for recipient in stored.recipients {
          if let holder = try Self.holder(of: recipient, in: db) { return holder }
        }
      }
      stored.id = try Self.insert(stored, run: run, into: db)
      if stored.holdsLocks {
        for recipient in stored.recipients { try Self.lock(recipient, for: stored.id, in: db) }
      }
      try Self.append(lines, to: stored.id, in: db)
      if stored.scenario == .location { try Self.deletePlaces(of: stored.winner, before: stored.id, in: db) }
      if let device { try Identities.save(device.person, in: db) }
      if stored.state == .dropped, let check = stored.checkId { try Self.finish(check, run: run, in: db) }
      return nil
    }
    plan = stored
    return holder
  }

  /// Stores the service's permanent refusal of a set-up or check as a plan without steps; returns its number.
  package func refuse(_ plan: MergePlan, for device: KnownDevice, run: RunID) throws -> Int64 {
    try connection.writeTogether { db in
      try Identities.save(device.person, in: db)
      let id = try Self.insert(plan, run: run, into: db)
      try Self.append([JournalLine(.plan, plan.key)], to: id, in: db)
      return id
    }
  }

  /// Removes a recipient's earlier location plans that have ended.
  private static func deletePlaces(of recipient: String, before plan: Int64, in db: Database) throws {
    let earlier = try Int64.fetchAll(
      db.cachedStatement(
        sql: """
          SELECT id FROM merge_plan WHERE loser = ? AND winner = ? AND scenario = ? AND id < ?
            AND state IN ('done', 'undone', 'dropped')
          """), arguments: [recipient, recipient, MergeScenario.location.rawValue, plan])
    for id in earlier {
      for table in ["merge_step_column", "merge_step", "merge_journal"] {
        try db.cachedStatement(sql: "DELETE FROM \(table) WHERE plan = ?").execute(arguments: [id])
      }
      try db.cachedStatement(sql: "DELETE FROM merge_plan WHERE id = ?").execute(arguments: [id])
    }
  }

  /// Ends the refused plans of a person's set-up, because it has succeeded or was abandoned.
  static func endRefusals(of person: Person, in db: Database) throws {
    try db.cachedStatement(
      sql: """
        UPDATE merge_plan SET state = CASE WHEN undo_cause IS NULL THEN 'dropped' ELSE 'undone' END
        WHERE state = 'refused' AND device = ? AND user_after = ? AND check_id IS NULL AND scenario <> 'location'
        """
    ).execute(arguments: [person.device, person.mobileUserId])
  }

  /// Returns the number of the earlier plan for the same check, set-up or location that was refused without effect; the
  /// new plan takes over the number. Returns nil if there is none.
  private static func refused(_ plan: MergePlan, in db: Database) throws -> Int64? {
    try Int64.fetchOne(
      db.cachedStatement(
        sql: """
          SELECT id FROM merge_plan WHERE state = 'refused' AND device = ?1 AND check_id IS ?2
            AND (scenario = 'location') = ?3 AND CASE WHEN scenario = 'location' THEN loser = ?4
              WHEN check_id IS NULL THEN user_after = ?5 ELSE true END
            AND NOT EXISTS (SELECT 1 FROM recipient_lock WHERE plan = merge_plan.id) ORDER BY id LIMIT 1
          """),
      arguments: [
        plan.device, plan.checkId, plan.scenario == .location, plan.loser, plan.after.mobileUserId,
      ])
  }

  /// Appends lines to the journal of a plan; they are durable on return.
  package func append(_ lines: [JournalLine], to plan: Int64) throws {
    if lines.isEmpty { return }
    try connection.writeTogether { try Self.append(lines, to: plan, in: $0) }
  }

  /// Appends lines and sets the state; a plan that ends releases its locks.
  package func settle(_ plan: Int64, as state: MergeState, reason: String, lines: [JournalLine]) throws {
    try connection.writeTogether { db in
      try Self.append(lines, to: plan, in: db)
      try Self.setState(state, reason: reason, of: plan, in: db)
    }
  }

  /// Ends a plan in one transaction: finishes its check or the person's set-up, and releases its locks. From then on,
  /// the plan determines its device's identity, unless it is an instruction.
  package func conclude(_ plan: MergePlan, lines: [JournalLine], run: RunID) throws {
    try connection.writeTogether { db in
      try Self.append(lines, to: plan.id, in: db)
      if let check = plan.checkId {
        try Self.finish(check, run: run, in: db)
      } else if plan.scenario == .register, var person = try Identities.person(plan.after.mobileUserId, in: db) {
        (person.recipientId, person.knownAs, person.progress) = (plan.after.recipientId, "", .ready)
        try Identities.save(person, in: db)
      }
      try Self.setState(.done, reason: plan.reason, of: plan.id, in: db)
    }
  }

  /// Undoes what ``conclude(_:lines:run:)`` published. If a later plan depends on the plan, changes nothing
  /// and returns false.
  package func withdraw(_ plan: MergePlan, lines: [JournalLine]) throws -> Bool {
    try connection.writeTogether { db in
      guard try Self.laterPlan(than: plan, in: db) == nil else { return false }
      try Self.append(lines, to: plan.id, in: db)
      if plan.checkId == nil, plan.scenario == .register,
        var person = try Identities.person(plan.after.mobileUserId, in: db)
      {
        (person.recipientId, person.progress) = ("", .pending)
        try Identities.save(person, in: db)
      }
      return true
    }
  }

  /// Begins to undo a plan, with its reason and cause. Its recipients are locked again if it had ended.
  ///
  /// - Returns: The number of another plan that holds one of the recipients, if nothing was changed; otherwise nil.
  /// - Throws: ``StoreError/inconsistent(_:)`` for a plan without a cause.
  package func beginUndo(_ plan: MergePlan) throws -> Int64? {
    guard let cause = plan.undoCause else {
      throw StoreError.inconsistent("the undo of merge plan \(plan.id) has no cause")
    }
    return try connection.writeTogether { db in
      for recipient in plan.recipients {
        let holder = try Self.holder(of: recipient, in: db)
        if let holder, holder != plan.id { return holder }
        if holder == nil { try Self.lock(recipient, for: plan.id, in: db) }
      }
      try Self.append([JournalLine(.undo, plan.key)], to: plan.id, in: db)
      try Self.setState(.undoing, reason: plan.reason, of: plan.id, in: db)
      try db.cachedStatement(sql: "UPDATE merge_plan SET undo_cause = ?, keeps_history = ? WHERE id = ?")
        .execute(arguments: [cause.rawValue, plan.keepsAuditHistory, plan.id])
      return nil
    }
  }

  /// Ends an undo; its ``UndoCause`` determines what happens to the check.
  package func finishUndo(_ plan: MergePlan, lines: [JournalLine], run: RunID) throws {
    try connection.writeTogether { db in
      try Self.append(lines, to: plan.id, in: db)
      guard plan.undoCause == .operator else {
        try Self.setState(.refused, reason: plan.reason, of: plan.id, in: db)
        return try Self.unlock(plan.id, in: db)
      }
      try Self.setState(.undone, reason: plan.reason, of: plan.id, in: db)
      if !plan.scenario.isInstruction {
        try db.execute(
          sql: "INSERT OR IGNORE INTO merge_refusal (list, loser, winner) VALUES (?, ?, ?)",
          arguments: [plan.list, plan.loser, plan.winner])
      }
      if let check = plan.checkId { try Self.finish(check, run: run, in: db) }
    }
  }

  /// Ends a plan as dropped, without any call. Its check counts as finished.
  package func abandon(_ plan: MergePlan, run: RunID) throws {
    try connection.writeTogether { db in
      try Self.append([JournalLine(.end, MergeState.dropped.rawValue)], to: plan.id, in: db)
      try Self.setState(.dropped, reason: "abandoned by an operator", of: plan.id, in: db)
      if let check = plan.checkId { try Self.finish(check, run: run, in: db) }
      guard plan.scenario == .setUp, let person = try Identities.person(plan.after.mobileUserId, in: db) else { return }
      try Identities.abandon(person, for: plan.device, in: db)
    }
  }

  /// Whether an operator has undone this merge, so that it must not be made again.
  package func refusesMerge(of loser: String, into winner: String, list: String) throws -> Bool {
    try connection.read { db in
      try Int.fetchOne(
        db.cachedStatement(sql: "SELECT 1 FROM merge_refusal WHERE list = ? AND loser = ? AND winner = ?"),
        arguments: [list, loser, winner]) != nil
    }
  }

  /// Returns how often a merge was made and not undone, counting only plans before `plan` if it is given.
  package func mergesMade(
    of loser: String, into winner: String, list: String, before plan: Int64? = nil
  ) throws -> Int {
    try connection.read { db in
      try Int.fetchOne(
        db.cachedStatement(
          sql: """
            SELECT count(*) FROM merge_plan
            WHERE loser = ? AND winner = ? AND list = ? AND state = 'done' AND scenario IN (?, ?) AND id < ?
            """),
        arguments: [
          loser, winner, list, MergeScenario.moveMobileUserId.rawValue, MergeScenario.markMerged.rawValue, plan ?? .max,
        ]) ?? 0
    }
  }

  // MARK: Rows

  private static func insert(_ plan: MergePlan, run: RunID, into db: Database) throws -> Int64 {
    let known = try refused(plan, in: db)
    for table in known == nil ? [] : ["merge_plan_id", "merge_step", "merge_step_column"] {
      try db.cachedStatement(sql: "DELETE FROM \(table) WHERE plan = ?").execute(arguments: [known])
    }
    try db.cachedStatement(
      sql: """
        INSERT OR REPLACE INTO merge_plan (id, merge_key, scenario, state, reason, list, loser, winner, date, device, check_id, emission,
          recipient_before, user_before, recipient_after, user_after, run, created)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """
    ).execute(arguments: [
      known, plan.key, plan.scenario.rawValue, plan.state.rawValue, plan.reason, plan.list, plan.loser, plan.winner,
      plan.date,
      plan.device, plan.checkId, plan.emission, plan.before.recipientId, plan.before.mobileUserId,
      plan.after.recipientId, plan.after.mobileUserId, run.number, plan.created.milliseconds,
    ])
    let id = db.lastInsertedRowID
    for (ordinal, column) in plan.ids.enumerated() {
      try db.cachedStatement(sql: "INSERT INTO merge_plan_id (plan, ordinal, name, value) VALUES (?, ?, ?, ?)")
        .execute(arguments: [id, ordinal, column.name, column.value])
    }
    for (number, step) in plan.steps.enumerated() {
      try db.cachedStatement(sql: "INSERT INTO merge_step (plan, ordinal, name, target) VALUES (?, ?, ?, ?)")
        .execute(arguments: [id, number, step.name.rawValue, step.target])
      for (ordinal, change) in step.changes.enumerated() {
        try db.cachedStatement(
          sql: """
            INSERT INTO merge_step_column (plan, step, ordinal, name, before, after, is_date) VALUES (?, ?, ?, ?, ?, ?, ?)
            """
        ).execute(arguments: [id, number, ordinal, change.name, change.before, change.after, change.isDate])
      }
    }
    return id
  }

  private static func append(_ lines: [JournalLine], to plan: Int64, in db: Database) throws {
    let statement = try db.cachedStatement(sql: "INSERT INTO merge_journal (plan, entry, step) VALUES (?, ?, ?)")
    for line in lines { try statement.execute(arguments: [plan, line.entry.rawValue, line.step]) }
  }

  private static func setState(_ state: MergeState, reason: String, of plan: Int64, in db: Database) throws {
    try db.cachedStatement(sql: "UPDATE merge_plan SET state = ?, reason = ? WHERE id = ?")
      .execute(arguments: [state.rawValue, reason, plan])
    if state.isEnded { try unlock(plan, in: db) }
  }

  /// Returns the plan that has locked a recipient; nil if there is none.
  private static func holder(of recipient: String, in db: Database) throws -> Int64? {
    try Int64.fetchOne(
      db.cachedStatement(sql: "SELECT plan FROM recipient_lock WHERE recipient = ?"), arguments: [recipient])
  }

  private static func lock(_ recipient: String, for plan: Int64, in db: Database) throws {
    try db.cachedStatement(sql: "INSERT INTO recipient_lock (recipient, plan) VALUES (?, ?)")
      .execute(arguments: [recipient, plan])
  }

  private static func unlock(_ plan: Int64, in db: Database) throws {
    try db.cachedStatement(sql: "DELETE FROM recipient_lock WHERE plan = ?").execute(arguments: [plan])
  }

  static func finish(_ check: Int64, run: RunID, in db: Database) throws {
    try db.cachedStatement(sql: "UPDATE identity_check SET finished_run = ? WHERE id = ?")
      .execute(arguments: [run.number, check])
    try db.cachedStatement(
      sql: """
        UPDATE merge_plan SET state = CASE WHEN undo_cause IS NULL THEN 'dropped' ELSE 'undone' END
        WHERE check_id = ? AND state = 'refused'
        """
    ).execute(arguments: [check])
  }

  static func journal(of plan: Int64, in db: Database) throws -> [JournalLine] {
    try Row.fetchAll(
      db.cachedStatement(sql: "SELECT entry, step FROM merge_journal WHERE plan = ? ORDER BY id"), arguments: [plan]
    ).map { row in
      guard let entry = try JournalLine.Entry(rawValue: row.value("entry")) else {
        throw StoreError.inconsistent("the journal of merge plan \(plan) has an unknown entry")
      }
      return try JournalLine(entry, row.value("step"))
    }
  }

  static func plan(_ id: Int64, in db: Database) throws -> MergePlan? {
    guard
      let row = try Row.fetchOne(
        db.cachedStatement(
          sql: """
            SELECT merge_key, scenario, state, reason, list, loser, winner, date, device, check_id, emission,
              recipient_before, user_before, recipient_after, user_after, created, undo_cause, keeps_history
            FROM merge_plan WHERE id = ?
            """), arguments: [id])
    else { return nil }
    guard let scenario = try MergeScenario(rawValue: row.value("scenario")),
      let state = try MergeState(rawValue: row.value("state"))
    else {
      throw StoreError.inconsistent("merge plan \(id) has an unknown scenario or state")
    }
    let ids = try Row.fetchAll(
      db.cachedStatement(sql: "SELECT name, value FROM merge_plan_id WHERE plan = ? ORDER BY ordinal"), arguments: [id]
    ).map { try ColumnValue($0.value("name"), $0.value("value")) }
    var steps = try Row.fetchAll(
      db.cachedStatement(sql: "SELECT ordinal, name, target FROM merge_step WHERE plan = ? ORDER BY ordinal"),
      arguments: [id]
    ).map { row in
      guard let name = try MergeStepName(rawValue: row.value("name")) else {
        throw StoreError.inconsistent("merge plan \(id) has an unknown step")
      }
      let changes = try Row.fetchAll(
        db.cachedStatement(
          sql: "SELECT name, before, after, is_date FROM merge_step_column WHERE plan = ? AND step = ? ORDER BY ordinal"
        ),
        arguments: [id, try row.value("ordinal") as Int64]
      ).map {
        try ColumnChange(
          name: $0.value("name"), before: $0.value("before"), after: $0.value("after"), isDate: $0.value("is_date"))
      }
      return try MergeStep(name, target: row.value("target"), changes: changes)
    }
    // If a plan was refused and made again, only its last attempt counts.
    let lines = try journal(of: id, in: db)
    for line in lines[(lines.lastIndex { $0.entry == .plan } ?? 0)...] {
      for index in steps.indices {
        let name = steps[index].name.rawValue
        switch line.entry {
        case .start where line.step == name: steps[index].isStarted = true
        case .done where line.step == name: steps[index].isDone = true
        case .start where line.step == MergeStepName.undoPrefix + name: steps[index].isUndoStarted = true
        case .done where line.step == MergeStepName.undoPrefix + name: steps[index].isUndone = true
        default: break
        }
      }
    }
    var plan = try MergePlan(
      key: row.value("merge_key"), scenario: scenario, list: row.value("list"), loser: row.value("loser"),
      winner: row.value("winner"), date: row.value("date"), device: row.value("device"), checkId: row.value("check_id"),
      emission: row.emission("emission"), ids: ids,
      before: DeviceIdentity(recipientId: row.value("recipient_before"), mobileUserId: row.value("user_before")),
      after: DeviceIdentity(recipientId: row.value("recipient_after"), mobileUserId: row.value("user_after")),
      created: row.value("created"), steps: steps)
    plan.id = id
    plan.state = state
    plan.reason = try row.value("reason")
    plan.keepsAuditHistory = try row.value("keeps_history")
    plan.undoCause = try (row.value("undo_cause") as String?).map { word in
      guard let cause = UndoCause(rawValue: word) else {
        throw StoreError.inconsistent("merge plan \(id) has an unknown cause for its undo")
      }
      return cause
    }
    return plan
  }
}
