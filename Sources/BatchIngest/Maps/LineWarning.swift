import BatchFoundation

/// A warning about a foreign record that counts nevertheless (`docs/words.md`).
package struct LineWarning: Sendable, Equatable {
  package var kind: String
  /// The text, without values of the record.
  package var detail: String

  /// Whether it is about the whole file, reported at the first place.
  var isOfFile = false

  package init(kind: String, detail: String) {
    self.kind = kind
    self.detail = detail
  }

  package static let shortRowKind = "short-row"

  package static func shortRow(fields: Int, of columns: Int) -> LineWarning {
    LineWarning(kind: shortRowKind, detail: "the row has \(fields) of \(columns) columns")
  }

  package static func rowsInField(_ lines: Int) -> LineWarning {
    LineWarning(
      kind: "rows-in-field",
      detail: "a text of the row has \(lines.counted("line")) that could be rows; "
        + #"if quotes mean nothing in the table, the map has to say "quotes": "none""#)
  }

  /// A warning about a file, at the first affected row.
  package static let unreadEscape = {
    var warning = LineWarning(
      kind: "unread-escape",
      detail:
        #"fields of the file hold '\t', '\n' or '\\', taken as they stand; the map has to say "escape": "\\", or "" where they are text"#
    )
    warning.isOfFile = true
    return warning
  }()

  package static func notANumber(_ path: String, hasComma: Bool) -> LineWarning {
    LineWarning(
      kind: "not-a-number",
      detail: "'\(path)' is not a number, and stays a text"
        + (hasComma ? #"; if its comma is a decimal one, the map has to say "decimal": ",""# : ""))
  }
}

struct RecordWarning: Sendable {
  var line: UInt64
  /// The number of the line that a map made of the record; nil if the warning is about the record.
  var element: UInt16?
  var warning: LineWarning
}

extension [String: PlacedWarnings] {
  /// Adds the warnings of a foreign record that counts or, without a line, of the file; returns whether there were any.
  @discardableResult
  mutating func add(of line: BlockLine?, _ block: LineBlock, device: Text = .empty) -> Bool {
    if block.warnings.isEmpty { return false }
    let said =
      line.map { line in
        block.warnings(of: line.number).filter { !$0.warning.isOfFile && ($0.element ?? 0) == line.element }
      } ?? block.warnings.filter(\.warning.isOfFile)
    for warning in said {
      let position = RecordPosition(file: line?.file ?? block.file, line: warning.line, element: line?.element ?? 0)
      self[warning.warning.kind, default: PlacedWarnings()].add(at: position) {
        PlacedWarnings.Example(device: device.description, position: position, detail: warning.warning.detail)
      }
    }
    return !said.isEmpty
  }
}
