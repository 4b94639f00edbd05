package import BatchFoundation
import BatchStore
package import EngageRules
import GRDB

/// The data that Engage has about people, as far as the store knows.
package struct ServiceTraces: Sendable, Equatable {
  package var recipients: Set<String> = []
  /// The people's mobile user ids, which are also looked up.
  package var mobileUsers: Set<String> = []
  /// The mobile user ids that other devices record too. Their recipients are kept unless these ids are given as well.
  package var shared: Set<String> = []
  /// The mobile user ids of recipients into which an automatic id was merged although the id recorded after it has its
  /// own recipient. They may be other people's, so their recipients are kept unless these ids are given as well.
  package var doubtful: Set<String> = []
  /// The recipients that are kept, however they are found, because other devices lead to them too or because they are
  /// doubtful.
  package var kept: Set<String> = []
  /// The keys of the audit rows of these people's merges.
  package var auditRows: Set<AuditKey> = []
  /// The columns of the list in which the people were looked up, with the values.
  package var columns: Set<ColumnValue> = []

  package struct AuditKey: Sendable, Hashable {
    package var table: String
    package var column: String
    package var value: String
  }
}

extension Identities {
  /// Returns the data that Engage has about these people, as far as the store knows: the recipients of the ids, those
  /// merged with them, and the audit rows of these merges (reference decisions 58).
  package func serviceTraces(of ids: [PersonID]) throws -> ServiceTraces {
    try connection.readIdentities(orElse: ServiceTraces()) { db in
      let devices = Set(ids.filter { $0.kind == .device }.map(\.value.string))
      var search = try TraceSearch(db: db, devices: devices)
      // A given id is included even if other devices record it.
      for id in ids {
        let value = id.value.string
        switch id.kind {
        case .recipient: try search.add(recipient: value, isNamed: true)
        case .mobileUserID: try search.add(user: value, isNamed: true)
        case .user: try search.add(customer: value)
        default: break
        }
      }
      for device in devices.sorted() {
        let users = try String.fetchAll(
          db, sql: "SELECT iif(mobile_user_id = '', person, mobile_user_id) FROM identity_device WHERE device = ?",
          arguments: [device])
        for user in users { try search.add(user: user, isNamed: false) }
      }
      try search.addPredecessors()
      search.traces.shared.subtract(search.traces.mobileUsers)
      search.traces.doubtful.subtract(search.traces.mobileUsers.union(search.traces.shared))
      search.traces.recipients.remove("")
      search.traces.kept.subtract(search.traces.recipients)
      return search.traces
    }
  }
}

private struct TraceSearch {
  let db: Database
  /// The given devices, and all devices that record a given id.
  private(set) var devices: Set<String>
  var traces = ServiceTraces()
  private var persons: Set<String> = []
  /// The automatic ids that preceded the ids found. Added last, so that nothing found without them is doubtful.
  private var predecessors: [(user: String, isNamed: Bool)] = []
  private var isPredecessor = false
  private var who: WhoIsWho

  init(db: Database, devices: Set<String>) throws {
    self.db = db
    who = try WhoIsWho(db)
    self.devices = devices
  }

  /// Adds a person. The automatic id that preceded the id on a device is the same person's, and is added later.
  mutating func add(user: String, isNamed: Bool) throws {
    let key = Person.key(user)
    guard !user.isEmpty, !persons.contains(key) else { return }
    if isNamed { try devices.formUnion(recorders(of: key)) }
    guard try isNamed || !isShared(key) else {
      traces.shared.insert(user)
      return
    }
    persons.insert(key)
    traces.mobileUsers.insert(user)
    if let person = try Identities.person(key: key, in: db) {
      try add(recipient: person.recipientId, isNamed: isNamed)
      if !person.knownAs.isEmpty { try add(user: person.knownAs, isNamed: isNamed) }
    }
    let rows = try Row.fetchAll(
      db, sql: "SELECT device, from_emission, recipient_id FROM identity_device WHERE person = ?", arguments: [key])
    for row in rows {
      try add(recipient: row.value("recipient_id"), isNamed: isNamed)
      let before = try who.predecessor(of: key, on: row.value("device"), from: row.emission("from_emission"))
      if let before { predecessors.append((before.person.mobileUserId, isNamed)) }
    }
    // Even if no device records the id, others may have been merged into its recipient.
    let winners = try Row.fetchAll(
      db,
      sql: """
        SELECT winner, user_after FROM merge_plan
        WHERE \(WhoIsWho.isMerge) AND scenario = '\(MergeScenario.markMerged.rawValue)' AND lower(user_after) = lower(?)
        """, arguments: [user])
    for plan in winners where try Person.key(plan.value("user_after")) == key {
      try add(recipient: plan.value("winner"), isNamed: isNamed)
    }
  }

  /// Adds the automatic ids that preceded the ids found, but not the people into whose recipients
  /// these automatic ids were merged.
  mutating func addPredecessors() throws {
    isPredecessor = true
    while let (user, isNamed) = predecessors.popLast() { try add(user: user, isNamed: isNamed) }
  }

  private func isShared(_ key: String) throws -> Bool {
    try recorders(of: key).contains { !devices.contains($0) }
  }

  private func recorders(of key: String) throws -> [String] {
    try String.fetchAll(db, sql: "SELECT DISTINCT device FROM identity_device WHERE person = ?", arguments: [key])
  }

  /// Adds a recipient and those merged with it, unless other devices record a person who has it too.
  mutating func add(recipient: String, isNamed: Bool) throws {
    guard !recipient.isEmpty, !traces.recipients.contains(recipient) else { return }
    let others =
      try isNamed && !isPredecessor
      ? []
      : String.fetchAll(
        db,
        sql: """
          SELECT mobile_user_id FROM identity_person WHERE recipient_id = ?1
          UNION SELECT user_before FROM merge_plan WHERE winner = ?1 AND \(WhoIsWho.isMerge)
          """, arguments: [recipient]
      ).filter { user in
        let key = Person.key(user)
        // An automatic id whose recipient was merged into that of a named person belongs to that person.
        return try !persons.contains(key) && isShared(key)
          && !(isNamed && who.isAutomatic(user, before: .max) == true)
      }
    traces.shared.formUnion(others)
    guard others.isEmpty else {
      traces.kept.insert(recipient)
      return
    }
    traces.recipients.insert(recipient)
    let plans = try Row.fetchAll(
      db,
      sql: """
        SELECT id, scenario, loser, winner, user_before, user_after FROM merge_plan
        WHERE \(WhoIsWho.isMerge) AND ?1 IN (loser, winner)
        """, arguments: [recipient])
    for plan in plans { try add(merge: plan, of: recipient, isNamed: isNamed) }
  }

  private mutating func add(merge plan: Row, of recipient: String, isNamed: Bool) throws {
    let isLoser = try plan.value("loser") == recipient
    let other: String = try plan.value(isLoser ? "winner" : "loser")
    let user: String = try plan.value(isLoser ? "user_after" : "user_before")
    if isPredecessor, isLoser, !persons.contains(Person.key(user)) {
      traces.doubtful.insert(user)
    } else {
      try add(user: user, isNamed: isNamed)
    }
    // A recipient that belongs to an id outside the search is kept.
    if persons.contains(Person.key(user)) {
      try add(recipient: other, isNamed: isNamed)
    } else if !user.isEmpty {
      traces.kept.insert(other)
    }
    let rows = try Row.fetchAll(
      db,
      sql: """
        SELECT s.target, c.name, c.after FROM merge_step s
        JOIN merge_step_column c ON c.plan = s.plan AND c.step = s.ordinal AND c.ordinal = 0
        WHERE s.plan = ? AND s.name = '\(MergeStepName.audit.rawValue)'
        """, arguments: [try plan.value("id") as Int64])
    for row in rows {
      traces.auditRows.insert(
        ServiceTraces.AuditKey(
          table: try row.value("target"), column: try row.value("name"), value: try row.value("after")))
    }
  }

  /// Adds the columns in which a customer's id was looked up, and the recipients that were merged because of it.
  mutating func add(customer value: String) throws {
    for name in try String.fetchAll(
      db, sql: "SELECT DISTINCT name FROM identity_check_column WHERE value = ?", arguments: [value])
    {
      traces.columns.insert(ColumnValue(name, value))
    }
    let plans = try Row.fetchAll(
      db,
      sql: """
        SELECT loser, winner FROM merge_plan
        WHERE \(WhoIsWho.isMerge) AND id IN (SELECT plan FROM merge_plan_id WHERE value = ?)
        """, arguments: [value])
    for plan in plans {
      try add(recipient: plan.value("loser"), isNamed: true)
      try add(recipient: plan.value("winner"), isNamed: true)
    }
  }
}
