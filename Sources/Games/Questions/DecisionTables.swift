package import BatchFoundation
package import BatchStore
package import GRDB
package import GameRules

/// The tables of questions and answers in a store, as numbered migrations that are never edited after a release.
package enum DecisionTables {
  package static let migrations: [String] = [first]

  /// Deletes old questions that a finished run settled and reported, and old answers; pending questions are kept.
  package static let retention = StoreFormat.AgingRows(
    name: "decisions",
    statements: [
      """
      DELETE FROM decision_request
      WHERE time <= ?1 AND state = 2 AND settled_by IN (SELECT id FROM run WHERE finished IS NOT NULL)
      """, "DELETE FROM decision_answer WHERE as_of <= ?1",
    ])

  /// Copies the questions from a part; none of them has been sent yet.
  package static let collection = StoreFormat.Collection(
    appended: ["decision_request"],
    statements: [
      """
      INSERT INTO main.decision_request
        (time, device, emission, consent, is_asked, user, session, point, flavour, body, state, settled_by, status, cached,
          error, answer)
      SELECT time, device, emission, consent, is_asked, user, session, point, flavour, body, state,
        CASE WHEN settled_by IS NULL THEN NULL ELSE ?1 END, status, cached, error, answer
      FROM part.decision_request ORDER BY id
      """
    ])

  /// Times are milliseconds since 1970. `state` is the raw value of a ``DecisionState``. Text is compared by bytes.
  /// `settled_by` is the run that settled a question. `decision_answer` has the last answer for each user, decision
  /// point and flavour; its `as_of` is the clock of the run that got the answer.
  private static let first = """
    CREATE TABLE decision_request (
      id INTEGER PRIMARY KEY,
      time INTEGER NOT NULL,
      device TEXT NOT NULL,
      emission INTEGER NOT NULL,
      consent INTEGER NOT NULL,
      is_asked INTEGER NOT NULL,
      user TEXT NOT NULL,
      session TEXT,
      point TEXT NOT NULL,
      flavour TEXT NOT NULL,
      body TEXT NOT NULL,
      state INTEGER NOT NULL DEFAULT 0,
      settled_by INTEGER,
      status INTEGER,
      cached INTEGER NOT NULL DEFAULT 0,
      error TEXT,
      answer TEXT
    ) STRICT;
    CREATE INDEX decision_request_in_order ON decision_request (time, device, emission, id);
    CREATE INDEX decision_request_by_state ON decision_request (state) WHERE state < 2;

    CREATE TABLE decision_answer (
      user TEXT NOT NULL,
      point TEXT NOT NULL,
      flavour TEXT NOT NULL,
      as_of INTEGER NOT NULL,
      answer TEXT NOT NULL,
      PRIMARY KEY (user, point, flavour)
    ) STRICT, WITHOUT ROWID;
    """
}

/// The progress of a question.
enum DecisionState: Int {
  case pending = 0
  /// A request was started; its outcome is unknown.
  case asked = 1
  case settled = 2
}

/// Finds and erases people in questions and answers.
package struct PersonalDecisions: PersonalTables {
  package func devices(of ids: [PersonID], in db: Database) throws -> [[UInt8]] {
    let devices = try ids.flatMap { id in
      try String.fetchAll(
        db, sql: "SELECT DISTINCT device FROM decision_request WHERE user = ?", arguments: [id.value.string])
    }
    return Set(devices.map { Array($0.utf8) }).sorted { $0.lexicographicallyPrecedes($1) }
  }

  package func ids(in db: Database) throws -> Set<String> {
    try Set(String.fetchAll(db, sql: "SELECT DISTINCT user FROM decision_request"))
  }

  package func obstacle(toErasing people: ErasedPeople, in db: Database) -> String? { nil }

  package func erase(_ people: ErasedPeople, with removal: inout RowRemoval, in db: Database) throws {
    func delete(from table: String, where condition: String, _ value: String) throws {
      try removal.delete("decisions", from: table, where: condition, value.databaseValue, in: db)
    }
    for device in people.devices {
      // The answers for a player are erased with the device, unless another device has the same player.
      let name = String(decoding: device, as: UTF8.self)
      try delete(
        from: "decision_answer",
        where: """
          user IN (SELECT user FROM decision_request WHERE device = ?1)
          AND user NOT IN (SELECT user FROM decision_request WHERE device <> ?1)
          """, name)
      try delete(from: "decision_request", where: "device = ?1", name)
    }
    for id in people.ids where id.kind == .user {
      try delete(from: "decision_request", where: "user = ?1", id.value.string)
      try delete(from: "decision_answer", where: "user = ?1", id.value.string)
    }
  }
}

/// The questions in a batch, which are stored together with the batch's events.
package struct EngagementRows: PlatformRows {
  package var engagements: [Engagement] = []

  package var byteCount: Int { engagements.reduce(0) { $0 + 512 + $1.request.parameters.string.utf8.count } }

  package mutating func add(_ more: any PlatformRows) {
    if let more = more as? EngagementRows { engagements += more.engagements }
  }

  /// Returns the questions except those in `known`, which were, or may have been, sent already; nil if none are left.
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
