package import BatchFoundation

/// One accepted line of an export in a deltaDNA job: checked, typed, and still in the memory of its partition.
package struct GameRecord {
  package var device: Text = .empty
  package var timestamp = Instant(milliseconds: 0)
  package var type = GameRecordType.launch
  package var kind = InputKind.events
  package var position = RecordPosition(file: 0, line: 0)
  /// K: what the ids of everything are made from that the record causes.
  package var key = RecordKey(high: 0, low: 0)

  /// What the record tells of its device; empty values replace nothing.
  package var block = DeviceBlock()
  /// The user from this record on; nil where it names none.
  package var userID: Text?
  /// Of the event, of a goal, or the decision point; nil where the type has none.
  package var name: Text?
  /// Of an engagement.
  package var flavour: Text?
  /// Of a stored event; nil where it has none. So is `eventUUID`.
  package var sessionID: Text?
  package var eventUUID: Text?
  /// The token, cross-game id or advertising id; the first two may be empty.
  package var value: Text?
  /// What the type writes into `eventParams`, an object; of a `notificationOpened` its payload.
  package var own: JSONView?
  /// `params`, or the `eventParams` of a stored event.
  package var params: JSONView?
  package var didLaunch: Bool?
  /// Consents that the record sets; nil where it leaves them.
  package var use: Bool?
  package var export: Bool?
  /// An `imageMessageAction` of type `none` is not an event.
  package var isNoAction = false
  /// The `transactionServer` cannot validate the receipt with what the record has (reference deltadna-service 2.3).
  package var lacksReceipt = false

  package init() {}
}
