package import BatchFoundation

/// What the rules made of the records they were given, until it is taken.
@safe package struct RuleOutput {
  /// In order of emission, device after device; sort by ``Event/precedes(_:_:)`` for delivery.
  package var events: [Event] = []
  package var checks: [DecidedCheck] = []
  /// Whom the devices record, from their first record on and whenever it changes.
  package var owners: [DecidedOwner] = []
  package var moments: [IdentityMoment] = []
  /// Of the ends of sessions, by their emission numbers: where the records were read that started them.
  package var causes: [(Int64, StoredSource)] = []
  package var locations: [LastKnownLocation] = []
  package var warnings: [Warning] = []
  /// Records from before what was decided of their device, with `Ingest.lateRecords` = `quarantine`.
  package var late: [RecordPosition] = []
  package var counts = RuleCounts()
  package var sessionStarts: [Instant] = []
  package var sessionEnds: [(at: Instant, used: Milliseconds)] = []
  package var campaignSets: [(campaign: Campaign, at: Instant)] = []
  /// Names of campaigns that were seen past their expiry.
  package var campaignExpiries: [Campaign] = []
  /// Routes that links matched, by their index in the file.
  package var routes: [Int] = []
  /// Core values of the newest event, which the next ones of its device mostly have as well.
  private var newestCore: UnsafePointer<CoreTexts>?

  /// The same values in memory of the arena: that of the event before where it has them.
  mutating func shared(_ core: CoreTexts, in arena: Arena) -> UnsafePointer<CoreTexts> {
    if let newestCore = unsafe newestCore, unsafe newestCore.pointee.isSameMemory(as: core) {
      return unsafe newestCore
    }
    let placed = unsafe core.placed(in: arena)
    unsafe newestCore = placed
    return unsafe placed
  }

  package mutating func removeAll() {
    unsafe newestCore = nil
    sessionStarts.removeAll(keepingCapacity: true)
    sessionEnds.removeAll(keepingCapacity: true)
    campaignSets.removeAll(keepingCapacity: true)
    campaignExpiries.removeAll(keepingCapacity: true)
    routes.removeAll(keepingCapacity: true)
    events.removeAll(keepingCapacity: true)
    checks.removeAll()
    owners.removeAll()
    moments.removeAll()
    causes.removeAll(keepingCapacity: true)
    locations.removeAll()
    warnings.removeAll(keepingCapacity: true)
    late.removeAll()
    counts = RuleCounts()
  }
}

/// A check, and the record that asks for it.
package struct DecidedCheck: Sendable {
  package var position: RecordPosition
  package var check: IdentityCheck
}

/// Whom a device records, and the record that says so.
package struct DecidedOwner: Sendable {
  package var position: RecordPosition
  package var setup: DeviceSetup
}

/// Figures of the summary that the rules know (reference decisions 21).
package struct RuleCounts: Sendable, Equatable {
  package var sessionsStarted = 0
  package var sessionsEnded = 0
  package var campaignsSet = 0
  package var campaignsExpired = 0
  /// Links that were opened within a session, with an event of the code of a session's start.
  package var linksInSessions = 0
  /// Events of the devices at hand that wait for a mobile user id when their records end; status HOLD, in no event list
  /// (reference decisions 5).
  package var waitingForUserId = 0
  /// The same for a location or placemark that may still come (reference decisions 28).
  package var waitingForSamples = 0
}

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
