import BatchFoundation
import Glibc

/// Transfers whole lists as files: exports, imports, and their jobs (reference identity 3.2).
package final class ListTransfer: Sendable {
  private let database: ServiceDatabase
  private let folder: TransferFolder
  private let retryPolicy: RetryPolicy

  /// Intervals between polls start at 15 s and double up to 300 s; a job counts as lost after eight hours.
  private static let longestPoll = Milliseconds(300_000)
  private static let longestJob = Milliseconds(8 * 3_600_000)
  static let rowsPerImport = 50_000

  package init(_ database: ServiceDatabase, folder: TransferFolder, _ retryPolicy: RetryPolicy) {
    self.database = database
    self.folder = folder
    self.retryPolicy = retryPolicy
  }

  private var list: String { database.list }

  /// Passes every recipient in the list to `body`: the id, and the values of the columns in order.
  ///
  /// - Throws: ``ExportFault`` if the file is not the whole list, in which case the recipients passed so far must be
  ///   discarded; ``RemoteFailure``.
  func export(_ columns: [String], _ body: (String, [String]) -> Void) throws {
    let columns = ["RECIPIENT_ID"] + columns
    try fetch(.exportList(list, columns: columns), of: list, columns, body)
  }

  /// Passes every row of a relational table to `body`: the value of `key`, and the values of the other columns in
  /// order.
  ///
  /// - Throws: The errors of ``export(_:_:)``.
  func export(
    table: String, key: String, _ columns: [String], _ body: (String, [String]) -> Void
  ) throws {
    try fetch(.exportTable(table), of: table, [key] + columns, body)
  }

  /// - Parameter columns: The columns to read; a row whose first one is empty is damaged.
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

  /// Adds a recipient for each value in the column unless a recipient has it already, so that the call may be repeated.
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
      switch try call(.status(ofJob: job.id)) {
      case "COMPLETE": return
      // The service spells the state with one L or two.
      case "ERROR", "CANCELED", "CANCELLED", "CANCEL_PENDING":
        throw ExportFault.job("job \(job.id) failed or was canceled")
      default: break
      }
      if waited > Self.longestJob { throw ExportFault.job("job \(job.id) did not end within eight hours") }
      database.pause(rest)
      waited = waited + rest
      rest = min(Milliseconds(rest.count * 2), Self.longestPoll)
    }
  }

  private func call<Answer>(_ request: XMLAPIOperation<Answer>) throws(RemoteFailure) -> Answer {
    try retryPolicy.repeating { () throws(RemoteFailure) in try database.call(request) }
  }
}

/// The service's folders `upload` and `download`, shared over SFTP and mounted below `path`.
package struct TransferFolder: Sendable {
  package var path: String

  func upload(_ name: String, _ bytes: [UInt8]) throws {
    let file = "\(path)/upload/\(name)"
    let descriptor = unsafe open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw ExportFault.file(file, operation: "create", code: errno) }
    defer { close(descriptor) }
    do throws(SystemError) {
      try FileDescriptor.write(bytes, to: descriptor)
    } catch {
      throw ExportFault.file(file, operation: "write", code: error.code)
    }
  }

  /// Passes the bytes of a file to `body`. Remote paths look like `/download/Name - All - Jan 31 2026 11-59-59 PM.CSV`.
  func download(_ remote: String, _ body: ([UInt8]) -> Void) throws {
    guard let name = remote.split(separator: "/").last, !name.hasPrefix(".") else {
      throw ExportFault.file(remote, operation: "open", code: EINVAL)
    }
    let file = "\(path)/download/\(name)"
    let descriptor = unsafe open(file, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw ExportFault.file(file, operation: "open", code: errno) }
    defer { close(descriptor) }
    do {
      try unsafe FileDescriptor.forEachPiece(of: descriptor, atMost: 1 << 18) { unsafe body(Array($0)) }
    } catch let error as SystemError {
      throw ExportFault.file(file, operation: "read", code: error.code)
    }
  }
}

/// The reasons for a run to abandon file transfers and look up everything one by one.
enum ExportFault: Error, Equatable, CustomStringConvertible {
  case noFile
  /// A file cannot be created, written or read: its path, the operation, and the system's code.
  case file(String, operation: String, code: Int32)
  /// An export or import did not complete.
  case job(String)
  case missingColumns([String])
  /// The file ends within a row, or a row has an empty key or more or fewer fields than the header.
  case torn(row: Int)
  case notUTF8(row: Int)
  /// The file has fewer recipients than the list had before the export began.
  case tooShort(rows: Int, size: Int)

  var description: String {
    switch self {
    case .noFile: "the service did not name the exported file"
    case .file(let path, let operation, let code):
      unsafe "\(path): cannot \(operation): \(String(cString: strerror(code)))"
    case .job(let what): what
    case .missingColumns(let names):
      "the exported file lacks \(names.count == 1 ? "the column" : "the columns") \(names.map { "'\($0)'" }.joined(separator: ", "))"
    case .torn(let row): "the exported file is truncated or damaged at row \(row)"
    case .notUTF8(let row): "row \(row) of the exported file is not UTF-8"
    case .tooShort(let rows, let size): "the exported file contains only \(rows) of \(size) rows"
    }
  }
}

/// An export being read. It is usable only if complete, because a missing recipient looks like an unknown one.
struct ExportedFile {
  private var columns: [String]
  private var rows = RowReader(.plain())
  /// The position of each column in a row; nil before the first row.
  private var places: [Int]?
  private var width = 0
  private var count = 0
  private var fault: ExportFault?

  /// - Parameter columns: The names of the columns, with the recipient's id or the table's key first.
  init(columns: [String]) { self.columns = columns }

  /// Reads the next bytes of the file and passes each recipient to `body`.
  mutating func read(_ bytes: [UInt8], _ body: (String, [String]) -> Void) {
    guard fault == nil else { return }
    // The reader is copied, because `take` changes this value during the call.
    var rows = self.rows
    rows.read(bytes) { take($0, body) }
    self.rows = rows
  }

  /// Finishes reading, and passes a last row without a line ending to `body`.
  ///
  /// - Throws: ``ExportFault`` unless the whole file was read and has at least `size` recipients.
  mutating func finish(ofAtLeast size: Int, _ body: (String, [String]) -> Void) throws(ExportFault) {
    var rows = self.rows
    rows.finish { take($0, body) }
    if let fault { throw fault }
    guard places != nil else { throw .missingColumns(columns) }
    guard count >= size else { throw .tooShort(rows: count, size: size) }
  }

  private mutating func take(_ line: RowReader.Row, _ body: (String, [String]) -> Void) {
    guard fault == nil else { return }
    guard line.fault == nil else { return fault = .torn(row: count + 1) }
    let row = line.fields.compactMap { $0.flatMap { String(validating: $0, as: UTF8.self) } }
    guard row.count == line.fields.count else { return fault = .notUTF8(row: count + 1) }
    guard let places else {
      let missing = columns.filter { name in !row.contains { $0.isIdentical(to: name) } }
      guard missing.isEmpty else { return fault = .missingColumns(missing) }
      self.places = columns.compactMap { name in row.firstIndex { $0.isIdentical(to: name) } }
      width = row.count
      return
    }
    count += 1
    guard row.count == width, !row[places[0]].isEmpty else { return fault = .torn(row: count) }
    body(row[places[0]], places.dropFirst().map { row[$0] })
  }
}
