package import BatchFoundation
import BatchXML

/// A job that the service works on in its own time.
package struct JobReference: Sendable, Equatable {
  package var id: String
  /// Where an export will lie; may hold spaces.
  package var filePath: String?

  init(_ result: XMLAPIResult) throws(MissingField) {
    guard let id = result.text("JOB_ID"), !id.isEmpty else { throw MissingField("JOB_ID") }
    self.id = id
    filePath = result.text("FILE_PATH")
  }
}

/// Imports a file that lies in the service's `upload` folder, by a map that lies there too.
package struct ImportFile: XMLAPIOperation {
  package enum Target: String, Sendable {
    case list = "ImportList"
    case table = "ImportTable"
  }

  package var target: Target
  package var mapFile: String
  package var sourceFile: String
  package var email: String?
  package var encoding: String?

  package init(_ target: Target, mapFile: String, sourceFile: String, email: String? = nil, encoding: String? = "UTF-8")
  {
    self.target = target
    self.mapFile = mapFile
    self.sourceFile = sourceFile
    self.email = email
    self.encoding = encoding
  }

  package var call: OperationCall {
    OperationCall(
      target.rawValue,
      [.text("MAP_FILE", mapFile), .text("SOURCE_FILE", sourceFile)] + OperationField.optional("EMAIL", email)
        + OperationField.optional("FILE_ENCODING", encoding),
      isRepeatable: false)
  }

  package static func read(_ result: XMLAPIResult) throws(MissingField) -> JobReference { try JobReference(result) }
}

package struct ExportList: XMLAPIOperation {
  package enum Contacts: String, Sendable {
    case all = "ALL"
    case optedIn = "OPT_IN"
    case optedOut = "OPT_OUT"
    case undeliverable = "UNDELIVERABLE"
  }

  package var listID: String
  package var contacts: Contacts
  package var format: ExportFormat
  package var email: String?
  package var encoding: String?
  package var addsToStoredFiles = false
  /// `MM/dd/yyyy HH:mm:ss`.
  package var start: String?
  package var end: String?
  package var usesCreatedDate: Bool?
  package var includesLeadSource: Bool?
  package var dateFormat: String?
  package var columns: [String] = []

  package init(listID: String, contacts: Contacts = .all, format: ExportFormat = .csv) {
    self.listID = listID
    self.contacts = contacts
    self.format = format
  }

  package var call: OperationCall {
    var fields: [OperationField] = [.text("LIST_ID", listID)]
    fields += OperationField.optional("EMAIL", email)
    fields += [.text("EXPORT_TYPE", contacts.rawValue), .text("EXPORT_FORMAT", format.rawValue)]
    fields += OperationField.optional("FILE_ENCODING", encoding)
    if addsToStoredFiles { fields.append(.flag("ADD_TO_STORED_FILES")) }
    fields += OperationField.optional("DATE_START", start) + OperationField.optional("DATE_END", end)
    fields += OperationField.optional("USE_CREATED_DATE", usesCreatedDate)
    fields += OperationField.optional("INCLUDE_LEAD_SOURCE", includesLeadSource)
    fields += OperationField.optional("LIST_DATE_FORMAT", dateFormat)
    fields += ExportColumns.fields(columns)
    return OperationCall("ExportList", fields, isRepeatable: false)
  }

  package static func read(_ result: XMLAPIResult) throws(MissingField) -> JobReference { try JobReference(result) }
}

package struct ExportTable: XMLAPIOperation {
  package var table: TableKey
  package var format: ExportFormat
  package var email: String?
  package var encoding: String?
  package var addsToStoredFiles = false
  package var columns: [String] = []

  package init(table: TableKey, format: ExportFormat = .csv) {
    self.table = table
    self.format = format
  }

  package var call: OperationCall {
    var fields = table.fields + OperationField.optional("EMAIL", email)
    fields.append(.text("EXPORT_FORMAT", format.rawValue))
    fields += OperationField.optional("FILE_ENCODING", encoding)
    if addsToStoredFiles { fields.append(.flag("ADD_TO_STORED_FILES")) }
    fields += ExportColumns.fields(columns)
    return OperationCall("ExportTable", fields, isRepeatable: false)
  }

  package static func read(_ result: XMLAPIResult) throws(MissingField) -> JobReference { try JobReference(result) }
}

package enum ExportFormat: String, Sendable {
  case csv = "CSV"
  case tab = "TAB"
  case pipe = "PIPE"
}

private enum ExportColumns {
  static func fields(_ names: [String]) -> [OperationField] {
    names.isEmpty ? [] : [.group("EXPORT_COLUMNS", names.map { .text("COLUMN", $0) })]
  }
}

package struct GetJobStatus: XMLAPIOperation {
  package var jobID: String

  package init(jobID: String) { self.jobID = jobID }

  package var call: OperationCall {
    OperationCall("GetJobStatus", [.text("JOB_ID", jobID)], isRepeatable: true)
  }

  package static func read(_ result: XMLAPIResult) throws(MissingField) -> JobStatus {
    guard let state = result.text("JOB_STATUS") else { throw MissingField("JOB_STATUS") }
    let parameters = (result.element?.first("PARAMETERS")?.all("PARAMETER") ?? []).compactMap { parameter in
      // An empty PARAMETER occurs.
      parameter.first("NAME").map { Column($0.text, parameter.first("VALUE")?.text ?? "") }
    }
    return JobStatus(
      id: result.text("JOB_ID") ?? "", state: JobStatus.State(state.trimmingBlanks()),
      description: result.text("JOB_DESCRIPTION") ?? "", parameters: parameters)
  }
}

package struct JobStatus: Sendable, Equatable {
  package enum State: Sendable, Equatable {
    case waiting
    case running
    /// Also on the way to it; the service spells it with one L or two.
    case canceled
    case error
    case complete
    case other(String)

    init(_ text: String) {
      self =
        switch text.uppercased() {
        case "WAITING": .waiting
        case "RUNNING": .running
        case "CANCELED", "CANCELLED", "CANCEL_PENDING": .canceled
        case "ERROR": .error
        case "COMPLETE": .complete
        default: .other(text)
        }
    }
  }

  package var id: String
  package var state: State
  package var description: String
  /// Counts and file names, such as `SQL_ADDED` and `ERROR_FILE_NAME`.
  package var parameters: [Column]
}

package struct DeleteJob: XMLAPIOperation {
  package var jobID: String

  package init(jobID: String) { self.jobID = jobID }

  package var call: OperationCall { OperationCall("DeleteJob", [.text("JOB_ID", jobID)], isRepeatable: true) }

  package static func read(_ result: XMLAPIResult) throws(MissingField) -> Acknowledgement { Acknowledgement(result) }
}

/// Opens a session of the older kind; organisations made since 2019 have none.
package struct Login: XMLAPIOperation {
  package struct Session: Sendable, Equatable {
    package var id: Secret
    /// To be appended to the path of later calls; may be empty.
    package var pathSuffix: Secret
    package var organizationID: String?
  }

  package var username: String
  package var password: Secret

  package init(username: String, password: Secret) {
    self.username = username
    self.password = password
  }

  package var call: OperationCall {
    OperationCall(
      "Login", [.text("USERNAME", username), .text("PASSWORD", password.reveal())], isRepeatable: true)
  }

  package static func read(_ result: XMLAPIResult) throws(MissingField) -> Session {
    guard let id = result.text("SESSIONID"), !id.isEmpty else { throw MissingField("SESSIONID") }
    return Session(
      id: Secret(id), pathSuffix: Secret(result.text("SESSION_ENCODING") ?? ""),
      organizationID: result.text("ORGANIZATION_ID"))
  }
}

/// Ends a session. Never answered with a new login: that would open the next one (spec 1.3).
package struct Logout: XMLAPIOperation {
  package init() {}

  package var call: OperationCall { OperationCall("Logout", [], isRepeatable: true) }

  package static func read(_ result: XMLAPIResult) throws(MissingField) -> Acknowledgement { Acknowledgement(result) }
}
