import BatchConfiguration
import BatchFoundation
import BatchStore
import EngageRules

/// Translates a decision into the steps of a plan, with the values before and after each (reference identity 5.6).
struct MergeDraft {
  var settings: IdentitySettings
  /// Whether the mobile user id is part of a unique key, so that the loser's is cleared before the winner's is set.
  var mobileUserIdIsKey = false
  var now: Instant

  /// The device that a plan is for.
  struct Subject {
    var device: String
    var checkId: Int64?
    var emission: Int64
    var ids: [ColumnValue]
    var current: DeviceIdentity
  }

  /// - Parameter check: The check; nil for the set-up of the device's person, whose identity applies from their first
  ///   event.
  static func subject(_ device: KnownDevice, _ check: PendingCheck? = nil) -> Subject {
    Subject(
      device: device.device, checkId: check?.id,
      emission: check?.check.emission ?? device.person.fromEmission - 1, ids: check?.check.ids ?? [],
      current: device.identity)
  }

  func plan(
    _ scenario: MergeScenario, _ subject: Subject, loser: String, winner: String, after: DeviceIdentity,
    steps: [MergeStep], earlier: Int = 0
  ) -> MergePlan {
    MergePlan(
      key: NameUUID.mergeKey(list: settings.list, loser: loser, winner: winner, earlier: earlier), scenario: scenario,
      list: settings.list,
      loser: loser, winner: winner, date: settings.recipient.mergedDateFormat.format(now), device: subject.device,
      checkId: subject.checkId, emission: subject.emission, ids: subject.ids, before: subject.current, after: after,
      created: now, steps: steps)
  }

  /// Returns a plan with the state and the reason, but without steps.
  func stopped(
    _ subject: Subject, as state: MergeState, reason: String, loser: String = "", winner: String = ""
  ) -> MergePlan {
    var plan = plan(.none, subject, loser: loser, winner: winner, after: subject.current, steps: [])
    plan.state = state
    plan.reason = reason
    return plan
  }

  /// Plans the write of a last known location.
  ///
  /// - Parameter image: The recipient with its previous location.
  func placing(_ update: LocationUpdate, on image: RecipientImage, for identity: DeviceIdentity) -> MergePlan {
    let subject = Subject(
      device: update.location.device, checkId: nil, emission: -1, ids: [], current: identity)
    return plan(
      .location, subject, loser: update.recipient, winner: update.recipient, after: identity,
      steps: [
        MergeStep(
          .setLocation, target: update.recipient,
          changes: update.columns.map { ColumnChange(name: $0.name, before: image[$0.name], after: $0.value) })
      ])
  }

  /// Returns a plan that records the service's permanent refusal of the check or, without one, of the set-up.
  func refused(_ subject: Subject, _ reason: String) -> MergePlan {
    var plan = plan(
      subject.checkId == nil ? .setUp : .none, subject, loser: subject.current.recipientId,
      winner: subject.current.recipientId, after: subject.current, steps: [])
    plan.state = .refused
    plan.reason = reason
    return plan
  }

  /// Returns the plan for a record's instruction on the recipient.
  func asking(_ instruction: ContactInstruction, _ subject: Subject, of recipient: String) -> MergePlan {
    plan(
      instruction.step.scenario, subject, loser: recipient, winner: recipient, after: subject.current,
      steps: [MergeStep(instruction, of: recipient)])
  }

  /// Plans the write of a mobile user id to a recipient: row 5 of the set-up, or scenario Sb.
  func settingMobileUserId(_ scenario: MergeScenario, _ subject: Subject, on recipient: RecipientImage) -> MergePlan {
    let id = ColumnValue(settings.recipient.mobileUserIdColumn, subject.current.mobileUserId)
    return writing([id], .setMobileUserId, scenario, subject, on: recipient)
  }

  /// Plans scenario S1, in which the ids are written to the device's recipient.
  func settingIds(_ subject: Subject, on recipient: RecipientImage) -> MergePlan {
    writing(subject.ids, .setIds, .setIds, subject, on: recipient)
  }

  private func writing(
    _ values: [ColumnValue], _ step: MergeStepName, _ scenario: MergeScenario, _ subject: Subject,
    on recipient: RecipientImage
  ) -> MergePlan {
    let changes = values.map { ColumnChange(name: $0.name, before: recipient[$0.name], after: $0.value) }
    return plan(
      scenario, subject, loser: recipient.id, winner: recipient.id,
      after: DeviceIdentity(recipientId: recipient.id, mobileUserId: subject.current.mobileUserId),
      steps: [
        MergeStep(step, target: recipient.id, changes: changes), MergeStep(.verify), MergeStep(.publishMapping),
      ])
  }

  /// Plans only the reassignment of the device; neither recipient is changed.
  func reassigning(_ subject: Subject, from loser: String, to winner: RecipientImage) -> MergePlan {
    plan(
      .reassign, subject, loser: loser, winner: winner.id, after: identity(of: winner, for: subject),
      steps: [MergeStep(.publishMapping)])
  }

  /// Plans scenario S2, in which the mobile user id moves to the winner. `earlier` is the number of earlier merges of
  /// the same recipients.
  func movingMobileUserId(
    _ subject: Subject, from loser: RecipientImage, to winner: RecipientImage, earlier: Int
  ) -> MergePlan {
    let column = settings.recipient.mobileUserIdColumn
    // A late record may be about a person whose mobile user id has changed since.
    let (own, user) = (loser[column], subject.current.mobileUserId)
    let isOwn = own.isEmpty || RecipientQuestion.isSame(own, user)
    let move = MergeStep(
      .moveIdToWinner, target: winner.id,
      changes: [ColumnChange(name: column, before: winner[column], after: isOwn ? user : own)])
    let clear = MergeStep(
      .clearIdOnLoser, target: loser.id, changes: [ColumnChange(name: column, before: loser[column], after: "")])
    return plan(
      .moveMobileUserId, subject, loser: loser.id, winner: winner.id,
      after: DeviceIdentity(recipientId: winner.id, mobileUserId: subject.current.mobileUserId),
      steps: marks(on: loser, winner: winner.id) + (mobileUserIdIsKey ? [clear, move] : [move, clear])
        + [MergeStep(.verify)] + auditSteps(loser: loser.id, winner: winner.id, earlier)
        + [MergeStep(.publishMapping)], earlier: earlier)
  }

  /// Plans scenario S3, in which the loser is only marked as merged. `earlier` is the number of earlier merges of the
  /// same recipients.
  func marking(
    _ subject: Subject, _ loser: RecipientImage, mergedInto winner: RecipientImage, earlier: Int
  ) -> MergePlan {
    plan(
      .markMerged, subject, loser: loser.id, winner: winner.id, after: identity(of: winner, for: subject),
      steps: marks(on: loser, winner: winner.id) + [MergeStep(.verify)]
        + auditSteps(loser: loser.id, winner: winner.id, earlier) + [MergeStep(.publishMapping)], earlier: earlier)
  }

  private func identity(of winner: RecipientImage, for subject: Subject) -> DeviceIdentity {
    let own = winner[settings.recipient.mobileUserIdColumn]
    return DeviceIdentity(
      recipientId: winner.id, mobileUserId: own.isEmpty ? subject.current.mobileUserId : own)
  }

  /// Returns the steps that mark the loser; an existing mark keeps its date.
  private func marks(on loser: RecipientImage, winner: String) -> [MergeStep] {
    guard settings.recipient.marksMergesInDatabase else { return [] }
    let marker = loser.mark(in: settings.recipient.mergedRecipientIdColumn)
    let date = loser[settings.recipient.mergedDateColumn]
    let isMarked = marker.isIdentical(to: winner)
    return [
      MergeStep(
        .markLoser, target: loser.id,
        changes: [
          ColumnChange(name: settings.recipient.mergedRecipientIdColumn, before: marker, after: winner),
          ColumnChange(
            name: settings.recipient.mergedDateColumn, before: date,
            after: isMarked && !date.isEmpty ? date : settings.recipient.mergedDateFormat.format(now), isDate: true),
        ])
    ]
  }

  private func auditSteps(loser: String, winner: String, _ earlier: Int) -> [MergeStep] {
    guard let audit = settings.audit else { return [] }
    let row = [
      (audit.keyColumn, NameUUID.mergeKey(list: settings.list, loser: loser, winner: winner, earlier: earlier)),
      (audit.oldRecipientIdColumn, loser), (audit.newRecipientIdColumn, winner),
      (audit.dateColumn, settings.recipient.mergedDateFormat.format(now)),
    ]
    return [
      MergeStep(.audit, target: audit.tableId, changes: row.map { ColumnChange(name: $0, before: "", after: $1) })
    ]
  }
}

extension MergeStep {
  /// Returns the row that records a merge, as the step wrote it: the table's key, the loser, the winner and the date
  /// (reference identity 5.5).
  ///
  /// - Throws: ``StoreError/inconsistent(_:)`` if the step holds no audit row.
  func auditRow() throws -> [ColumnValue] {
    guard name == .audit, changes.count == 4 else {
      throw StoreError.inconsistent("step \(name.rawValue) of a merge plan contains no audit row")
    }
    return changes.map { ColumnValue($0.name, $0.after) }
  }
}
