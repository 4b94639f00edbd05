import ArgumentParser
import BatchFoundation
import BatchReport
import Glibc

/// A listing on stdout, written row by row, so that it uses little memory and the first rows appear early.
///
/// Text in a pipe has one line per row, with tab-separated cells, after a line of column names. Text on a terminal has
/// aligned columns. JSON is one array of objects.
struct Listing {
  private let format: OutputFormat
  private let columns: [String]
  private let write: (String) -> Void
  /// The last row, held back because a comma follows it only if there is another row.
  private var pending: String?
  private var table: AlignedTable?
  private var lines: [String] = []
  private var byteCount = 0
  private var rowCount = 0

  /// The number of rows written one by one before larger blocks are written.
  private static let promptRows = 64
  private static let pieceBytes = 32 << 10

  /// - Parameter isAligned: Whether to align text for people; nil aligns only on a terminal.
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

  /// - Parameter cells: One cell per column; null is shown as an empty cell.
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

/// Aligned columns, as wide as the first rows need. A longer cell in a later row shifts the rest of its line.
struct AlignedTable {
  /// The number of rows measured before the first is written.
  private static let measuredRows = 100
  private var waiting: [[String]]
  private var widths: [Int]?

  init(_ columns: [String]) { waiting = [columns] }

  /// - Returns: The lines that can be written now.
  mutating func add(_ cells: [String]) -> [String] {
    guard let widths else {
      waiting.append(cells)
      return waiting.count > Self.measuredRows ? end() : []
    }
    return [Self.line(cells, widths)]
  }

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
      // The last cell needs no padding.
      guard index < cells.count - 1 else { continue }
      line += String(repeating: " ", count: max(0, widths[index] - cell.unicodeScalars.count) + 2)
    }
    while line.utf8.last == UInt8(ascii: " ") { line.removeLast() }
    return line
  }
}

extension JSONNode {
  /// The value as a cell in a line.
  fileprivate var cell: String {
    switch value {
    case .null: ""
    case .bool(let flag): flag ? "yes" : "no"
    case .string(let text): text.printable
    default: compactText
    }
  }
}

enum OutputFormat: String, ExpressibleByArgument, CaseIterable, Sendable {
  case text, json

  /// Prints the document for `json`; otherwise calls `words`.
  func tell(_ document: @autoclosure () throws -> JSONNode, words: () throws -> Void) rethrows {
    switch self {
    case .text: try words()
    case .json: Streams.data(try document().text())
    }
  }

  func tell(_ facts: Facts) { tell(facts.document) { facts.print() } }

  func tell(_ facts: [Facts]) { tell(.array(facts.map(\.document))) { for facts in facts { facts.print() } } }
}

extension Facts {
  fileprivate func print() {
    for line in lines { line.isNote ? Streams.note(line.text) : Streams.data(line.text) }
  }
}

struct AnswerOption: ParsableArguments {
  @Option(help: "text or json.")
  var format: OutputFormat = .text
}
