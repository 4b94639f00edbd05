/// The types of columns: numbers in databases, words in relational tables (specification section 3.2).
package enum ColumnType: Int, Sendable, Codable, CaseIterable {
  case text = 0
  case yesNo = 1
  case number = 2
  case date = 3
  case time = 4
  case country = 5
  case select = 6
  case segmenting = 8
  case system = 9
  case smsOptIn = 13
  case smsOptOutDate = 14
  case smsPhone = 15
  case phone = 16
  case timestamp = 17
  case syncID = 19
  case multiSelect = 20

  /// nil for a word that CreateTable does not know.
  package init?(word: String) {
    switch word {
    case "TEXT", "EMAIL": self = .text
    case "YESNO": self = .yesNo
    case "NUMERIC": self = .number
    case "DATE": self = .date
    case "TIME": self = .time
    case "COUNTRY": self = .country
    case "SELECTION": self = .select
    case "DATE_TIME": self = .timestamp
    case "SYNC_ID": self = .syncID
    default: return nil
    }
  }

  /// Why a relational row with this value is refused, without the name of the column; nil if it is taken.
  func objection(to value: ExactText, zone: Bool) -> String? {
    if value.isEmpty { return nil }
    switch self {
    case .date, .timestamp, .smsOptOutDate:
      return isServiceDate(value.string, zone: zone) ? nil : "Invalid Date Value in column: "
    case .number:
      return Double(value.string) == nil ? "Invalid Number in column: " : nil
    default:
      return nil
    }
  }
}
