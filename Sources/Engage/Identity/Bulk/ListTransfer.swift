import BatchFoundation

/// The transfer of whole lists as files: export, import, and their jobs (reference identity 3.2).
package final class ListTransfer: Sendable {
  private let database: ServiceDatabase
  private let folder: TransferFolder
  private let retryPolicy: RetryPolicy

  /// Polls start at 15 s and double up to 300 s; a job counts as lost after eight hours.
  private static let longestPoll = Milliseconds(300_000)
  private static let longestJob = Milliseconds(8 * 3_600_000)
  static let rowsPerImport = 50_000

  package init(_ database: ServiceDatabase, folder: TransferFolder, _ retryPolicy: RetryPolicy) {
    self.database = database
    self.folder = folder
    self.retryPolicy = retryPolicy
  }

  private var list: String { database.list }

  /// Passes every recipient of the list to `body`: the id and the values of the columns, in order.
  ///
  /// - Throws: ``ExportFault`` if the file is not the whole list; the recipients passed so far are then useless.
  func export(_ columns: [String], _ body: (String, [String]) -> Void) throws {
    let columns = ["RECIPIENT_ID"] + columns
    try fetch(.exportList(list, columns: columns), of: list, columns, body)
  }

  /// Passes every row of a relational table to `body`: the value of the key and those of the other columns, in order.
  ///
  /// - Throws: The errors of ``export(_:_:)``.
  func export(
    table: String, key: String, _ columns: [String], _ body: (String, [String]) -> Void
  ) throws {
    try fetch(.exportTable(table), of: table, [key] + columns, body)
  }

  /// - Parameter columns: The columns of the file; the first one is never empty.
  private func fetch(
    _ request: XMLAPIOperation<JobReference>, of list: String, _ columns: [String],
    _ body: (String, [String]) -> Void
  ) throws {
    // Recipients added while the job runs make the file longer, never shorter.
    let size = try call(.describe(list)).size ?? 0
    // An export that is not fetched is harmless, so the request may be repeated.
    let job = try call(request)
    try wait(for: job)
    guard let path = job.filePath else { throw ExportFault.noFile }
    var file = ExportedFile(columns: columns)
    try folder.download(path) { file.read($0, body) }
    try file.finish(ofAtLeast: size, body)
  }

  /// Adds recipients by one column, leaving those that already have the value unchanged, so that it may be repeated.
  func add(_ values: [String], to column: String, named name: String) throws {
    var file = CSVText.line([column])
    for value in values { file += CSVText.line([value]) }
    try folder.upload("\(name).csv", Array(file.utf8))
    try folder.upload("\(name)_map.xml", try map(column))
    let job = try call(.importList(map: "\(name)_map.xml", source: "\(name).csv"))
    try wait(for: job)
  }

  private func map(_ column: String) throws -> [UInt8] {
    let info: [OperationField] = [
      .text("ACTION", "ADD_AND_UPDATE"), .text("LIST_ID", list), .text("FILE_TYPE", "0"), .text("HASHEADERS", "true"),
    ]
    let place: [OperationField] = [.text("INDEX", "1"), .value("NAME", column), .text("INCLUDE", "true")]
    return try OperationField.group(
      "LIST_IMPORT",
      [
        .group("LIST_INFO", info), .group("SYNC_FIELDS", [.group("SYNC_FIELD", [.value("NAME", column)])]),
        .group("MAPPING", [.group("COLUMN", place)]),
      ]
    ).document()
  }

  private func wait(for job: JobReference) throws {
    var rest = Milliseconds(15_000)
    var waited = Milliseconds.zero
    while true {
      let status = try call(.status(ofJob: job.id))
      switch status {
      case .complete: return
      case .error, .canceled: throw ExportFault.job("job \(job.id) ended without a result")
      case .waiting, .running, .other: break
      }
      if waited > Self.longestJob { throw ExportFault.job("job \(job.id) did not end in time") }
      database.pause(rest)
      waited = waited + rest
      rest = min(Milliseconds(rest.count * 2), Self.longestPoll)
    }
  }

  private func call<Answer>(_ request: XMLAPIOperation<Answer>) throws(RemoteFailure) -> Answer {
    try retryPolicy.reading { () throws(RemoteFailure) in try database.call(request) }
  }
}
