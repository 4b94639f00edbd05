import BatchWire

/// A job that the service runs asynchronously.
package struct JobReference: Sendable, Equatable {
  package var id: String
  /// The path of the exported file, which may contain spaces; nil if the response has none.
  package var filePath: String?

  init(_ result: XMLAPIResult) throws(MissingField) {
    id = try result.required("JOB_ID")
    filePath = result.text("FILE_PATH")
  }
}

extension XMLAPIOperation<JobReference> {
  /// Imports a contact file from the service's `upload` folder, using a map file from the same folder.
  package static func importList(map: String, source: String) -> Self {
    Self(
      "ImportList", [.text("MAP_FILE", map), .text("SOURCE_FILE", source), .text("FILE_ENCODING", "UTF-8")],
      isRepeatable: false, read: JobReference.init)
  }

  /// Exports columns of all contacts in a list as CSV into the service's `download` folder.
  package static func exportList(_ list: String, columns: [String]) -> Self {
    Self(
      "ExportList",
      [
        .text("LIST_ID", list), .text("EXPORT_TYPE", "ALL"), .text("EXPORT_FORMAT", "CSV"),
        .text("FILE_ENCODING", "UTF-8"), .flag("ADD_TO_STORED_FILES"),
        .group("EXPORT_COLUMNS", columns.map { .text("COLUMN", $0) }),
      ], isRepeatable: false, read: JobReference.init)
  }

  /// Exports all columns of all rows in a relational table as CSV into the service's `download` folder.
  package static func exportTable(_ table: String) -> Self {
    Self(
      "ExportTable", [.text("TABLE_ID", table), .text("EXPORT_FORMAT", "CSV"), .flag("ADD_TO_STORED_FILES")],
      isRepeatable: false, read: JobReference.init)
  }
}

extension XMLAPIOperation<JobStatus> {
  package static func status(ofJob job: String) -> Self {
    Self("GetJobStatus", [.text("JOB_ID", job)], isRepeatable: true, read: JobStatus.init)
  }
}

package enum JobStatus: Sendable, Equatable {
  case waiting
  case running
  /// Canceled, or with a pending cancellation; the service spells the state with one L or two.
  case canceled
  case error
  case complete
  case other(String)

  package init(_ result: XMLAPIResult) throws(MissingField) {
    guard let state = result.text("JOB_STATUS") else { throw MissingField("JOB_STATUS") }
    let text = state.trimmingBlanks()
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
