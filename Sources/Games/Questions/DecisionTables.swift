package import BatchStore

/// The tables of questions and answers in a store, as numbered steps that are never edited after a release.
package enum DecisionTables {
  package static let migrations: [String] = [first]

  /// Questions go that are settled and told by a run that ended, and answers that were got so long ago; what waits stays.
  package static let retention = StoreFormat.Retention(
    name: "decisions",
    statements: [
      """
      DELETE FROM decision_request
      WHERE time <= ?1 AND state = 2 AND settled_by IN (SELECT id FROM run WHERE finished IS NOT NULL)
      """, "DELETE FROM decision_answer WHERE as_of <= ?1",
    ])

  /// Questions of a part, none of which was asked yet.
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

  /// Times are milliseconds since 1970, `state` is the number of a ``DecisionState``. Texts are compared by their bytes.
  ///
  /// `settled_by` is the run that knows what became of a question. `decision_answer` holds the last answer for each user and
  /// place, with the end of the known time of the run that got it.
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

/// How far a question is.
enum DecisionState: Int {
  case waits = 0
  /// A request began; what came of it is not known.
  case asked = 1
  case settled = 2
}
