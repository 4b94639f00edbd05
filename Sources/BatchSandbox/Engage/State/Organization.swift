package import BatchFoundation

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
  /// Starts above 2^32, because ids do not fit into 32 bits (reference identity 8).
  var nextRecipientID: Int64 = 900_000_000_101
  var nextObjectID = 60_001
  var nextJobID = 80_001
  var nextSession = 1

  private enum CodingKeys: String, CodingKey {
    case lists, tables, contactLists, programs, jobs, sessions, nextRecipientID, nextObjectID, nextJobID, nextSession
  }

  init(seed: OrganizationSeed, now: Instant) {
    for list in seed.lists {
      lists[ByteText(list.id)] = MarketingList(
        id: ByteText(list.id), name: ByteText(list.name ?? "Customers"),
        columns: list.columns.map { MarketingList.Column(name: $0.name, type: $0.type) },
        keyColumns: list.keyColumns.map { ByteText($0) }, now: now.milliseconds)
    }
    for table in seed.tables {
      tables[ByteText(table.id)] = RelationalTable(
        id: ByteText(table.id), name: ByteText(table.name ?? "AuditRecord"),
        columns: table.columns, keyColumns: table.keyColumns.map { ByteText($0) })
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

  /// Adds the lists, tables and columns that only `other` has, for example after a configuration change.
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

  /// The lists, sorted by the bytes of their ids.
  var sortedLists: [MarketingList] { lists.values.sorted { $0.id < $1.id } }

  mutating func takeObjectID() -> ByteText {
    defer { nextObjectID += 1 }
    return ByteText("\(nextObjectID)")
  }
}

extension OrganizationSeed {
  /// Reads recipients, lists and tables from a JSON file in the format of `docs/sandbox.md`.
  ///
  /// - Throws: ``FileError``.
  package init(json bytes: [UInt8], of file: String) throws(FileError) {
    let faults = DocumentFaults(file)
    self =
      faults.json(bytes).flatMap { Fields($0, "the file", faults) }.map { OrganizationSeed($0) } ?? OrganizationSeed()
    try faults.throwErrors()
  }

  init(_ fields: Fields) {
    self.init()
    lists = Self.tables(fields["lists"])
    tables = Self.tables(fields["tables"])
    recipients = (fields["recipients"]?.elements() ?? []).compactMap { $0.object() }.map { recipient in
      // All members are optional, as in {"id": 900000000202, "list": "50001", "values": {"customer_id": "c-1"}}.
      defer { recipient.end() }
      return Recipient(
        id: recipient["id"]?.integer(1...CountedNumber.range.upperBound), list: recipient["list"]?.anyText(),
        values: recipient["values"]?.strings() ?? [:])
    }
    createsWhatIsMissing = fields["createsWhatIsMissing"]?.flag() ?? false
    fields.end()
  }

  private static func tables(_ list: Field?) -> [Table] {
    (list?.elements() ?? []).compactMap { $0.object() }.compactMap { table in
      defer { table.end() }
      let columns = (table["columns"]?.elements() ?? []).compactMap(column)
      let keys = table["keyColumns"]?.elements()?.compactMap { $0.anyText() } ?? []
      let name = table["name"]?.anyText()
      return table.required("id")?.anyText().map {
        Table(id: $0, name: name, columns: columns, keyColumns: keys)
      }
    }
  }

  private static func column(_ field: Field) -> Column? {
    if let name = field.node.string { return Column(name) }
    guard let fields = field.object() else { return nil }
    defer { fields.end() }
    let (given, isRequired) = (fields["type"], fields["required"]?.flag() ?? false)
    let number = given?.integer(0...20) ?? 0
    let type = ColumnType(rawValue: number)
    if type == nil { given?.refuse("is \(number), which is not a column type") }
    guard let name = fields.required("name")?.anyText(), let type else { return nil }
    return Column(name, type, isRequired: isRequired)
  }
}
