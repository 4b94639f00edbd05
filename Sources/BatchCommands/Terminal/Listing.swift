import ArgumentParser
import BatchFoundation
import BatchReport
import BatchStore
import Glibc

/// A listing on stdout, written row by row, so that it uses little memory and the first rows appear early.
///
/// Text in a pipe has one line per row, with tab-separated cells, after a line of column names. Text on a terminal has
/// aligned columns. JSON is one array of objects.
struct Listing: ~Copyable {
  /// A cell of a row; texts and views are valid only during the call that adds the row.
  enum Cell {
    case null
    case text(Text)
    case number(Int64)
    case event(EventID)
    case view(JSONView)
    case node(JSONNode)
  }

  private let format: OutputFormat
  /// The names of the columns as members, with everything between them and the preceding values.
  private let members: [[UInt8]]
  private let write: (String) -> Void
  private var table: AlignedTable?
  /// Whole lines that are not written yet, without the last line ending.
  private var lines = ByteBuffer(capacity: 2 * pieceBytes)
  private var rowCount = 0

  /// The number of rows written one by one before larger blocks are written.
  private static let promptRows = 64
  private static let pieceBytes = 32 << 10

  /// - Parameter isAligned: Whether to align text for people; nil aligns only on a terminal.
  init(
    _ format: OutputFormat, columns: [String], isAligned: Bool? = nil, write: @escaping (String) -> Void = Streams.data
  ) {
    self.format = format
    self.write = write
    members = columns.enumerated().map { index, name in
      Array("\(index == 0 ? "  {" : ",")\n    \(JSONNode.text(name).text()): ".utf8)
    }
    guard format == .text else { return }
    if isAligned ?? (isatty(STDOUT_FILENO) == 1) {
      table = AlignedTable(columns)
    } else {
      put(columns.joined(separator: "\t"))
    }
  }

  /// - Parameter cells: One cell per column; null is shown as an empty cell.
  mutating func add(_ cells: [JSONNode]) { add(row: cells.map(Cell.node)) }

  mutating func add(row cells: [Cell]) {
    rowCount += 1
    switch format {
    case .text:
      guard table == nil else {
        for line in table?.add(cells.map(\.string)) ?? [] { put(line) }
        return
      }
      beginLine()
      for (index, cell) in cells.enumerated() {
        if index > 0 { lines.append(UInt8(ascii: "\t")) }
        cell.appendString(to: &lines)
      }
      flushIfDue()
    case .json:
      // A comma follows a row only if there is another row.
      if rowCount == 1 { put("[") } else { lines.append(UInt8(ascii: ",")) }
      flushIfDue()
      beginLine()
      for (member, cell) in zip(members, cells) {
        member.withText { lines.append($0) }
        cell.appendJSON(indentation: 4, to: &lines)
      }
      lines.append("\n  }")
    }
  }

  mutating func end() {
    for line in table?.end() ?? [] { put(line) }
    if format == .json { put(rowCount > 0 ? "]" : "[]") }
    flush()
  }

  private mutating func put(_ line: String) {
    beginLine()
    line.withText { lines.append($0) }
    flushIfDue()
  }

  private mutating func beginLine() {
    if lines.count > 0 { lines.append(UInt8(ascii: "\n")) }
  }

  private mutating func flushIfDue() {
    if rowCount <= Self.promptRows || lines.count >= Self.pieceBytes { flush() }
  }

  private mutating func flush() {
    guard lines.count > 0 else { return }
    write(unsafe String(decoding: lines.bytes, as: UTF8.self))
    lines.removeAll()
  }
}

extension Listing.Cell {
  /// Appends the value as JSON in a line indented by `indentation` spaces.
  fileprivate func appendJSON(indentation: Int, to target: inout ByteBuffer) {
    switch self {
    case .null: target.append("null")
    case .text(let text): CanonicalJSON.appendString(text, to: &target)
    case .number(let number): String(number).withText { target.append($0) }
    case .event(let id):
      target.append(UInt8(ascii: "\""))
      append(id, to: &target)
      target.append(UInt8(ascii: "\""))
    case .view(let view): view.append(indentation: indentation, to: &target)
    case .node(let node): node.append(indentation: indentation, to: &target)
    }
  }

  fileprivate func appendString(to target: inout ByteBuffer) {
    switch self {
    case .event(let id): append(id, to: &target)
    case .text(let text) where text.isPrintableASCII: target.append(text)
    case .view(let view):
      if let text = view.string, text.isPrintableASCII {
        target.append(text)
      } else {
        string.withText { target.append($0) }
      }
    default: string.withText { target.append($0) }
    }
  }

  private func append(_ id: EventID, to target: inout ByteBuffer) {
    unsafe target.append(limit: EventID.textBytes) { bytes in
      unsafe id.write(to: bytes)
      return EventID.textBytes
    }
  }

  /// The value as it is shown in a line.
  fileprivate var string: String {
    switch self {
    case .null: ""
    case .text(let text): text.description.printable
    case .number(let number): "\(number)"
    case .event(let id): "\(id)"
    case .view(let view): JSONNode(view).cell
    case .node(let node): node.cell
    }
  }
}

/// Aligned columns, as wide as the first rows need. A longer cell in a later row shifts the rest of its line.
struct AlignedTable {
  /// The number of rows measured before the first is written.
  private static let measuredRows = 100
  private var pending: [[String]]
  private var widths: [Int]?

  init(_ columns: [String]) { pending = [columns] }

  /// - Returns: The lines that can be written now.
  mutating func add(_ cells: [String]) -> [String] {
    guard let widths else {
      pending.append(cells)
      return pending.count > Self.measuredRows ? end() : []
    }
    return [Self.line(cells, widths)]
  }

  mutating func end() -> [String] {
    let rows = pending
    pending = []
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

  func show(_ facts: Facts) { show(facts.document, or: facts.lines) }

  func show(_ facts: [Facts]) { show(.array(facts.map(\.document)), or: facts.flatMap(\.lines)) }

  /// Shows facts that are one line for people.
  func show(_ facts: Facts, line: String) {
    var facts = facts
    facts.addLine(line)
    show(facts)
  }

  /// Shows facts that are sentences on stderr for people.
  func show(_ facts: Facts, notes: String...) {
    var facts = facts
    facts.note(notes)
    show(facts)
  }

  private func show(_ document: JSONNode, or lines: [(text: String, isNote: Bool)]) {
    switch self {
    case .text: for line in lines { line.isNote ? Streams.note(line.text) : Streams.data(line.text) }
    case .json: Streams.data(document.text())
    }
  }
}

struct AnswerOption: ParsableArguments {
  @Option(help: "text or json.")
  var format: OutputFormat = .text
}
