/// The statuses of the iOS SDK by name and number, and `UNKNOWN` (contract section 5, spec engage-events 6).
package enum EventStatus: Int, CaseIterable, Sendable {
  case notPosted = 1
  case successfullyPosted = 2
  case failedPost = 3
  case hold = 4
  case expired = 5
  case processing = 6
  /// Of a request whose answer was lost.
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

  /// Of a chunk whose events live on in its parts; never the status of an event.
  static let split = 8
}
