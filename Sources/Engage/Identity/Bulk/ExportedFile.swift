import BatchFoundation

/// Why lists as files are given up in a run, which then looks everything up one by one.
enum ExportFault: Error, Equatable, CustomStringConvertible {
  case noFile
  case unreadable(TransferFolder.Failure)
  /// An export or import did not come to its end.
  case job(String)
  case missingColumns([String])
  /// The file ends in the middle of a row, or a row has more or fewer fields than the first.
  case torn(row: Int)
  case notUTF8(row: Int)
  /// Fewer recipients than the list had before the export began.
  case tooShort(rows: Int, size: Int)

  var description: String {
    switch self {
    case .noFile: "the export names no file"
    case .unreadable(let failure): "\(failure)"
    case .job(let what): what
    case .missingColumns(let names):
      "the exported file has no column \(names.map { "'\($0)'" }.joined(separator: ", "))"
    case .torn(let row): "the exported file is cut or damaged at row \(row)"
    case .notUTF8(let row): "row \(row) of the exported file is not UTF-8"
    case .tooShort(let rows, let size): "the exported file has \(rows) recipients of a list of \(size)"
    }
  }
}

/// An export of a list as it is read: trusted only as a whole, because a recipient that is missing looks like one who is unknown.
struct ExportedFile {
  private var columns: [String]
  private var rows = CSVReader()
  /// Where each column stands in a row; nil before the first row.
  private var places: [Int]?
  private var width = 0
  private var count = 0
  private var fault: ExportFault?

  /// - Parameter columns: the first one is the recipient's id.
  init(columns: [String]) { self.columns = columns }

  /// Feeds bytes of any piece of the file; each recipient goes to `body`.
  mutating func read(_ bytes: some Sequence<UInt8>, _ body: (String, [String]) -> Void) {
    guard fault == nil else { return }
    // The rows do not belong to the value while they are read, so that each can be taken by it.
    var rows = self.rows
    rows.read(bytes) { take($0, body) }
    self.rows = rows
  }

  /// - Throws: ``ExportFault`` unless all of the file could be taken and it has so many recipients.
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
