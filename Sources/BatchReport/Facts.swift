package import BatchFoundation

/// The facts that a command outputs. JSON shows their values by key, and a terminal shows their lines.
package struct Facts: Sendable, ExpressibleByDictionaryLiteral {
  private struct Row {
    var key = ""
    /// Nil for a fact that is shown only to people.
    var value: JSONNode?
    /// The heading, shown in a separate column; nil for lines without a heading.
    var title: String?
    var lines: [String] = []
    /// Whether the lines go to stderr, because the output is complete without them.
    var isNote = false
  }

  private var rows: [Row] = []

  package init(dictionaryLiteral members: (String, JSONNode)...) {
    rows = members.map { Row(key: $0.0, value: $0.1) }
  }

  /// Adds a value, unless it is nil, and the lines that show it to people.
  package mutating func add(_ key: String, _ value: JSONNode?, _ lines: String...) { add(key, value, lines) }

  package mutating func add(_ key: String, _ value: JSONNode?, _ lines: [String]) {
    rows.append(Row(key: key, value: value, lines: lines.map(\.printable)))
  }

  /// Adds the subject of all other facts.
  package mutating func add(subject: String) { add("subject", .text(subject), subject) }

  /// Adds sentences under a heading, unless there are none.
  package mutating func add(_ key: String, titled title: String, _ lines: String...) { add(key, titled: title, lines) }

  package mutating func add(_ key: String, titled title: String, _ lines: [String]) {
    guard !lines.isEmpty else { return }
    rows.append(Row(key: key, value: .texts(lines), title: title, lines: lines.map(\.printable)))
  }

  package mutating func add(_ more: Facts) { rows += more.rows }

  /// Adds a line of cells with tabs between them.
  package mutating func addLine(_ cells: String...) { addLine(cells) }

  package mutating func addLine(_ cells: [String]) {
    rows.append(Row(lines: [cells.map(\.printable).joined(separator: "\t")]))
  }

  /// Adds lines for stderr.
  package mutating func note(_ lines: String...) { note(lines) }

  package mutating func note(_ lines: [String]) { rows.append(Row(lines: lines.map(\.printable), isNote: true)) }

  package var document: JSONNode {
    .object(rows.compactMap { row in row.value.map { (row.key, $0) } })
  }

  /// The lines for people, with the headings in a column.
  package var lines: [(text: String, isNote: Bool)] {
    let width = rows.compactMap(\.title?.unicodeScalars.count).max() ?? 0
    return rows.flatMap { row in
      row.lines.enumerated().map { index, line in
        let heading = row.title.map { "  " + (index == 0 ? $0 : "").filled(to: width + 2) } ?? ""
        return (heading + line, row.isNote)
      }
    }
  }
}
