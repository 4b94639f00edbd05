import BatchFoundation

/// The customer's data at the service: databases, tables, jobs and files.
struct Organization: Sendable, Codable {
  struct ContactList: Sendable, Codable {
    var id: ByteText
    var name: ByteText
    var database: ByteText
    var visibility: String
    var members: Set<Int64> = []
  }

  static let id = "org-1"

  var lists: [ByteText: MarketingList] = [:]
  var tables: [ByteText: RelationalTable] = [:]
  var contactLists: [ByteText: ContactList] = [:]
  /// The contacts added to each program.
  var programs: [ByteText: Set<Int64>] = [:]
  var jobs: [Int: ServiceJob] = [:]
  var files = SandboxFiles()
  var sessions: [String] = []
  /// Above 2^32 from the start: ids do not fit 32 bits (specification section 9, point 5).
  var nextRecipientID: Int64 = 900_000_000_101
  var nextObjectID = 60_001
  var nextJobID = 80_001
  var nextSession = 1

  init() {}

  private enum CodingKeys: String, CodingKey {
    case lists, tables, contactLists, programs, jobs, sessions, nextRecipientID, nextObjectID, nextJobID, nextSession
  }

  init(seed: OrganizationSeed, now: Instant) {
    for list in seed.lists {
      lists[ByteText(list.id)] = MarketingList(
        id: ByteText(list.id), name: ByteText(list.name ?? "Customers"),
        columns: list.columns.map { MarketingList.Column(name: ByteText($0.name), type: $0.type) },
        keyColumns: list.keyColumns.map { ByteText($0) }, now: now.milliseconds)
    }
    for table in seed.tables {
      tables[ByteText(table.id)] = RelationalTable(
        id: ByteText(table.id), name: ByteText(table.name ?? "AuditRecord"),
        columns: table.columns.map {
          RelationalTable.Column(name: ByteText($0.name), type: $0.type, isRequired: $0.isRequired)
        }, keyColumns: table.keyColumns.map { ByteText($0) })
    }
    let first = seed.lists.first.map { ByteText($0.id) } ?? .empty
    for recipient in seed.recipients {
      let list = recipient.list.map { ByteText($0) } ?? first
      let id = recipient.id ?? nextRecipientID
      nextRecipientID = max(nextRecipientID, id + 1)
      var values: [(position: Int, value: ByteText)] = []
      for (name, value) in recipient.values.sorted(by: { ByteText($0.key) < ByteText($1.key) }) {
        if lists[list]?.position(of: ByteText(name)) == nil {
          lists[list]?.add(MarketingList.Column(name: ByteText(name), type: .text))
        }
        if let position = lists[list]?.position(of: ByteText(name)) { values.append((position, ByteText(value))) }
      }
      lists[list]?.insert(
        MarketingList.Recipient(
          id: id, values: [], createdFrom: "1", created: now.milliseconds, modified: now.milliseconds))
      lists[list]?.update(id, values) { _ in }
    }
  }

  /// Adds lists, tables and columns that only the other has, for example those of a changed configuration.
  mutating func addMissing(of other: Organization) {
    for (id, list) in other.lists {
      guard lists[id] != nil else {
        lists[id] = list
        continue
      }
      for column in list.columns where lists[id]?.position(of: column.name) == nil { lists[id]?.add(column) }
    }
    tables.merge(other.tables) { own, _ in own }
    nextRecipientID = max(nextRecipientID, other.nextRecipientID)
  }

  /// The lists by id, in byte order.
  var sortedLists: [MarketingList] { lists.values.sorted { $0.id < $1.id } }

  mutating func takeObjectID() -> ByteText {
    defer { nextObjectID += 1 }
    return ByteText("\(nextObjectID)")
  }
}

extension OrganizationSeed {
  /// Reads recipients, lists and tables from a JSON file in the format of `docs/sandbox.md`.
  ///
  /// - Throws: ``SandboxInputError`` with the place in the file.
  package init(json bytes: [UInt8]) throws {
    try self.init(try PlanReader.parse(bytes), path: "")
  }

  init(_ node: JSONNode, path: String) throws {
    self.init()
    let prefix = path.utf8.isEmpty ? "" : path + "."
    var reader = try PlanReader(node, path: path)
    lists = try Self.tables("lists", &reader, prefix)
    tables = try Self.tables("tables", &reader, prefix)
    recipients = try Self.recipients(&reader, prefix)
    createsWhatIsMissing = try reader.bool("createsWhatIsMissing") ?? false
    try reader.finish()
  }

  private static func tables(_ member: String, _ reader: inout PlanReader, _ prefix: String) throws -> [Table] {
    try (try reader.array(member) ?? []).enumerated().map { index, node in
      var reader = try PlanReader(node, path: "\(prefix)\(member)[\(index)]")
      guard let id = try reader.string("id") else { throw reader.error("id", "is missing") }
      let table = Table(
        id: id, name: try reader.string("name"), columns: try columns(&reader), keyColumns: try keys(&reader))
      try reader.finish()
      return table
    }
  }

  private static func columns(_ reader: inout PlanReader) throws -> [Column] {
    try (try reader.array("columns") ?? []).enumerated().map { index, node in
      if let name = node.string { return Column(name) }
      var column = try PlanReader(node, path: "\(reader.path).columns[\(index)]")
      guard let name = try column.string("name") else { throw column.error("name", "is missing") }
      let number = try column.integer("type", 0...20) ?? 0
      guard let type = ColumnType(rawValue: Int(number)) else {
        throw column.error("type", "\(number) is not a column type")
      }
      let required = try column.bool("required") ?? false
      try column.finish()
      return Column(name, type, isRequired: required)
    }
  }

  private static func keys(_ reader: inout PlanReader) throws -> [String] {
    try (try reader.array("keyColumns") ?? []).map { node in
      guard let name = node.string else { throw reader.error("keyColumns", "is not an array of strings") }
      return name
    }
  }

  /// Reads elements like `{"id": 900000000202, "list": "50001", "values": {"customer_id": "c-1"}}`, all optional.
  private static func recipients(_ reader: inout PlanReader, _ prefix: String) throws -> [Recipient] {
    try (try reader.array("recipients") ?? []).enumerated().map { index, node in
      var recipient = try PlanReader(node, path: "\(prefix)recipients[\(index)]")
      let id = try recipient.integer("id", 1...CountedNumber.range.upperBound)
      let list = try recipient.string("list")
      let values = try recipient.strings("values") ?? [:]
      try recipient.finish()
      return Recipient(id: id, list: list, values: values)
    }
  }
}
