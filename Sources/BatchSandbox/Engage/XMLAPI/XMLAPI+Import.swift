import BatchFoundation
import BatchWire

/// The files of an import: the map (reference identity 3.2) and the rows.
private struct ImportFile {
  let root: XMLElement
  let info: XMLElement
  let hasHeaders: Bool
  let action: String
  /// The rows without the header.
  var rows: [[ByteText]]
  /// The columns of the source file by position, except those with INCLUDE false; the header's columns if the map lists
  /// none.
  var mapping: [(index: Int, name: ByteText)]

  init(_ files: SandboxFiles, map: String, source: String, root name: String, info infoName: String) throws {
    guard let map = files.read(.upload, map), let bytes = files.read(.upload, source) else {
      throw APIFault.invalidRequest
    }
    root = try XMLDocument.parse(map, limits: .file)
    guard root.isNamed(name), let info = root.first(infoName) else { throw APIFault.invalidRequest }
    self.info = info
    hasHeaders = info.first("HASHEADERS")?.text.lowercased() == "true"
    action = info.first("ACTION")?.text ?? ""
    guard ["CREATE", "ADD_ONLY", "UPDATE_ONLY", "ADD_AND_UPDATE", "OPT_OUT"].contains(action) else {
      throw APIFault(id: 131, text: "Import type is not valid.")
    }
    let format = ["1": "TAB", "2": "PIPE"][info.first("FILE_TYPE")?.text ?? "0"] ?? "CSV"
    rows = SeparatedText.rows(bytes, format: format)
    mapping = (root.first("MAPPING")?.all("COLUMN") ?? []).compactMap { column in
      guard let index = Int(column.first("INDEX")?.text ?? ""), column.first("INCLUDE")?.text.lowercased() != "false"
      else { return nil }
      return (index - 1, ByteText(column.first("NAME")?.text ?? ""))
    }
    guard hasHeaders, !rows.isEmpty else { return }
    let header = rows.removeFirst()
    if mapping.isEmpty { mapping = header.enumerated().map { ($0.offset, $0.element) } }
  }

  /// Returns the message for a row, preceded by the row's line number in the source file.
  func objection(_ row: Int, _ words: String) -> String { "\(row + (hasHeaders ? 2 : 1)): \(words)" }
}

private struct ImportCounts {
  var rows = 0
  var added = 0
  var updated = 0
  var duplicates = 0
  var bad: [String] = []

  func parameters(job: Int, list: ByteText, name: ByteText) -> [ServiceJob.Parameter] {
    [
      ("LIST_ID", list.string), ("TOTAL_ROWS", "\(rows)"), ("TOTAL_VALID", "\(rows - bad.count)"),
      ("SQL_ADDED", "\(added)"),
      ("SQL_UPDATED", "\(updated)"), ("DUPLICATES", "\(duplicates)"), ("BAD_RECORDS", "\(bad.count)"),
      ("BAD_ADDRESSES", "0"), ("NOT_ALLOWED", "0"), ("RESULTS_FILE_NAME", "\(job).res"),
      ("ERROR_FILE_NAME", "\(job).err"),
      ("LIST_NAME", name.string),
    ].map { ServiceJob.Parameter(name: $0.0, value: $0.1) }
  }
}

extension XMLAPI {
  mutating func importList(map: String, source: String, job: Int) throws -> [ServiceJob.Parameter] {
    let file = try ImportFile(organization.files, map: map, source: source, root: "LIST_IMPORT", info: "LIST_INFO")
    let list = try importTarget(file)
    let sync = file.root.first("SYNC_FIELDS")?.all("SYNC_FIELD").map { ByteText($0.first("NAME")?.text ?? "") } ?? []
    let keys = organization.lists[list]?.keyColumns ?? []
    let identifying = keys.isEmpty ? sync : keys
    var counts = ImportCounts()
    for (number, row) in file.rows.enumerated() {
      counts.rows += 1
      var values: Values = []
      var key: Values = []
      var unknown: ByteText?
      for (index, name) in file.mapping {
        guard let position = organization.lists[list]?.position(of: name) else {
          unknown = name
          continue
        }
        let value = index < row.count ? row[index] : .empty
        values.append((position, value))
        if identifying.contains(name) { key.append((position, value)) }
      }
      if let unknown {
        counts.bad.append(file.objection(number, "There is no column \(unknown)"))
        continue
      }
      let found = key.isEmpty || key.contains { $0.value.isEmpty } ? nil : organization.lists[list]?.matches(key).first
      switch (file.action, found) {
      case ("ADD_ONLY", .some), ("CREATE", .some): counts.duplicates += 1
      case ("UPDATE_ONLY", nil), ("OPT_OUT", nil):
        counts.bad.append(file.objection(number, APIFault.notMember.text))
      case ("OPT_OUT", let id?):
        let time = now
        organization.lists[list]?.update(id, []) { $0.optedOut = time }
        counts.updated += 1
      case (_, let id?):
        let time = now
        organization.lists[list]?.update(id, values) { $0.modified = time }
        counts.updated += 1
      default:
        _ = insertRecipient(values, [], createdFrom: "0", in: list)
        counts.added += 1
      }
    }
    let parameters = counts.parameters(job: job, list: list, name: organization.lists[list]?.name ?? .empty)
    try writeResults(parameters, errors: counts.bad, job: job)
    return parameters
  }

  /// Returns the id of the list that LIST_ID or LIST_NAME names. For the action CREATE, creates the list from COLUMNS.
  private mutating func importTarget(_ map: ImportFile) throws -> ByteText {
    if map.action == "CREATE" {
      let id = organization.takeObjectID()
      var keys: [ByteText] = []
      let columns = map.root.first("COLUMNS")?.all("COLUMN").map { column in
        let name = ByteText(column.first("NAME")?.text ?? "")
        if column.first("KEY_COLUMN")?.text.lowercased() == "true" { keys.append(name) }
        let type = Int(column.first("TYPE")?.text ?? "").flatMap(ColumnType.init(rawValue:)) ?? .text
        return MarketingList.Column(
          name: name, type: type, defaultValue: ByteText(column.first("DEFAULT_VALUE")?.text ?? ""))
      }
      organization.lists[id] = MarketingList(
        id: id, name: ByteText(map.info.first("LIST_NAME")?.text ?? "Imported"), columns: columns ?? [],
        keyColumns: keys,
        now: now)
      return id
    }
    if let id = map.info.first("LIST_ID")?.text, organization.lists[ByteText(id)] != nil { return ByteText(id) }
    let name = ByteText(map.info.first("LIST_NAME")?.text ?? "")
    guard let list = organization.lists.values.first(where: { $0.name == name }) else {
      throw APIFault.unknownList(name)
    }
    return list.id
  }

  mutating func importTable(map: String, source: String, job: Int) throws -> [ServiceJob.Parameter] {
    let file = try ImportFile(organization.files, map: map, source: source, root: "TABLE_IMPORT", info: "TABLE_INFO")
    let wanted = ByteText(file.info.first("TABLE_ID")?.text ?? "")
    let name = ByteText(file.info.first("TABLE_NAME")?.text ?? "")
    guard let table = organization.tables[wanted] ?? organization.tables.values.first(where: { $0.name == name }) else {
      throw APIFault.unknownList(wanted)
    }
    var counts = ImportCounts()
    for (number, row) in file.rows.enumerated() {
      counts.rows += 1
      let before = organization.tables[table.id]?.rows.count ?? 0
      let pairs = file.mapping.map { (name: $0.name, value: $0.index < row.count ? row[$0.index] : .empty) }
      if let failure = organization.tables[table.id]?.upsert(pairs, zone: switches.datesWithZone) {
        counts.bad.append(file.objection(number, failure))
      } else if (organization.tables[table.id]?.rows.count ?? 0) > before {
        counts.added += 1
      } else {
        counts.updated += 1
      }
    }
    let parameters = counts.parameters(job: job, list: table.id, name: table.name)
    try writeResults(parameters, errors: counts.bad, job: job)
    return parameters
  }

  private mutating func writeResults(_ parameters: [ServiceJob.Parameter], errors: [String], job: Int) throws {
    let results = parameters.map { "\($0.name)=\($0.value)\n" }.joined()
    try organization.files.write(.download, "\(job).res", Array(results.utf8))
    try organization.files.write(.download, "\(job).err", Array(errors.map { $0 + "\n" }.joined().utf8))
  }
}
