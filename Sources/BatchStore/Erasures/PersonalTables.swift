package import BatchFoundation
package import GRDB

/// The people that an erasure removes.
package struct ErasedPeople: Sendable {
  /// The ids as given.
  package var ids: [PersonID]
  /// The bytes of the ids of their devices, given or found.
  package var devices: [[UInt8]]
}

/// The data about people in a platform's own tables.
package protocol PersonalTables: Sendable {
  /// Returns the ids, as bytes, of devices that the tables have under one of the ids.
  func devices(of ids: [PersonID], in db: Database) throws -> [[UInt8]]

  /// Returns the ids of people in the tables, except those of devices.
  func ids(in db: Database) throws -> Set<String>

  /// Returns what must be finished before these people can be forgotten, as text for an operator; nil if nothing.
  func obstacle(toErasing people: ErasedPeople, in db: Database) throws -> String?

  /// Deletes the rows about these people.
  func erase(_ people: ErasedPeople, with removal: inout RowRemoval, in db: Database) throws
}

/// The removals of an erasure, counted and optionally shown to a witness first.
package struct RowRemoval {
  /// Receives something that a store knows of a person: its kind in one word, and its content.
  package typealias Witness = (_ what: String, JSONNode) throws -> Void

  /// The number of events by status and of rows by kind, without zeros.
  private(set) var counts: [String: Int] = [:]
  private let witness: Witness?

  init(_ witness: Witness?) { self.witness = witness }

  mutating func count(_ count: Int, _ what: String) { if count > 0 { counts[what, default: 0] += count } }

  /// - Parameter content: evaluated only if there is a witness.
  func show(_ what: String, _ content: @autoclosure () throws -> JSONNode) throws { try witness?(what, content()) }

  /// Deletes rows of a table.
  ///
  /// - Parameters:
  ///   - what: the kind of rows in one word, as a JSON member.
  ///   - condition: a SQL condition on the row, with `?1` for the value.
  ///   - isCounted: false for rows that are part of others.
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
  /// The columns as JSON: JSON is kept, other bytes are text, or base 16 if they are not text.
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
            (try? JSONNode.parse(Array(bytes)))
              ?? .text(String(validating: bytes, as: UTF8.self) ?? Hexadecimal.text(of: bytes))
          }
        return (column, node)
      })
  }
}
