package import BatchFoundation
package import BatchStore
package import GRDB

/// Whom questions and answers are about.
package struct PersonalDecisions: PersonalTables {
  package init() {}

  package func devices(of ids: [PersonID], in db: Database) throws -> [[UInt8]] {
    let devices = try ids.flatMap { id in
      try String.fetchAll(
        db, sql: "SELECT DISTINCT device FROM decision_request WHERE user = ?", arguments: [id.value.string])
    }
    return Set(devices.map { Array($0.utf8) }).sorted { $0.lexicographicallyPrecedes($1) }
  }

  package func obstacle(toErasing people: ErasedPeople, in db: Database) -> String? { nil }

  package func erase(_ people: ErasedPeople, in db: Database) throws -> [String: Int] {
    var count = 0
    func delete(_ sql: String, _ value: String) throws {
      try db.execute(sql: sql, arguments: [value])
      count += db.changesCount
    }
    for device in people.devices {
      // Players whom nobody named but the device go with it, unless another device has them too.
      let name = String(decoding: device, as: UTF8.self)
      try delete(
        """
        DELETE FROM decision_answer WHERE user IN (SELECT user FROM decision_request WHERE device = ?1)
          AND user NOT IN (SELECT user FROM decision_request WHERE device <> ?1)
        """, name)
      try delete("DELETE FROM decision_request WHERE device = ?", name)
    }
    for id in people.ids where id.kind == .user {
      try delete("DELETE FROM decision_request WHERE user = ?", id.value.string)
      try delete("DELETE FROM decision_answer WHERE user = ?", id.value.string)
    }
    return ["decisions": count]
  }
}
