import GRDB

/// The statuses of the iOS SDK by number and name, and `UNKNOWN` (reference formats 4.3, events 6).
package enum EventStatus: Int, CaseIterable, Sendable {
  case notPosted = 1
  case successfullyPosted = 2
  case failedPost = 3
  case hold = 4
  case expired = 5
  case processing = 6
  /// The service may have accepted the event, which is held until an operator decides.
  case unknown = 7

  package var name: String {
    switch self {
    case .notPosted: "NOT_POSTED"
    case .successfullyPosted: "SUCCESSFULLY_POSTED"
    case .failedPost: "FAILED_POST"
    case .hold: "HOLD"
    case .expired: "EXPIRED"
    case .processing: "PROCESSING"
    case .unknown: "UNKNOWN"
    }
  }

  package init?(name: String) {
    guard let status = Self.allCases.first(where: { $0.name == name }) else { return nil }
    self = status
  }
}

extension EventStatus: DatabaseValueConvertible {}

/// The status of a chunk in the ledger: that of its events, or `split` if they are now in other chunks.
enum ChunkStatus: Equatable, DatabaseValueConvertible {
  case events(EventStatus)
  case split

  private static let splitNumber = 8

  init?(rawValue: Int) {
    if rawValue == Self.splitNumber {
      self = .split
    } else {
      guard let status = EventStatus(rawValue: rawValue) else { return nil }
      self = .events(status)
    }
  }

  var databaseValue: DatabaseValue {
    switch self {
    case .events(let status): status.databaseValue
    case .split: Self.splitNumber.databaseValue
    }
  }

  static func fromDatabaseValue(_ value: DatabaseValue) -> ChunkStatus? {
    Int.fromDatabaseValue(value).flatMap(ChunkStatus.init(rawValue:))
  }
}

extension Row {
  /// Returns the ledger status in a column.
  ///
  /// - Throws: ``StoreError/inconsistent(_:)`` for a number that no release wrote.
  func status(_ column: String) throws -> ChunkStatus {
    let number: Int = try value(column)
    guard let status = ChunkStatus(rawValue: number) else {
      throw StoreError.inconsistent("the ledger contains the unknown status \(number)")
    }
    return status
  }
}
