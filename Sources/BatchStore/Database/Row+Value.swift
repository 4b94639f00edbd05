public import BatchFoundation
public import GRDB

/// A column of a row that holds what this program never writes; the store names table and row before anybody sees it.
struct UnreadableColumn: Error {
  var name: String
}

/// Rows of a store that may be damaged, or written by somebody else.
///
/// GRDB's own subscripts end the process, and print the row, when a column has not the type that is asked for.
extension Row {
  /// Integers beyond this are not ids, times or sizes of a store, and would overflow in sums.
  private static let greatest: Int64 = 1 << 53

  /// By position, for rows that are read by the hundred thousand.
  package func value<Value: DatabaseValueConvertible>(_ index: Int) throws -> Value {
    guard index < count else { throw UnreadableColumn(name: "\(index)") }
    return try read(self[index], Array(columnNames)[index])
  }

  /// - Throws: an error that ends in ``StoreError/damagedRow(path:table:row:column:)``.
  package func value<Value: DatabaseValueConvertible>(_ column: String) throws -> Value {
    guard hasColumn(column) else { throw UnreadableColumn(name: column) }
    return try read(self[column], column)
  }

  /// An emission number, which may be greater than other numbers; less than 0 stands for none.
  package func emission(_ column: String) throws -> Int64 {
    guard hasColumn(column), let number = Int64.fromDatabaseValue(self[column]),
      -1...EmissionNumber.limit ~= number
    else { throw UnreadableColumn(name: column) }
    return number
  }

  private func read<Value: DatabaseValueConvertible>(_ stored: DatabaseValue, _ column: @autoclosure () -> String)
    throws
    -> Value
  {
    if case .int64(let number) = stored.storage, number.magnitude > UInt64(Self.greatest) {
      throw UnreadableColumn(name: column())
    }
    guard let value = Value.fromDatabaseValue(stored) else { throw UnreadableColumn(name: column()) }
    return value
  }

  /// The integer that is the first column of the only row; nil for NULL and without a row.
  static func integer(
    _ db: Database, sql: String, arguments: StatementArguments = StatementArguments()
  ) throws -> Int64? {
    try Row.fetchOne(db, sql: sql, arguments: arguments).flatMap { try $0.value(0) }
  }

  /// The bytes of a BLOB column; none for NULL.
  package func blob(_ column: String) throws -> [UInt8] { try bytes(column) ?? [] }

  /// The bytes of a BLOB column; none for NULL.
  func bytes(_ index: Int) throws -> [UInt8] {
    guard index < count else { throw UnreadableColumn(name: "\(index)") }
    return try withUnsafeData(atIndex: index) { $0.map { [UInt8]($0) } } ?? []
  }

  /// The bytes of a BLOB column; nil for NULL.
  package func bytes(_ column: String) throws -> [UInt8]? {
    try withUnsafeData(named: column) { $0.map { [UInt8]($0) } }
  }
}

extension Instant: DatabaseValueConvertible {
  public var databaseValue: DatabaseValue { milliseconds.databaseValue }

  public static func fromDatabaseValue(_ value: DatabaseValue) -> Instant? {
    Int64.fromDatabaseValue(value).map { Instant(milliseconds: $0) }
  }
}

extension RunID: DatabaseValueConvertible {
  package var databaseValue: DatabaseValue { number.databaseValue }

  package static func fromDatabaseValue(_ value: DatabaseValue) -> RunID? {
    Int64.fromDatabaseValue(value).map { RunID(number: $0) }
  }
}
