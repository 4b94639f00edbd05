package import BatchFoundation

extension PersonID.Kind {
  /// Of a recipient of the list.
  package static let recipient = Self("recipient")
  /// Mobile user ids, those of anonymous users as well.
  package static let mobileUserID = Self("mobile-user-id")

  /// By what Engage knows people; a `user` is an id of an `identify` record.
  package static let ofEngage: [Self] = [.device, .recipient, .mobileUserID, .user]
}
