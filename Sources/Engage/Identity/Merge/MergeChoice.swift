import BatchConfiguration
import BatchFoundation
import BatchStore
import EngageRules

/// Chooses the scenario of a check from data that has already been read (reference identity 5.3 and 5.6).
extension IdentityWork {
  enum MergeChoice {
    /// Scenario Sa: the device keeps its identity.
    case unchanged
    case plan(MergePlan)
    /// The device's recipient was merged earlier into another, with which the check continues.
    case follow
  }

  /// - Parameters:
  ///   - current: The recipient of the device; nil if the service has none with that id.
  ///   - winner: The recipient that has the ids, at the end of its chain of merges; nil if no recipient has them.
  func decide(
    _ subject: MergeDraft.Subject, current: RecipientImage?, winner: RecipientImage?
  ) throws -> MergeChoice {
    guard let current else {
      guard let winner else {
        return .plan(
          draft.stopped(
            subject, as: .held, reason: "the device's recipient is gone", loser: subject.current.recipientId))
      }
      return .plan(draft.reassigning(subject, from: subject.current.recipientId, to: winner))
    }
    let marker = current.mark(in: settings.recipient.mergedRecipientIdColumn)
    let users = (current[settings.recipient.mobileUserIdColumn], winner?[settings.recipient.mobileUserIdColumn] ?? "")
    if !marker.isEmpty, winner == nil || !marker.isIdentical(to: winner?.id ?? ""),
      winner?.id.isIdentical(to: current.id) != true
    {
      return .follow
    }
    guard let winner else { return .plan(try settingIds(subject, on: current)) }
    if winner.id.isIdentical(to: current.id) {
      guard users.1.isEmpty else { return .unchanged }
      return .plan(draft.settingMobileUserId(.setMobileUserId, subject, on: winner))
    }
    if try store.merges.refusesMerge(of: current.id, into: winner.id, list: settings.list) {
      return .plan(
        draft.stopped(
          subject, as: .dropped, reason: "this merge was undone and is not repeated", loser: current.id,
          winner: winner.id))
    }
    let earlier = try store.merges.mergesMade(of: current.id, into: winner.id, list: settings.list)
    // Another device with this recipient has caused the merge, so this device is only reassigned. If merges are not
    // marked in the list, only the store shows that.
    if earlier > 0, !marker.isEmpty || !settings.recipient.marksMergesInDatabase {
      return .plan(draft.reassigning(subject, from: current.id, to: winner))
    }
    if marker.isEmpty, try isKnown(current, otherThan: subject.ids) {
      switch settings.recipient.knownToKnown {
      case .reassign: return .plan(draft.reassigning(subject, from: current.id, to: winner))
      case .hold:
        return .plan(
          draft.stopped(
            subject, as: .held, reason: "two known customers on one device (Recipient.knownToKnown is 'hold')",
            loser: current.id, winner: winner.id))
      case .merge: break
      }
    }
    let shareUser = !users.0.isEmpty && Self.isSameUser(users.0, users.1)
    if shareUser, marker.isEmpty {
      return .plan(
        draft.stopped(
          subject, as: .held, reason: "two recipients have the same mobile user id, and neither is marked as merged",
          loser: current.id, winner: winner.id))
    }
    if users.1.isEmpty || shareUser {
      return .plan(draft.movingMobileUserId(subject, from: current, to: winner, earlier: earlier))
    }
    // A late record has no bearing on the person who has since taken over the recipient.
    if !users.0.isEmpty, !RecipientQuestion.isSame(users.0, subject.current.mobileUserId),
      try store.identities.person(users.0) != nil
    {
      return .plan(draft.reassigning(subject, from: current.id, to: winner))
    }
    return .plan(draft.marking(subject, current, mergedInto: winner, earlier: earlier))
  }

  private func settingIds(_ subject: MergeDraft.Subject, on current: RecipientImage) throws -> MergePlan {
    if settings.recipient.sharedDevice == .keep, try isKnown(current, otherThan: subject.ids) {
      return draft.stopped(
        subject, as: .dropped,
        reason: "the device's recipient has another customer's ids (Recipient.sharedDevice is 'keep')",
        loser: current.id)
    }
    return draft.settingIds(subject, on: current)
  }

  /// Whether one of the columns has a value other than the id searched for.
  private func isKnown(_ recipient: RecipientImage, otherThan ids: [ColumnValue]) throws -> Bool {
    try ids.contains { id in
      let kept = recipient[id.name]
      return try !kept.isEmpty && !reconciler.columns.kind(of: id.name).keeps(id.value, as: kept)
    }
  }

  /// Compares user ids, ignoring the case of ASCII letters, because iOS wrote UUIDs in upper case and Android in lower
  /// case.
  private static func isSameUser(_ one: String, _ other: String) -> Bool {
    one.utf8.elementsEqual(other.utf8) { $0 == $1 || ($0 ^ $1 == 0x20 && ($0 | 0x20) &- 0x61 < 26) }
  }
}
