package import BatchFoundation
package import GRDB

/// Whom an erasure is about.
package struct ErasedPeople: Sendable {
  /// As they were named.
  package var ids: [PersonID]
  /// The bytes of the ids of their devices, named or found.
  package var devices: [[UInt8]]
}

/// What a platform's own tables know of people.
package protocol PersonalTables: Sendable {
  /// Devices that the tables have under one of the ids, by the bytes of their ids.
  func devices(of ids: [PersonID], in db: Database) throws -> [[UInt8]]

  /// The ids of people that the tables have, those of devices aside.
  func ids(in db: Database) throws -> Set<String>

  /// What has to be finished before these people can be forgotten, in words for an operator; nil for nothing.
  func obstacle(toErasing people: ErasedPeople, in db: Database) throws -> String?

  /// Deletes what is about these people.
  func erase(_ people: ErasedPeople, with removal: inout RowRemoval, in db: Database) throws
}

/// What an erasure removes: counted, and handed to whoever wants to see it first.
package struct RowRemoval {
  /// Something that a store knows of a person: what it is in one word, and what it says.
  package typealias Witness = (_ what: String, JSONNode) throws -> Void

  /// Events by status, rows by what they are; none is 0.
  private(set) var counts: [String: Int] = [:]
  private let witness: Witness?

  init(_ witness: Witness?) { self.witness = witness }

  mutating func count(_ count: Int, _ what: String) { if count > 0 { counts[what, default: 0] += count } }

  /// - Parameter content: made only where somebody wants to see it.
  func show(_ what: String, _ content: @autoclosure () throws -> JSONNode) throws { try witness?(what, content()) }

  /// Deletes rows of a table.
  ///
  /// - Parameters:
  ///   - what: what the rows are in one word, as a member of JSON.
  ///   - condition: on the row, with `?1` for the value.
  ///   - isCounted: false for rows that are a part of others.
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
  /// The columns as JSON: what is JSON itself as such, other bytes as text, or in base 16 where they are not.
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
