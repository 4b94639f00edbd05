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

/// Imports a file of contacts that lies in the service's `upload` folder, by a map that lies there too.
package struct ImportList: XMLAPIOperation {
  package var mapFile: String
  package var sourceFile: String

  package init(mapFile: String, sourceFile: String) {
    self.mapFile = mapFile
    self.sourceFile = sourceFile
  }

  package var call: OperationCall {
    OperationCall(
      "ImportList",
      [.text("MAP_FILE", mapFile), .text("SOURCE_FILE", sourceFile), .text("FILE_ENCODING", "UTF-8")],
      isRepeatable: false)
  }

  package static func read(_ result: XMLAPIResult) throws(MissingField) -> JobReference { try JobReference(result) }
}

/// Exports columns of all contacts of a list as CSV into the service's `download` folder.
package struct ExportList: XMLAPIOperation {
  package var listID: String
  package var columns: [String]

  package init(listID: String, columns: [String]) {
    self.listID = listID
    self.columns = columns
  }

  package var call: OperationCall {
    OperationCall(
      "ExportList",
      [
        .text("LIST_ID", listID), .text("EXPORT_TYPE", "ALL"), .text("EXPORT_FORMAT", "CSV"),
        .text("FILE_ENCODING", "UTF-8"), .flag("ADD_TO_STORED_FILES"),
        .group("EXPORT_COLUMNS", columns.map { .text("COLUMN", $0) }),
      ],
      isRepeatable: false)
  }

  package static func read(_ result: XMLAPIResult) throws(MissingField) -> JobReference { try JobReference(result) }
}

/// Exports all columns of all rows of a relational table as CSV into the service's `download` folder.
package struct ExportTable: XMLAPIOperation {
  package var tableID: String

  package init(tableID: String) { self.tableID = tableID }

  package var call: OperationCall {
    OperationCall(
      "ExportTable", [.text("TABLE_ID", tableID), .text("EXPORT_FORMAT", "CSV"), .flag("ADD_TO_STORED_FILES")],
      isRepeatable: false)
  }

  package static func read(_ result: XMLAPIResult) throws(MissingField) -> JobReference { try JobReference(result) }
}

package struct GetJobStatus: XMLAPIOperation {
  package var jobID: String

  package init(jobID: String) { self.jobID = jobID }

  package var call: OperationCall {
    OperationCall("GetJobStatus", [.text("JOB_ID", jobID)], isRepeatable: true)
  }

  package static func read(_ result: XMLAPIResult) throws(MissingField) -> JobStatus {
    guard let state = result.text("JOB_STATUS") else { throw MissingField("JOB_STATUS") }
    return JobStatus(state.trimmingBlanks())
  }
}

package enum JobStatus: Sendable, Equatable {
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
