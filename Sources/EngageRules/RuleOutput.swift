package import BatchFoundation

/// The results of the rules since the caller last took them.
@safe package struct RuleOutput {
  /// The events in emission order, device by device; sort by ``Event/precedes(_:_:)`` for delivery.
  package var events: [Event] = []
  package var checks: [IdentityCheck] = []
  /// The owners of the devices, noted at the first record and at each change.
  package var owners: [DeviceSetup] = []
  package var moments: [IdentityMoment] = []
  /// For each emitted session end, its emission number and the place of the record that started the session.
  package var causes: [(Int64, StoredSource)] = []
  package var locations: [LastKnownLocation] = []
  package var warnings: [Warning] = []
  /// The positions of late records if `Ingest.lateRecords` is `quarantine`.
  package var late: [RecordPosition] = []
  package var counts = RuleCounts()
  package var sessionStarts: [Instant] = []
  package var sessionEnds: [(at: Instant, used: Milliseconds)] = []
  package var campaignSets: [(campaign: Campaign, at: Instant)] = []
  /// The stored campaigns found to have expired, once each.
  package var campaignExpiries: [Campaign] = []
  /// The routes that links matched, as indices into the route file.
  package var routes: [Int] = []
  /// The core values of the latest event, which the next events of its device usually share.
  var newestCore: UnsafePointer<CoreTexts>?

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

/// Counts for the summary besides those of the lists in ``RuleOutput`` (reference decisions 21).
package struct RuleCounts: Sendable, Equatable {
  /// The number of links that were opened within a session and whose event has the code of a session start.
  package var linksInSessions = 0
  /// The number of events held until a mobile user id is known; their status is HOLD, and no event list contains them
  /// (reference decisions 5).
  package var heldForUserId = 0
  /// The number of events held for a location or placemark that may still come (reference decisions 28).
  package var heldForSamples = 0
}

/// A problem with a record that still counts (reference formats 3.7); `docs/words.md` describes each kind.
package enum WarningKind: String, CaseIterable, Sendable {
  case emptyCampaign = "empty-campaign"
  case unreadableExpiration = "unreadable-expiration"
  case nestedAttribute = "nested-attribute"
  /// A key resembles a parameter, or a payload or link that sets no campaign has a campaign parameter elsewhere.
  case nearParameter = "near-parameter"
  /// Only with `Ingest.lateRecords` = `accept`; otherwise the record is quarantined.
  case lateRecord = "late-record"
  /// A consent record was ignored, because `Recipient.consentRecords` is `ignore`.
  case ignoredConsent = "ignored-consent"
  /// The event is not sent: `General.eventCodes` has no code for it, or only the service uses its code.
  case noEventCode = "no-event-code"
  /// An `identify` record names a column that the program writes itself.
  case reservedColumn = "reserved-column"
  /// The record was not acted on; the detail is its type.
  case consentDenied = "consent-denied"
  /// The detail is the kind of the link warning.
  case link = "link"
  /// `Augmentation.command` failed on the event.
  case augmentationProgram = "augmentation-program"
}

/// A warning with its position and reason; the detail never contains a value from the record.
package struct Warning: Sendable {
  package var kind: WarningKind
  package var device: String
  package var position: RecordPosition
  private var reason: Reason

  /// Only a few warnings are kept as examples, so the words for the reason that most records of an export may have are
  /// put together when they are read.
  private enum Reason {
    case text(String)
    case nested(name: Text, place: StaticString)
  }

  package init(kind: WarningKind, device: String, position: RecordPosition, detail: String) {
    (self.kind, self.device, self.position, reason) = (kind, device, position, .text(detail))
  }

  /// - Parameter nested: the name of an attribute, which must live until ``detail`` is read.
  init(device: String, position: RecordPosition, nested: Text, in place: StaticString) {
    (kind, self.device, self.position) = (.nestedAttribute, device, position)
    reason = .nested(name: nested, place: place)
  }

  package var detail: String {
    switch reason {
    case .text(let text): text
    case .nested(let name, let place): "attribute '\(name.inWarning)' of \(place) is an array or an object; dropped"
    }
  }
}
