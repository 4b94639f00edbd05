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
  private var recipients: [Int64: Recipient] = [:]
  /// The ids, oldest first, including removed ones.
  private var order: [Int64] = []

  /// The recipients by value, for each column searched so far; rebuilt on demand after a restart.
  private var index: [Int: [ByteText: [Int64]]] = [:]
  private var positions: [ByteText: Int] = [:]

  private enum CodingKeys: String, CodingKey {
    case id, name, visibility, created, modified, columns, keyColumns, recipients
  }

  init(id: ByteText, name: ByteText, columns: [Column], keyColumns: [ByteText], now: Int64) {
    self.id = id
    self.name = name
    created = now
    modified = now
    self.columns = [Column(name: "EMAIL", type: .text)]
    self.keyColumns = keyColumns.map { Self.canonical($0) }
    positions["EMAIL"] = 0
    for column in columns where position(of: column.name) == nil { add(column) }
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    id = try container.decode(ByteText.self, forKey: .id)
    name = try container.decode(ByteText.self, forKey: .name)
    visibility = try container.decode(String.self, forKey: .visibility)
    created = try container.decode(Int64.self, forKey: .created)
    modified = try container.decode(Int64.self, forKey: .modified)
    columns = try container.decode([Column].self, forKey: .columns)
    keyColumns = try container.decode([ByteText].self, forKey: .keyColumns)
    for (place, column) in columns.enumerated() { positions[column.name] = place }
    for recipient in try container.decode([Recipient].self, forKey: .recipients) { insert(recipient) }
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(id, forKey: .id)
    try container.encode(name, forKey: .name)
    try container.encode(visibility, forKey: .visibility)
    try container.encode(created, forKey: .created)
    try container.encode(modified, forKey: .modified)
    try container.encode(columns, forKey: .columns)
    try container.encode(keyColumns, forKey: .keyColumns)
    try container.encode(all, forKey: .recipients)
  }

  /// Returns EMAIL for `Email`, another name that the service accepts for that column.
  private static func canonical(_ name: ByteText) -> ByteText { name == "Email" ? "EMAIL" : name }

  func position(of name: ByteText) -> Int? { positions[Self.canonical(name)] }

  mutating func add(_ column: Column) {
    positions[column.name] = columns.count
    columns.append(column)
  }

  var count: Int { recipients.count }

  /// The recipients, oldest first.
  var all: [Recipient] { order.compactMap { recipients[$0] } }

  subscript(id: Int64) -> Recipient? { recipients[id] }

  mutating func insert(_ recipient: Recipient) {
    recipients[recipient.id] = recipient
    if let last = order.last, last > recipient.id {
      order.insert(recipient.id, at: order.firstIndex { $0 > recipient.id } ?? order.count)
    } else {
      order.append(recipient.id)
    }
    for position in index.keys { note(recipient.value(position), at: position, of: recipient.id) }
  }

  mutating func remove(_ id: Int64) {
    guard let recipient = recipients.removeValue(forKey: id) else { return }
    for position in index.keys { forget(recipient.value(position), at: position, of: id) }
    if order.count > 64, order.count > 2 * recipients.count { order.removeAll { recipients[$0] == nil } }
  }

  mutating func update(_ id: Int64, _ values: [(position: Int, value: ByteText)], _ change: (inout Recipient) -> Void) {
    guard var recipient = recipients[id] else { return }
    while recipient.values.count < columns.count { recipient.values.append(.empty) }
    for (position, value) in values where recipient.values[position] != value {
      if index[position] != nil {
        forget(recipient.values[position], at: position, of: id)
        note(value, at: position, of: id)
      }
      recipient.values[position] = value
    }
    change(&recipient)
    recipients[id] = recipient
  }

  /// Returns the ids of the recipients that have all the values, oldest first. An empty value matches a missing one.
  mutating func matches(_ wanted: [(position: Int, value: ByteText)]) -> [Int64] {
    guard let first = wanted.first(where: { !$0.value.isEmpty }) else {
      return order.filter { id in
        guard let recipient = recipients[id] else { return false }
        return wanted.allSatisfy { recipient.value($0.position) == $0.value }
      }
    }
    if index[first.position] == nil {
      index[first.position] = [:]
      for id in order {
        if let recipient = recipients[id] { note(recipient.value(first.position), at: first.position, of: id) }
      }
    }
    return (index[first.position]?[first.value] ?? []).filter { id in
      guard let recipient = recipients[id] else { return false }
      return wanted.allSatisfy { recipient.value($0.position) == $0.value }
    }
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
