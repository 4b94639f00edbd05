import BatchFoundation

/// The reasons to give up lists as files in a run, which then looks up everything one by one.
enum ExportFault: Error, Equatable, CustomStringConvertible {
  case noFile
  /// A file that cannot be created, written or read: its path, the operation, and the system's code.
  case file(String, operation: String, code: Int32)
  /// An export or import that did not complete.
  case job(String)
  case missingColumns([String])
  /// A file that ends within a row, or a row with more or fewer fields than the first.
  case torn(row: Int)
  case notUTF8(row: Int)
  /// A file with fewer recipients than the list had before the export began.
  case tooShort(rows: Int, size: Int)

  var description: String {
    switch self {
    case .noFile: "the export names no file"
    case .file(let path, let operation, let code): "\(path): error: cannot \(operation) (code \(code))"
    case .job(let what): what
    case .missingColumns(let names):
      "the exported file has no column \(names.map { "'\($0)'" }.joined(separator: ", "))"
    case .torn(let row): "the exported file is truncated or damaged at row \(row)"
    case .notUTF8(let row): "row \(row) of the exported file is not UTF-8"
    case .tooShort(let rows, let size): "the exported file has \(rows) of the list's \(size) recipients"
    }
  }
}

/// An export of a list during reading: usable only as a whole, because a missing recipient looks like an unknown one.
struct ExportedFile {
  private var columns: [String]
  private var rows = CSVReader()
  /// The position of each column in a row; nil before the first row.
  private var places: [Int]?
  private var width = 0
  private var count = 0
  private var fault: ExportFault?

  /// - Parameter columns: The names of the columns, with that of the recipient's id first.
  init(columns: [String]) { self.columns = columns }

  /// Reads the next bytes of the file and passes each recipient to `body`.
  mutating func read(_ bytes: some Sequence<UInt8>, _ body: (String, [String]) -> Void) {
    guard fault == nil else { return }
    // A copy is read, so that `take` may change this value meanwhile.
    var rows = self.rows
    rows.read(bytes) { take($0, body) }
    self.rows = rows
  }

  /// - Throws: ``ExportFault`` unless the whole file was read and has at least `size` recipients.
  mutating func finish(ofAtLeast size: Int, _ body: (String, [String]) -> Void) throws(ExportFault) {
    if rows.openQuote != nil { fault = fault ?? .torn(row: count + 1) }
    var rows = self.rows
    rows.finish { take($0, body) }
    if let fault { throw fault }
    guard places != nil else { throw .missingColumns(columns) }
    guard count >= size else { throw .tooShort(rows: count, size: size) }
  }

  private mutating func take(_ line: CSVReader.Row, _ body: (String, [String]) -> Void) {
    guard fault == nil else { return }
    let row = line.fields.compactMap { String(validating: $0, as: UTF8.self) }
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
