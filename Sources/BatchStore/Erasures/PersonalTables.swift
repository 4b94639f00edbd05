package import BatchFoundation
package import GRDB

/// The people whom an erasure removes.
package struct ErasedPeople: Sendable {
  /// The ids that were given.
  package var ids: [PersonID]
  /// The devices of these people, given or found, as the bytes of their ids.
  package var devices: [[UInt8]]
}

/// The data about people in a platform's own tables. Errors roll back the erasure.
package protocol PersonalTables: Sendable {
  /// Returns the devices that the tables have for any of these ids, as the bytes of their ids.
  func devices(of ids: [PersonID], in db: Database) throws -> [[UInt8]]

  /// Returns all ids of people in the tables, except those of devices.
  func ids(in db: Database) throws -> Set<String>

  /// Returns a message about work that must be finished before these people can be forgotten; nil if there is none.
  func obstacle(toErasing people: ErasedPeople, in db: Database) throws -> String?

  /// Deletes the rows about these people.
  func erase(_ people: ErasedPeople, with removal: inout RowRemoval, in db: Database) throws
}

/// Carries out and counts the removals of an erasure, and shows them to a witness first if there is one.
package struct RowRemoval {
  /// Receives a piece of data that a store has about a person: its kind in one word, and its content.
  package typealias Witness = (_ what: String, JSONNode) throws -> Void

  /// The number of removed events by status and of removed rows by kind, without zeros.
  private(set) var counts: [String: Int] = [:]
  private let witness: Witness?

  init(_ witness: Witness?) { self.witness = witness }

  mutating func count(_ count: Int, _ what: String) { if count > 0 { counts[what, default: 0] += count } }

  /// - Parameter content: evaluated only if there is a witness.
  func show(_ what: String, _ content: @autoclosure () throws -> JSONNode) throws { try witness?(what, content()) }

  /// Deletes rows from a table.
  ///
  /// - Parameters:
  ///   - what: the kind of rows in one word, used as a JSON member.
  ///   - condition: a SQL condition for the rows; `?1` is `value`.
  ///   - isCounted: false for rows that belong to other, counted rows.
  /// - Throws: the errors of GRDB and of the witness.
  package mutating func delete(
    _ what: String, from table: String, where condition: String, _ value: DatabaseValue = .null, isCounted: Bool = true,
    in db: Database
  ) throws {
    if witness != nil {
      let rows = try Row.fetchCursor(
        db, sql: "SELECT * FROM \(table) WHERE \(condition)", arguments: value.isNull ? [] : [value])
      while let row = try rows.next() { try show(what, row.document) }
    }
    try db.execute(sql: "DELETE FROM \(table) WHERE \(condition)", arguments: value.isNull ? [] : [value])
    if isCounted { count(db.changesCount, what) }
  }
}

extension Row {
  /// The columns as JSON. A BLOB is parsed if it is JSON; otherwise it is a string, in hexadecimal if it is not UTF-8.
  fileprivate var document: JSONNode {
    .object(
      map { column, value in
        let node: JSONNode =
          switch value.storage {
          case .null: .text(nil)
          case .int64(let number): .number(number)
          case .double(let number): .text("\(number)")
          case .string(let text): .text(text)
          case .blob(let bytes):
            (try? JSONNode.parse(Array(bytes), options: .nulCharacters))
              ?? .text(String(validating: bytes, as: UTF8.self) ?? Hexadecimal.text(of: bytes))
          }
        return (column, node)
      })
  }
}
