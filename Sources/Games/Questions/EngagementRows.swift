import BatchFoundation
package import BatchStore
package import GRDB
package import GameRules

/// The questions of a batch, stored with its events or not at all.
package struct EngagementRows: PlatformRows {
  package var engagements: [Engagement] = []

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
        Int(engagement.consent.rawValue), engagement.block == nil, request.userID.string, request.sessionID?.string,
        request.decisionPoint.string, request.flavour.string, String(decoding: request.body, as: UTF8.self),
      ])
    }
  }
}
