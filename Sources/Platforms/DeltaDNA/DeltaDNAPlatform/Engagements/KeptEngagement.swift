package import BatchFoundation
package import BatchStore
package import DeltaDNAAPI
package import DeltaDNAEvents
package import GRDB

/// A recorded question to Engage, on its way into the store (reference deltadna 9).
package struct KeptEngagement: Sendable, Hashable {
  package var timestamp: Instant
  /// Of the export; with the emission it decides the order among questions of one time.
  package var device: ByteText
  /// Counts what the device's records led to.
  package var emission: Int64
  /// As given by the time of the question; decides the headers.
  package var consent: Consent
  /// False where the phone would not have asked: the player has opted out or denied consent, or the session's configuration
  /// does not list the decision point.
  package var isAsked: Bool
  package var request: DecisionRequest
}

/// The questions of a batch, stored with its events or not at all.
package struct EngagementRows: PlatformRows {
  package var engagements: [KeptEngagement] = []

  package var byteCount: Int { engagements.reduce(0) { $0 + 512 + $1.request.parameters.string.utf8.count } }

  package mutating func add(_ more: any PlatformRows) {
    if let more = more as? EngagementRows { engagements += more.engagements }
  }

  /// A question that was put to the service, or is about to be, is not put again.
  package func without(_ known: any PlatformRows) -> (any PlatformRows)? {
    guard let known = known as? EngagementRows else { return self }
    var rows = self
    rows.engagements.removeAll { engagement in
      known.engagements.contains {
        $0.timestamp == engagement.timestamp && $0.request.decisionPoint == engagement.request.decisionPoint
          && $0.request.parameters == engagement.request.parameters
      }
    }
    return rows.engagements.isEmpty ? nil : rows
  }

  package func insert(run: RunID, into db: Database) throws {
    let statement = try db.cachedStatement(
      sql: """
        INSERT INTO decision_request
          (time, device, emission, consent, is_asked, user, session, point, flavour, body)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """)
    for engagement in engagements {
      let request = engagement.request
      try statement.execute(arguments: [
        engagement.timestamp.milliseconds, engagement.device.string, engagement.emission,
        Int(engagement.consent.rawValue), engagement.isAsked, request.userID.string, request.sessionID?.string,
        request.decisionPoint.string, request.flavour.string, String(decoding: request.body, as: UTF8.self),
      ])
    }
  }
}
