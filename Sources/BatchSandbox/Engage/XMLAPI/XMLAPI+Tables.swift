import BatchFoundation
import BatchWire

extension XMLAPI {
  /// Returns the id of the table that TABLE_ID or TABLE_NAME names.
  func tableID(_ call: ReceivedCall) throws(APIFault) -> ByteText {
    if let name = call.text("TABLE_NAME"), !name.isEmpty, call.text("TABLE_ID") == nil {
      guard let table = organization.tables.values.first(where: { $0.name == name }) else { throw .unknownList(name) }
      return table.id
    }
    let id = try call.required("TABLE_ID")
    if organization.tables[id] == nil { throw Int64(id.string) == nil ? .invalidList : .unknownList(id) }
    return id
  }

  private func rows(_ call: ReceivedCall, _ column: String, limit: Int) throws(APIFault) -> [XMLAPI.Pairs] {
    guard let rows = call.element.first("ROWS")?.all("ROW"), !rows.isEmpty else { throw .missing("ROWS") }
    if rows.count > limit { throw APIFault(id: 51, text: "More than \(limit) rows in one request") }
    return rows.map { row in
      row.all(column).map { (ByteText($0.attribute("name") ?? ""), ByteText($0.text)) }
    }
  }

  mutating func insertUpdateRelationalTable(_ call: ReceivedCall, _ xml: inout ResponseWriter) throws(APIFault) {
    let rows = try rows(call, "COLUMN", limit: 100)
    if createsWhatIsMissing, let id = call.text("TABLE_ID"), !id.isEmpty, organization.tables[id] == nil,
      let first = rows.first
    {
      organization.tables[id] = RelationalTable(
        id: id, name: "AuditRecord",
        columns: first.map { OrganizationSeed.Column($0.name.string) },
        keyColumns: first.first.map { [$0.name] } ?? [])
    }
    let table = try tableID(call)
    var failures = ""
    for row in rows {
      if let failure = organization.tables[table]?.upsert(row, zone: switches.datesWithZone) {
        failures += failureText(failure, row, element: "COLUMN", table: table)
      }
    }
    if !failures.isEmpty { xml.raw("<FAILURES>\(failures)</FAILURES>") }
  }

  mutating func deleteRelationalTableData(_ call: ReceivedCall, _ xml: inout ResponseWriter) throws(APIFault) {
    let rows = try rows(call, "KEY_COLUMN", limit: 1000)
    let table = try tableID(call)
    var failures = ""
    var deleted = 0
    for row in rows {
      if let failure = organization.tables[table]?.delete(row) {
        failures += failureText(failure, row, element: "KEY_COLUMN", table: table)
      } else {
        deleted += 1
      }
    }
    if !failures.isEmpty { xml.raw("<FAILURES>\(failures)</FAILURES>") }
    if deleted == 0 { xml.fails = true }
  }

  /// Returns a FAILURE element with the key columns of the failed row.
  private func failureText(_ failure: String, _ row: Pairs, element: String, table: ByteText) -> String {
    let keys = organization.tables[table]?.keyColumns ?? []
    let columns = row.filter { keys.contains($0.name) }.map { name, value in
      "<\(element) name=\"\(XMLWriter.escaped(name.string, inAttribute: true))\">"
        + "\(XMLWriter.escaped(value.string))</\(element)>"
    }
    return "<FAILURE failure_type=\"permanent\" "
      + "description=\"\(XMLWriter.escaped(failure, inAttribute: true))\">\(columns.joined())</FAILURE>"
  }

  mutating func createTable(_ call: ReceivedCall, _ xml: inout ResponseWriter) throws(APIFault) {
    let name = try call.required("TABLE_NAME")
    if organization.tables.values.contains(where: { $0.name == name }) { throw .nameTaken }
    var columns: [OrganizationSeed.Column] = []
    var keys: [ByteText] = []
    for column in call.element.first("COLUMNS")?.all("COLUMN") ?? [] {
      guard let name = column.first("NAME")?.text, !name.utf8.isEmpty else {
        throw APIFault(id: 316, text: "COLUMN without NAME")
      }
      guard let type = ColumnType(word: column.first("TYPE")?.text ?? "TEXT") else {
        throw APIFault(id: 313, text: "Column \(name) has the wrong type.")
      }
      let required = column.first("IS_REQUIRED")?.text.lowercased() == "true"
      columns.append(OrganizationSeed.Column(name, type, isRequired: required))
      if column.first("KEY_COLUMN")?.text.lowercased() == "true" { keys.append(ByteText(name)) }
    }
    if columns.isEmpty { throw .missing("COLUMNS") }
    let id = organization.takeObjectID()
    organization.tables[id] = RelationalTable(id: id, name: name, columns: columns, keyColumns: keys)
    xml.element("TABLE_ID", id)
  }

  mutating func startTableJob(_ call: ReceivedCall, _ xml: inout ResponseWriter) throws(APIFault) {
    let table = try tableID(call)
    let work: ServiceJob.Work
    switch call.name {
    case "PurgeTable": work = .purgeTable(table)
    case "DeleteTable": work = .deleteTable(table)
    default:
      if let name = call.text("LIST_NAME"), call.text("LIST_ID") == nil {
        guard organization.lists.values.contains(where: { $0.name == name }) else { throw .unknownList(name) }
      } else {
        _ = try listID(call)
      }
      work = .joinTable
    }
    xml.element("JOB_ID", startJob(work, description: "\(call.name) \(table)"))
  }
}
