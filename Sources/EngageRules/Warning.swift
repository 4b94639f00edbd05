package import BatchFoundation

/// Something that could not be used although the record counts (reference formats 3.7); each kind is described in
/// `docs/warnings.md`.
package enum WarningKind: String, CaseIterable, Sendable {
  case emptyCampaign = "empty-campaign"
  case unreadableExpiration = "unreadable-expiration"
  case nestedAttribute = "nested-attribute"
  /// A key of a payload is nearly a parameter, or a payload or link without a campaign has the name of one elsewhere.
  case nearParameter = "near-parameter"
  /// Only with `Ingest.lateRecords` = `accept`; else the record is in quarantine.
  case lateRecord = "late-record"
  /// A record of consent, with `Recipient.consentRecords` = `ignore`.
  case ignoredConsent = "ignored-consent"
  /// The event has no code in `General.eventCodes`, and is not sent.
  case noEventCode = "no-event-code"
  /// An `identify` record names a column that the program writes itself.
  case reservedColumn = "reserved-column"
  /// What the record asks for does not happen; the detail is its type.
  case consentDenied = "consent-denied"
  /// The detail is the kind of the link warning.
  case link = "link"
  /// `Augmentation.command` failed at the event.
  case augmentationProgram = "augmentation-program"
}

/// Where and why; the detail never holds a value of the record.
///
/// Owns its texts: examples are kept until the end of the run, long after the records are gone.
package struct Warning: Sendable {
  package var kind: WarningKind
  package var device: String
  package var position: RecordPosition
  package var detail: String

  package init(kind: WarningKind, device: String, position: RecordPosition, detail: String) {
    self.kind = kind
    self.device = device
    self.position = position
    self.detail = detail
  }
}
