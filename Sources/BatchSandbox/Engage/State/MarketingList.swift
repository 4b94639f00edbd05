import BatchFoundation

/// A database of recipients (reference identity 8).
struct MarketingList: Sendable, Codable {
  struct Column: Sendable, Codable {
    var name: ByteText
    var type: ColumnType
    var defaultValue: ByteText = .empty
    var selectionValues: [ByteText] = []
  }
  struct Recipient: Sendable, Codable {
    var id: Int64
    /// One value per column of the list; fewer if columns were added later.
    var values: [ByteText]
    var createdFrom: ByteText
    var created: Int64
    var modified: Int64
    var optedOut: Int64?
    var resumeSendDate: ByteText = .empty

    func value(_ position: Int) -> ByteText { position < values.count ? values[position] : .empty }
  }

  var id: ByteText
  var name: ByteText
  var visibility = "1"
  var created: Int64
  var modified: Int64
  /// The columns; EMAIL comes first.
  private(set) var columns: [Column]
  var keyColumns: [ByteText]
  private var recipients = Recipients()

  /// The recipients by value, for each column searched so far; rebuilt on demand after a restart.
  private var index: [Int: [ByteText: [Int64]]] = [:]

  private enum CodingKeys: CodingKey {
    case id, name, visibility, created, modified, columns, keyColumns, recipients
  }

  /// The recipients by id, coded as a list, oldest first.
  private struct Recipients: Sendable, Codable {
    var byID: [Int64: Recipient] = [:]

    var all: [Recipient] { byID.values.sorted { $0.id < $1.id } }

    init() {}

    init(from decoder: any Decoder) throws {
      for recipient in try [Recipient](from: decoder) { byID[recipient.id] = recipient }
    }

    func encode(to encoder: any Encoder) throws { try all.encode(to: encoder) }
  }

  init(id: ByteText, name: ByteText, columns: [Column], keyColumns: [ByteText], now: Int64) {
    self.id = id
    self.name = name
    created = now
    modified = now
    self.columns = [Column(name: "EMAIL", type: .text)]
    self.keyColumns = keyColumns.map { Self.canonical($0) }
    for column in columns where position(of: column.name) == nil { add(column) }
  }

  /// Returns EMAIL for `Email`, another name that the service accepts for that column.
  private static func canonical(_ name: ByteText) -> ByteText { name == "Email" ? "EMAIL" : name }

  func position(of name: ByteText) -> Int? {
    let name = Self.canonical(name)
    return columns.firstIndex { $0.name == name }
  }

  mutating func add(_ column: Column) { columns.append(column) }

  var count: Int { recipients.byID.count }

  /// The recipients, oldest first.
  var all: [Recipient] { recipients.all }

  subscript(id: Int64) -> Recipient? { recipients.byID[id] }

  mutating func insert(_ recipient: Recipient) {
    recipients.byID[recipient.id] = recipient
    for position in index.keys { note(recipient.value(position), at: position, of: recipient.id) }
  }

  mutating func remove(_ id: Int64) {
    guard let recipient = recipients.byID.removeValue(forKey: id) else { return }
    for position in index.keys { forget(recipient.value(position), at: position, of: id) }
  }

  mutating func update(_ id: Int64, _ values: [(position: Int, value: ByteText)], _ change: (inout Recipient) -> Void) {
    guard var recipient = recipients.byID[id] else { return }
    while recipient.values.count < columns.count { recipient.values.append(.empty) }
    for (position, value) in values where recipient.values[position] != value {
      if index[position] != nil {
        forget(recipient.values[position], at: position, of: id)
        note(value, at: position, of: id)
      }
      recipient.values[position] = value
    }
    change(&recipient)
    recipients.byID[id] = recipient
  }

  /// Returns the ids of the recipients that have all the values, oldest first. An empty value matches a missing one.
  mutating func matches(_ wanted: [(position: Int, value: ByteText)]) -> [Int64] {
    func hasAll(_ recipient: Recipient) -> Bool {
      wanted.allSatisfy { recipient.value($0.position) == $0.value }
    }
    guard let first = wanted.first(where: { !$0.value.isEmpty }) else { return all.filter(hasAll).map(\.id) }
    if index[first.position] == nil {
      index[first.position] = [:]
      for recipient in all { note(recipient.value(first.position), at: first.position, of: recipient.id) }
    }
    return (index[first.position]?[first.value] ?? []).filter { self[$0].map(hasAll) ?? false }
  }

  private mutating func note(_ value: ByteText, at position: Int, of id: Int64) {
    if value.isEmpty { return }
    var ids = index[position]?[value] ?? []
    ids.insert(id, at: ids.firstIndex { $0 > id } ?? ids.count)
    index[position]?[value] = ids
  }

  private mutating func forget(_ value: ByteText, at position: Int, of id: Int64) {
    if value.isEmpty { return }
    index[position]?[value]?.removeAll { $0 == id }
  }
}

/// The types of columns, written as numbers in databases and as words in relational tables
/// (reference identity 3.2).
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

  /// Returns nil for a word that CreateTable does not know.
  package init?(word: String) {
    guard let type = Self.words[word] else { return nil }
    self = type
  }

  private static let words: [String: ColumnType] = [
    "TEXT": .text, "EMAIL": .text, "YESNO": .yesNo, "NUMERIC": .number, "DATE": .date, "TIME": .time,
    "COUNTRY": .country, "SELECTION": .select, "DATE_TIME": .timestamp, "SYNC_ID": .syncID,
  ]

  /// Returns the reason to refuse a relational row with this value, to which the column's name is appended; nil if the
  /// value is valid.
  func objection(to value: ByteText, zone: Bool) -> String? {
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
