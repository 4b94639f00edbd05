import BatchFoundation
import BatchJSON

/// A listing on stdout, row by row, so that a long one takes no memory.
///
/// As text: one line a row, cells separated by tabs below a line of names. As JSON: one array of objects.
struct Listing {
  private let format: OutputFormat
  private let columns: [String]
  private let write: (String) -> Void
  /// The last row, for no comma follows the one at the end.
  private var pending: String?

  /// - Parameter columns: names of the cells, in their order.
  init(_ format: OutputFormat, columns: [String], write: @escaping (String) -> Void = Streams.data) {
    self.format = format
    self.columns = columns
    self.write = write
    if format == .text { write(columns.joined(separator: "\t")) }
  }

  /// - Parameter cells: as many as there are columns; null shows as an empty cell.
  mutating func add(_ cells: [JSONNode]) {
    switch format {
    case .text: write(cells.map(\.cell).joined(separator: "\t"))
    case .json:
      let row = JSONNode(.object(zip(columns, cells).map { JSONMember(key: $0, value: $1) }))
      write(pending.map { "\($0)," } ?? "[")
      pending = "  " + row.text(indentation: 2)
    }
  }

  mutating func end() {
    guard format == .json else { return }
    write(pending.map { "\($0)\n]" } ?? "[]")
    pending = nil
  }
}

extension JSONNode {
  /// The value in one cell of a line.
  fileprivate var cell: String {
    switch value {
    case .null: ""
    case .bool(let flag): flag ? "yes" : "no"
    case .number(let text): text
    case .string(let text): text.printable
    case .array, .object: line
    }
  }

  /// The value as JSON text in one line.
  var line: String {
    switch value {
    case .array(let elements): "[" + elements.map(\.line).joined(separator: ",") + "]"
    case .object(let members):
      "{" + members.map { "\(JSONNode(.string($0.key)).text()):\($0.value.line)" }.joined(separator: ",") + "}"
    default: text()
    }
  }
}
