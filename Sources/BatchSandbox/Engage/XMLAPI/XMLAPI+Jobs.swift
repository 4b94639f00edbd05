import BatchFoundation
import BatchWire

extension XMLAPI {
  mutating func startJob(_ work: ServiceJob.Work, description: String) -> Int {
    let id = organization.nextJobID
    organization.nextJobID += 1
    organization.jobs[id] = ServiceJob(id: id, description: description, work: work, created: now)
    return id
  }

  mutating func startImport(_ call: ReceivedCall, _ xml: inout ResponseWriter) throws(APIFault) {
    let map = try call.required("MAP_FILE").string
    let source = try call.required("SOURCE_FILE").string
    if let encoding = call.text("FILE_ENCODING"), !["", "UTF-8", "ISO-8859-1"].contains(encoding) {
      throw APIFault(id: 141, text: "File encoding is not valid.")
    }
    for file in [map, source] where organization.files.read(.upload, file) == nil {
      throw APIFault(id: 132, text: "Import job was not created: file \(file) was not found in upload.")
    }
    let work: ServiceJob.Work =
      call.name == "ImportList" ? .importList(map: map, source: source) : .importTable(map: map, source: source)
    xml.element("JOB_ID", startJob(work, description: source))
  }

  mutating func exportList(_ call: ReceivedCall, _ xml: inout ResponseWriter) throws(APIFault) {
    let list = try listID(call)
    let type = try call.required("EXPORT_TYPE").string
    guard ["ALL", "OPT_IN", "OPT_OUT", "UNDELIVERABLE"].contains(type) else {
      throw APIFault(id: 154, text: "Export type is not valid.")
    }
    let format = try exportFormat(call)
    let columns = exportColumns(call)
    for column in columns where !isExportable(column, of: list) {
      throw APIFault(id: 153, text: "Export column \(column) is not in the list.")
    }
    let name = organization.lists[list]?.name.string ?? ""
    let words = ["ALL": "All", "OPT_IN": "Opted In", "OPT_OUT": "Opted Out", "UNDELIVERABLE": "Undeliverable"]
    let file = uniqueFile("\(name) - \(words[type] ?? type) - \(CivilTime(clock.now).fileForm).\(format)")
    let work = ServiceJob.Work.exportList(
      ServiceJob.ListExport(list: list, type: type, format: format, columns: columns, file: file))
    xml.element("JOB_ID", startJob(work, description: file))
    xml.element("FILE_PATH", "/download/\(file)")
  }

  mutating func exportTable(_ call: ReceivedCall, _ xml: inout ResponseWriter) throws(APIFault) {
    let table = try tableID(call)
    let format = try exportFormat(call)
    let columns = exportColumns(call)
    for column in columns where organization.tables[table]?.columns.contains(where: { $0.name == column }) != true {
      throw APIFault(id: 153, text: "Export column \(column) is not in the table.")
    }
    let name = organization.tables[table]?.name.string ?? ""
    let file = uniqueFile("\(name) - \(CivilTime(clock.now).fileForm).\(format)")
    let work = ServiceJob.Work.exportTable(table: table, columns: columns, format: format, file: file)
    xml.element("JOB_ID", startJob(work, description: file))
    xml.element("FILE_PATH", "/download/\(file)")
  }

  private func exportFormat(_ call: ReceivedCall) throws(APIFault) -> String {
    let format = try call.required("EXPORT_FORMAT").string
    guard ["CSV", "TAB", "PIPE"].contains(format) else { throw APIFault(id: 321, text: "Export format is not valid.") }
    return format
  }

  private func exportColumns(_ call: ReceivedCall) -> [ByteText] {
    call.element.first("EXPORT_COLUMNS")?.all("COLUMN").map { ByteText($0.text) } ?? []
  }

  private func isExportable(_ column: ByteText, of list: ByteText) -> Bool {
    column == "RECIPIENT_ID" || organization.lists[list]?.position(of: column) != nil
  }

  /// Returns a file name that no other export from the same second uses.
  private func uniqueFile(_ name: String) -> String {
    // Only a path separator in a list's name could lead out of the folder.
    let plain = String(name.map { $0 == "/" ? "-" : $0 })
    let taken = organization.jobs.values.contains { $0.description.utf8.elementsEqual(plain.utf8) }
    return taken ? "\(organization.nextJobID) \(plain)" : plain
  }

  mutating func getJobStatus(_ call: ReceivedCall, _ xml: inout ResponseWriter) throws(APIFault) {
    let id = try jobID(call)
    settleJobs()
    guard let job = organization.jobs[id] else { throw .invalidJob }
    xml.element("JOB_ID", id)
    xml.element("JOB_STATUS", job.status.rawValue)
    xml.element("JOB_DESCRIPTION", job.description)
    if !job.parameters.isEmpty {
      xml.group("PARAMETERS") { xml in
        for parameter in job.parameters {
          xml.group("PARAMETER") {
            $0.element("NAME", parameter.name)
            $0.element("VALUE", parameter.value)
          }
        }
        xml.element("PARAMETER", "")
      }
    }
    clock.withLock { $0.advance(by: Milliseconds(switches.pollAdvancesSeconds * 1000)) }
  }

  mutating func deleteJob(_ call: ReceivedCall, _ xml: inout ResponseWriter) throws(APIFault) {
    let id = try jobID(call)
    settleJobs()
    organization.jobs[id] = nil
    xml.element("JOB_ID", id)
  }

  private func jobID(_ call: ReceivedCall) throws(APIFault) -> Int {
    guard let id = Int(try call.required("JOB_ID").string), organization.jobs[id] != nil else { throw .invalidJob }
    return id
  }

  /// Advances every job to its state at the current time. Jobs do their work on completion, in order of their ids.
  mutating func settleJobs() {
    for id in organization.jobs.keys.sorted() {
      guard let job = organization.jobs[id], job.status == .waiting || job.status == .running else { continue }
      let age = now - job.created
      if age >= (switches.jobWaitSeconds + switches.jobRunSeconds) * 1000 {
        carryOut(job)
      } else if age >= switches.jobWaitSeconds * 1000 {
        organization.jobs[id]?.status = .running
      }
    }
  }

  private mutating func carryOut(_ job: ServiceJob) {
    var parameters: [ServiceJob.Parameter] = []
    var status = ServiceJob.Status.complete
    do {
      switch job.work {
      case .importList(let map, let source):
        parameters = try importList(map: map, source: source, job: job.id)
      case .importTable(let map, let source):
        parameters = try importTable(map: map, source: source, job: job.id)
      case .exportList(let export):
        parameters = try write(export)
      case .exportTable(let table, let columns, let format, let file):
        parameters = try write(table: table, columns: columns, format: format, file: file)
      case .purgeTable(let table):
        organization.tables[table]?.purge()
      case .deleteTable(let table):
        organization.tables[table] = nil
      case .joinTable:
        break
      }
    } catch {
      status = .error
    }
    organization.jobs[job.id]?.parameters = parameters
    organization.jobs[job.id]?.status = status
  }

  private mutating func write(_ export: ServiceJob.ListExport) throws -> [ServiceJob.Parameter] {
    guard let list = organization.lists[export.list] else { throw APIFault.unknownList(export.list) }
    let columns = export.columns.isEmpty ? ["RECIPIENT_ID"] + list.columns.map(\.name) : export.columns
    let positions = columns.map { list.position(of: $0) }
    var file = SeparatedText(format: export.format)
    file.append(columns)
    var count = 0
    for recipient in list.all {
      if export.type == "OPT_OUT" && recipient.optedOut == nil { continue }
      if export.type == "OPT_IN" && recipient.optedOut != nil { continue }
      if export.type == "UNDELIVERABLE" { continue }
      count += 1
      if let rows = switches.exportedRows, count > rows { continue }
      file.append(positions.map { $0.map { recipient.value($0) } ?? ByteText("\(recipient.id)") })
    }
    try organization.files.write(.download, export.file, file.bytes)
    return [
      ServiceJob.Parameter(name: "LIST_ID", value: export.list.string),
      ServiceJob.Parameter(name: "LIST_NAME", value: list.name.string),
      ServiceJob.Parameter(name: "NUM_PROCESSED", value: "\(count)"),
    ]
  }

  private mutating func write(
    table: ByteText, columns: [ByteText], format: String, file name: String
  ) throws -> [ServiceJob.Parameter] {
    guard let table = organization.tables[table] else { throw APIFault.unknownList(table) }
    let columns = columns.isEmpty ? table.columns.map(\.name) : columns
    var file = SeparatedText(format: format)
    file.append(columns)
    for row in table.rows { file.append(columns.map { row[$0] ?? .empty }) }
    try organization.files.write(.download, name, file.bytes)
    return [ServiceJob.Parameter(name: "NUM_PROCESSED", value: "\(table.rows.count)")]
  }
}

/// Work that the service carries out later: imports, exports and table jobs (reference identity 3.2).
struct ServiceJob: Sendable, Codable {
  enum Work: Sendable, Codable {
    case importList(map: String, source: String)
    case importTable(map: String, source: String)
    case exportList(ListExport)
    case exportTable(table: ByteText, columns: [ByteText], format: String, file: String)
    case purgeTable(ByteText)
    case deleteTable(ByteText)
    case joinTable
  }
  struct ListExport: Sendable, Codable {
    var list: ByteText
    var type: String
    var format: String
    var columns: [ByteText]
    var file: String
  }
  enum Status: String, Sendable, Codable {
    case waiting = "WAITING"
    case running = "RUNNING"
    case complete = "COMPLETE"
    case error = "ERROR"
  }

  var id: Int
  var description: String
  var work: Work
  var created: Int64
  var status = Status.waiting
  var parameters: [Parameter] = []

  struct Parameter: Sendable, Codable {
    var name: String
    var value: String
  }
}
