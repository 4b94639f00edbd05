package import BatchFoundation

/// A campaign that an event of a player triggers (reference deltadna-service 4.6).
///
/// Texts belong to the ``SessionConfiguration`` that the trigger came with.
package struct Trigger: Sendable {
  package enum Action: String, Sendable {
    case gameParameters
    case imageMessage
  }

  package var eventName: Text
  /// -1 where the file has none; so is `variantID`.
  package var campaignID: Int64
  package var variantID: Int64
  /// Larger ones come first.
  package var priority: Int64
  package var action: Action
  package var campaignName: Text?
  package var variantName: Text?
  /// How often it is shown in one session at most; nil for no limit.
  var limit: Int64?
  var condition: Condition
  /// One of them has to hold; none are no bar.
  var showConditions: [ShowCondition]
  /// Names the trigger in ``TriggerCounts``, also after the file was changed elsewhere.
  package var key: UInt64
}
