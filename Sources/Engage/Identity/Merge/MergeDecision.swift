import BatchConfiguration
import BatchFoundation
import BatchStore
import EngageRules

/// Decides which scenario a check is, from what was read and nothing else (reference identity 5.3 and 5.6).
struct MergeDecision {
  var draft: MergeDraft
  /// An operator has undone the merge of these two.
  var isRefused: (_ loser: String, _ winner: String) throws -> Bool
  /// How often these two were merged from this store, and it holds.
  var mergesMade: (_ loser: String, _ winner: String) throws -> Int
  /// Whether the store knows somebody by a mobile user id.
  var isPerson: (_ mobileUserId: String) throws -> Bool
  /// Whether a recipient's column keeps an id.
  var keeps: (_ id: IdentityColumn, _ kept: String) throws -> Bool

  enum Result {
    /// Sa: the device is who it was.
    case unchanged
    case plan(MergePlan)
    /// The recipient of the device went up in another one earlier; the check is that one's.
    case follow(String)
  }

  private var settings: IdentitySettings { draft.settings }

  /// - Parameters:
  ///   - current: the recipient of the device; nil if the service has none of that id.
  ///   - winner: the recipient that has the ids, at the end of its chain of merges; nil if nobody has them.
  func decide(
    _ subject: MergeDraft.Subject, current: RecipientImage?, winner: RecipientImage?
  ) throws -> Result {
    guard let current else {
      guard let winner else {
        return .plan(
          draft.stopped(
            subject, as: .held, reason: "the recipient of the device is gone", loser: subject.current.recipientId))
      }
      return .plan(draft.reassigning(subject, from: subject.current.recipientId, to: winner))
    }
    let marker = current.mark(in: settings.recipient.mergedRecipientIdColumn)
    let users = (current[settings.recipient.mobileUserIdColumn], winner?[settings.recipient.mobileUserIdColumn] ?? "")
    if !marker.isEmpty, winner == nil || !marker.isIdentical(to: winner?.id ?? ""),
      winner?.id.isIdentical(to: current.id) != true
    {
      return .follow(marker)
    }
    guard let winner else { return .plan(try settingIds(subject, on: current)) }
    if winner.id.isIdentical(to: current.id) {
      guard users.1.isEmpty else { return .unchanged }
      return .plan(draft.settingMobileUserId(.setMobileUserId, subject, on: winner))
    }
    if try isRefused(current.id, winner.id) {
      return .plan(
        draft.stopped(
          subject, as: .dropped, reason: "this merge was undone and is not made again", loser: current.id,
          winner: winner.id))
    }
    let earlier = try mergesMade(current.id, winner.id)
    // Another device of the recipient has made this merge: this one only moves over. Without marks nothing at the service tells.
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
          subject, as: .held, reason: "two recipients carry the mobile user id and neither is marked",
          loser: current.id, winner: winner.id))
    }
    if users.1.isEmpty || shareUser {
      return .plan(draft.movingMobileUserId(subject, from: current, to: winner, earlier: earlier))
    }
    // A record that comes late says nothing of whoever took the recipient over since.
    if !users.0.isEmpty, !RecipientQuestion.isSame(users.0, subject.current.mobileUserId), try isPerson(users.0) {
      return .plan(draft.reassigning(subject, from: current.id, to: winner))
    }
    return .plan(draft.marking(subject, current, mergedInto: winner, earlier: earlier))
  }

  private func settingIds(_ subject: MergeDraft.Subject, on current: RecipientImage) throws -> MergePlan {
    if settings.recipient.sharedDevice == .keep, try isKnown(current, otherThan: subject.ids) {
      return draft.stopped(
        subject, as: .dropped,
        reason: "the recipient of the device has another customer's ids (Recipient.sharedDevice is 'keep')",
        loser: current.id)
    }
    return draft.settingIds(subject, on: current)
  }

  /// Whether the recipient has a value of its own in one of the columns that is not the one searched for.
  private func isKnown(_ recipient: RecipientImage, otherThan ids: [IdentityColumn]) throws -> Bool {
    try ids.contains { try !recipient[$0.name].isEmpty && !keeps($0, recipient[$0.name]) }
  }

  /// iOS wrote UUIDs in upper case and Android in lower case.
  static func isSameUser(_ one: String, _ other: String) -> Bool {
    one.utf8.elementsEqual(other.utf8) { $0 == $1 || ($0 ^ $1 == 0x20 && ($0 | 0x20) &- 0x61 < 26) }
  }
}
