import BatchFoundation

/// Deferred work of the service: imports, exports and table jobs (specification section 9, point 9).
struct Job: Sendable, Codable {
  enum Work: Sendable, Codable {
    case importList(map: String, source: String)
    case importTable(map: String, source: String)
    case exportList(ListExport)
    case exportTable(table: ExactText, columns: [ExactText], format: String, file: String)
    case purgeTable(ExactText)
    case deleteTable(ExactText)
    case joinTable
  }
  struct ListExport: Sendable, Codable {
    var list: ExactText
    var type: String
    var format: String
    var columns: [ExactText]
    var file: String
  }
  enum Status: String, Sendable, Codable {
    case waiting = "WAITING"
    case running = "RUNNING"
    case complete = "COMPLETE"
    case error = "ERROR"
    case canceled = "CANCELED"
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
