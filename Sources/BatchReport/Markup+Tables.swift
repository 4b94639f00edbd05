import BatchFoundation

/// A column of a table. The first column names the row.
struct Column<Row> {
  /// The head; narrow pages repeat it next to each cell.
  let head: String
  /// The class of the head; empty for none.
  fileprivate let kind: String
  /// Returns the classes of a cell.
  fileprivate let classes: (Row) -> String
  fileprivate let cell: (Row) -> Markup

  /// - Parameter classes: The classes of cells; nil for the class of the head.
  init(
    _ head: String, kind: String = "", classes: ((Row) -> String)? = nil, cell: @escaping (Row) -> Markup
  ) {
    (self.head, self.kind, self.classes, self.cell) = (head, kind, classes ?? { _ in kind }, cell)
  }

  static func text(_ head: String, _ text: @escaping (Row) -> String) -> Column {
    Column(head) { "\(text($0))" }
  }

  static func code(_ head: String, _ text: @escaping (Row) -> String) -> Column {
    Column(head) { "<code>\(text($0))</code>" }
  }

  /// Shows a time on one line.
  static func time(_ head: String, _ zone: Zone, _ time: @escaping (Row) -> Instant) -> Column {
    Column(head, kind: "whole") { "\(zone.minute(time($0)))" }
  }

  /// Shows text in the color of a rating.
  static func toned(_ head: String, _ tone: @escaping (Row) -> String, _ text: @escaping (Row) -> String) -> Column {
    Column(head, classes: tone) { "\(text($0))" }
  }

  /// Shows a number that is already formatted.
  static func number(_ head: String, _ text: @escaping (Row) -> String) -> Column {
    Column(head, kind: "number") { "\(text($0))" }
  }

  static func figure(_ head: String, _ count: @escaping (Row) -> Int) -> Column { .number(head) { count($0).grouped } }
}

extension Markup {
  /// Adds a section with a table, as wide as the page. A nil caption repeats the title, for screen readers only.
  mutating func addTable<Row>(
    _ title: String, _ caption: String?, kind: String = "stack", _ rows: [Row], _ columns: [Column<Row>]
  ) {
    guard !rows.isEmpty else { return }
    let table: Markup = .table(caption ?? title, isHeard: caption == nil, kind: kind, rows, columns)
    line(#"<section class="long"><h2>\#(title)</h2>\#(table)</section>"#)
  }

  /// Returns a table whose cells stack on narrow pages; `isHeard` makes the caption available to screen readers only.
  static func table<Row>(
    _ caption: String, isHeard: Bool = false, kind: String = "stack", _ rows: [Row], _ columns: [Column<Row>]
  ) -> Markup {
    let heads: Markup = .joined(columns) {
      $0.head.isEmpty ? "<td></td>" : #"<th scope="col"\#(styled($0.kind))>\#($0.head)</th>"#
    }
    var table: Markup = #"<table class="\#(kind)"><caption\#(styled(isHeard ? "heard" : ""))>\#(caption)</caption>"#
    table.line("")
    table.line("<thead><tr>\(heads)</tr></thead><tbody>")
    table.lines(rows) { row($0, columns) }
    return "\(table)</tbody></table>"
  }

  /// Adds a section with a table of names and figures without heads.
  mutating func addShortTable<Row>(_ title: String, _ caption: String, _ rows: [Row], _ columns: [Column<Row>]) {
    guard !rows.isEmpty else { return }
    line("<section><h2>\(title)</h2>\(.shortTable(caption, rows, columns))</section>")
  }

  static func shortTable<Row>(_ caption: String, _ rows: [Row], _ columns: [Column<Row>]) -> Markup {
    var table: Markup = "<table><caption>\(caption)</caption>"
    table.line("")
    table.lines(rows) { row($0, columns) }
    return "\(table)</table>"
  }

  private static func row<Row>(_ row: Row, _ columns: [Column<Row>]) -> Markup {
    let cells: Markup = .joined(columns.dropFirst()) { column in
      let label: Markup = column.head.isEmpty ? "" : #" data-label="\#(column.head)""#
      return "<td\(styled(column.classes(row)))\(label)>\(column.cell(row))</td>"
    }
    let name = columns[0]
    return #"<tr><th scope="row"\#(styled(name.classes(row)))>\#(name.cell(row))</th>\#(cells)</tr>"#
  }

  /// Adds the large figures at the top of a page; a tone is `plain`, `good`, `attention` or `bad`.
  mutating func addTiles(_ tiles: [(label: String, count: Int, tone: String)]) {
    guard !tiles.isEmpty else { return }
    line(#"<div class="tiles">"#)
    lines(tiles) {
      #"<div class="tile"><b class="\#($0.tone)">\#($0.count.grouped)</b><span>\#($0.label)</span></div>"#
    }
    line("</div>")
  }

  /// Returns the class attribute; empty for no classes.
  static func styled(_ classes: String) -> Markup { classes.isEmpty ? "" : #" class="\#(classes)""# }
}
