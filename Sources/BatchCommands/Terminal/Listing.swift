import BatchFoundation
import Glibc

/// A listing on stdout, row by row, so that a long one takes no memory and its first rows come at once.
///
/// As text in a pipe: one line a row, cells separated by tabs below a line of names. On a terminal: columns below each other. As
/// JSON: one array of objects.
struct Listing {
  private let format: OutputFormat
  private let columns: [String]
  private let write: (String) -> Void
  /// The last row, because no comma follows the one at the end.
  private var pending: String?
  private var table: AlignedTable?
  /// Lines that wait to be written together.
  private var lines: [String] = []
  private var byteCount = 0
  private var rowCount = 0

  /// Rows that are written one by one before they are written in larger pieces.
  private static let promptRows = 64
  private static let pieceBytes = 32 << 10

  /// - Parameters:
  ///   - columns: names of the cells, in their order.
  ///   - isAligned: whether text goes to people rather than to a program; nil asks whether stdout is a terminal.
  init(
    _ format: OutputFormat, columns: [String], isAligned: Bool? = nil, write: @escaping (String) -> Void = Streams.data
  ) {
    self.format = format
    self.columns = columns
    self.write = write
    guard format == .text else { return }
    if isAligned ?? (isatty(STDOUT_FILENO) == 1) {
      table = AlignedTable(columns)
    } else {
      put(columns.joined(separator: "\t"))
    }
  }

  /// - Parameter cells: as many as there are columns; null shows as an empty cell.
  mutating func add(_ cells: [JSONNode]) {
    rowCount += 1
    switch format {
    case .text:
      let texts = cells.map(\.cell)
      if table == nil { put(texts.joined(separator: "\t")) }
      for line in table?.add(texts) ?? [] { put(line) }
    case .json:
      put(pending.map { "\($0)," } ?? "[")
      pending = "  " + JSONNode.object(Array(zip(columns, cells))).text(indentation: 2)
    }
  }

  mutating func end() {
    for line in table?.end() ?? [] { put(line) }
    if format == .json {
      put(pending.map { "\($0)\n]" } ?? "[]")
      pending = nil
    }
    flush()
  }

  private mutating func put(_ line: String) {
    lines.append(line)
    byteCount += line.utf8.count
    if rowCount <= Self.promptRows || byteCount >= Self.pieceBytes { flush() }
  }

  private mutating func flush() {
    guard !lines.isEmpty else { return }
    write(lines.joined(separator: "\n"))
    lines.removeAll(keepingCapacity: true)
    byteCount = 0
  }
}

/// Columns below each other, as wide as the first rows need; a longer cell of a later row moves the rest of its line.
struct AlignedTable {
  /// Rows that are looked at before the first is written.
  private static let measuredRows = 100
  private var waiting: [[String]]
  private var widths: [Int]?

  init(_ columns: [String]) { waiting = [columns] }

  /// - Returns: lines that can be written now.
  mutating func add(_ cells: [String]) -> [String] {
    guard let widths else {
      waiting.append(cells)
      return waiting.count > Self.measuredRows ? end() : []
    }
    return [Self.line(cells, widths)]
  }

  /// The lines that wait.
  mutating func end() -> [String] {
    let rows = waiting
    waiting = []
    guard let columns = rows.first?.count else { return [] }
    let widths = (0..<columns).map { column in rows.map { $0[column].unicodeScalars.count }.max() ?? 0 }
    self.widths = widths
    return rows.map { Self.line($0, widths) }
  }

  private static func line(_ cells: [String], _ widths: [Int]) -> String {
    var line = ""
    for (index, cell) in cells.enumerated() {
      line += cell
      // Nothing stands behind the last cell.
      guard index < cells.count - 1 else { continue }
      line += String(repeating: " ", count: max(0, widths[index] - cell.unicodeScalars.count) + 2)
    }
    while line.utf8.last == UInt8(ascii: " ") { line.removeLast() }
    return line
  }
}

extension JSONNode {
  /// The value in one cell of a line.
  fileprivate var cell: String {
    switch value {
    case .null: ""
    case .bool(let flag): flag ? "yes" : "no"
    case .string(let text): text.printable
    default: compactText
    }
  }
}
