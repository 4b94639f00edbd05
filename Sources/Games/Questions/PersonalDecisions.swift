package import BatchFoundation
package import BatchStore
package import GRDB

/// Whom questions and answers are about.
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
      // Players whom nobody named but the device go with it, unless another device has them too.
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
