import BatchFoundation
import BatchStore
import EngageRules
import GRDB

/// Finds and deletes the ids of people in the identity tables.
struct PersonalIdentities: PersonalTables {
  /// A table with the columns that contain ids of people.
  private struct PersonalTable {
    var name: String
    /// The name under which its deleted rows are counted.
    var what: String
    /// Whether each row belongs to one device, named by the column `device`.
    var isOfDevices = true
    var recipients: [String] = []
    var mobileUsers: [String] = []

    func columns(_ kind: PersonID.Kind) -> [String] {
      switch kind {
      case .recipient: recipients
      case .mobileUserID: mobileUsers
      default: []
      }
    }
  }

  private static let tables = [
    PersonalTable(
      name: "identity_check", what: "identityChecks", recipients: ["recipient_id"],
      mobileUsers: ["mobile_user_id", "anonymous_id"]),
    PersonalTable(
      name: "identity_device", what: "identityDevices", recipients: ["recipient_id"], mobileUsers: ["mobile_user_id"]),
    PersonalTable(
      name: "identity_person", what: "identityPersons", isOfDevices: false, recipients: ["recipient_id"],
      mobileUsers: ["mobile_user_id", "known_as"]),
    PersonalTable(name: "identity_moment", what: "identityMoments"),
    PersonalTable(
      name: "location_update", what: "locations", recipients: ["recipient_id"], mobileUsers: ["mobile_user_id"]),
    PersonalTable(name: "location_written", what: "locations", recipients: ["recipient_id"]),
    PersonalTable(name: "merge_refusal", what: "mergeRefusals", isOfDevices: false, recipients: ["loser", "winner"]),
    PersonalTable(name: "recipient_lock", what: "recipientLocks", isOfDevices: false, recipients: ["recipient"]),
  ]

  /// The SQL expression for the bytes of the column `device`.

  private static let device = "CAST(device AS BLOB)"

  func devices(of ids: [PersonID], in db: Database) throws -> [[UInt8]] {
    var devices: Set<[UInt8]> = []
    func add(_ sql: String, _ id: PersonID) throws {
      let rows = try Row.fetchCursor(db, sql: sql, arguments: [id.value.string])
      while let row = try rows.next() { devices.insert(try row.text(0)) }
    }
    for id in ids {
      // A recipient's last written location may be from a device that shared the recipient for a while.
      for table in Self.tables where table.isOfDevices && table.name != "location_written" {
        for column in table.columns(id.kind) {
          try add("SELECT DISTINCT \(Self.device) FROM \(table.name) WHERE \(column) = ?", id)
        }
      }
      // A person who has the recipient, or whose own was merged into it, is the same person.
      let (person, plan): (String, String)
      switch id.kind {
      case .recipient: (person, plan) = ("p.recipient_id = ?1", "?1 IN (recipient_before, recipient_after)")
      case .mobileUserID: (person, plan) = ("p.known_as = ?1", "?1 IN (user_before, user_after)")
      default: (person, plan) = ("false AND ?1", "false AND ?1")
      }
      try add(
        """
        SELECT \(Self.device) FROM identity_device WHERE person IN (SELECT person FROM identity_person p WHERE \(person))
        UNION SELECT \(Self.device) FROM merge_plan WHERE state = 'done' AND \(plan)
        """, id)
      guard id.kind == .user else { continue }
      try add(
        """
        SELECT DISTINCT \(Self.device) FROM identity_check
        WHERE id IN (SELECT check_id FROM identity_check_column WHERE value = ?)
        """, id)
    }
    return devices.sorted { $0.lexicographicallyPrecedes($1) }
  }

  func ids(in db: Database) throws -> Set<String> {
    let columns =
      Self.tables.flatMap { table in (table.recipients + table.mobileUsers).map { (table.name, $0) } }
      + ["loser", "winner", "recipient_before", "user_before", "recipient_after", "user_after"].map {
        ("merge_plan", $0)
      }
      + [("identity_check_column", "value"), ("merge_plan_id", "value")]
    let sql = columns.map { "SELECT \($1) FROM \($0)" }.joined(separator: " UNION ")
    return try Set(String.fetchAll(db, sql: sql)).subtracting([""])
  }

  /// Returns the plans that concern these people, sorted by number.
  private func plans(of people: ErasedPeople, in db: Database) throws -> [Int64] {
    var plans: Set<Int64> = []
    func add(_ sql: String, _ value: DatabaseValue) throws {
      plans.formUnion(try Int64.fetchAll(db, sql: sql, arguments: [value]))
    }
    for device in people.devices { try add("SELECT id FROM merge_plan WHERE \(Self.device) = ?", device.blob) }
    for id in people.ids where id.kind != .device {
      let value = id.value.string.databaseValue
      try add(
        """
        SELECT id FROM merge_plan WHERE ?1 IN
          (loser, winner, recipient_before, user_before, recipient_after, user_after)
        """, value)
      try add("SELECT plan FROM merge_plan_id WHERE value = ?", value)
      try add("SELECT plan FROM merge_step WHERE target = ?", value)
      try add("SELECT plan FROM merge_step_column WHERE ?1 IN (before, after)", value)
    }
    return plans.sorted()
  }

  func obstacle(toErasing people: ErasedPeople, in db: Database) throws -> String? {
    let open = try plans(of: people, in: db).filter { plan in
      try Bool.fetchOne(
        db,
        sql: """
          SELECT state NOT IN ('done', 'undone', 'dropped')
            AND (state <> 'refused' OR EXISTS (SELECT 1 FROM recipient_lock WHERE plan = merge_plan.id))
          FROM merge_plan WHERE id = ?
          """, arguments: [plan]) ?? false
    }
    guard !open.isEmpty else { return nil }
    let names = open.prefix(20).map { "\($0)" }.joined(separator: ", ")
    return """
      error: these people have unfinished identity plans (\(names)), which may be partly carried out at the service; \
      nothing was changed. Run the job or 'identity resume' to finish them, or see 'identity undo' and 'identity abandon'
      """
  }

  func erase(_ people: ErasedPeople, with removal: inout RowRemoval, in db: Database) throws {
    for plan in try plans(of: people, in: db) {
      for table in ["merge_plan_id", "merge_step", "merge_step_column", "merge_journal", "recipient_lock"] {
        try removal.delete(
          "mergePlanParts", from: table, where: "plan = ?1", plan.databaseValue, isCounted: false, in: db)
      }
      try removal.delete("mergePlans", from: "merge_plan", where: "id = ?1", plan.databaseValue, in: db)
    }
    for device in people.devices {
      for table in Self.tables where table.isOfDevices {
        try removal.delete(
          table.what, from: table.name, where: "\(Self.device) = ?1", device.blob.databaseValue, in: db)
      }
    }
    for device in people.devices {
      try removal.delete(
        "identityPersons", from: "identity_person",
        where: "\(Self.device) = ?1 AND person NOT IN (SELECT person FROM identity_device)", device.blob.databaseValue,
        in: db)
      // People also recorded by other devices are no longer linked to this one.
      try db.execute(
        sql: """
          UPDATE identity_person SET file = '', line = 0, (device, from_emission) =
            (SELECT device, min(from_emission) FROM identity_device d WHERE d.person = identity_person.person)
          WHERE \(Self.device) = ?
          """, arguments: [device.blob])
    }
    for id in people.ids where id.kind != .device {
      let value = id.value.string.databaseValue
      for table in Self.tables {
        for column in table.columns(id.kind) {
          try removal.delete(table.what, from: table.name, where: "\(column) = ?1", value, in: db)
        }
      }
      if id.kind == .user {
        try removal.delete(
          "identityChecks", from: "identity_check",
          where: "id IN (SELECT check_id FROM identity_check_column WHERE value = ?1)", value, in: db)
      }
    }
    try removal.delete(
      "identityCheckColumns", from: "identity_check_column",
      where: "check_id NOT IN (SELECT id FROM identity_check)", isCounted: false, in: db)
  }
}

extension Row {
  /// Returns the bytes of a text or blob column.
  fileprivate func text(_ index: Int) throws -> [UInt8] {
    try withUnsafeData(atIndex: index) { $0.map { Array($0) } } ?? []
  }
}
