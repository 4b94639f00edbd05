package import BatchFoundation

/// The part of the report that the platform provides, in addition to its figures in the summary.
package struct PlatformReport: Sendable, Equatable, Codable {
  /// A count with its name in words.
  package struct Figure: Sendable, Equatable, Codable {
    package var name: String
    package var count: Int

    package init(_ name: String, _ count: Int) {
      self.name = name
      self.count = count
    }
  }

  /// A line of the final summary, followed by counts.
  package struct Line: Sendable, Equatable, Codable {
    var label: String
    var text: String
    var counts: [Figure]

    package init(_ label: String, _ text: String, counts: [Figure] = []) {
      self.label = label
      self.text = text
      self.counts = counts
    }
  }

  package var lines: [Line] = []
  /// The figures by which two runs are compared.
  package var figures: [Figure] = []
  package var sections: [ReportSection] = []
  /// The names of event types that are codes, by code.
  package var typeNames: [String: String] = [:]
  /// The name for all other types; empty if the types themselves are names.
  package var unnamedType = ""
  /// A setting and a value in the syntax of `--set`, as an example for `compare`; nil for none.
  package var settingToTry: String?
  /// The item to correct if the service denies access; nil for credentials.
  package var access: String?

  package init() {}

  /// Returns the displayed name of an event type, with its code; a type without a name is shown as `event` and the
  /// type.
  package static func words(ofType type: String, _ name: String?) -> String {
    name.map { "\($0) (code \(type))" } ?? "event \(type.printable)"
  }
}

/// Figures that only one platform counts, as written in the summary.
package struct PlatformFigures: Sendable, Equatable, Codable {
  /// The name of the member in the summary.
  let name: String
  private let text: String

  package init(_ name: String, _ figures: JSONNode) { (self.name, text) = (name, figures.compactText) }

  /// Returns the figures whose names begin with `name` and a dot, keyed by the rest of their names.
  package static func group(_ name: String, of figures: [String: Int]) -> JSONNode {
    let prefix = "\(name)."
    let inside = figures.filter { $0.key.hasPrefix(prefix) }.map { (String($0.key.dropFirst(prefix.count)), $0.value) }
    return .object(inside.sorted { ByteText($0.0) < ByteText($1.0) }.map { ($0.0, .number($0.1)) })
  }

  var json: JSONNode { JSONNode(.written(text)) }
}

/// A table of the report; in `report.json` an array of objects.
package struct ReportSection: Sendable, Equatable, Codable {
  struct Column: Sendable, Equatable, Codable {
    /// The name of the member in `report.json`.
    var key: String
    var title: String
  }

  package enum Cell: Sendable, Equatable, Codable {
    case text(String)
    case count(Int)
    /// A number used as an identifier.
    case id(Int64)
  }

  /// The name of the member in `report.json`.
  var key: String
  var title: String
  var columns: [Column]
  var rows: [[Cell]]

  /// - Parameter columns: the names of a row's members, each with the title of its column.
  package init(_ key: String, _ title: String, columns: KeyValuePairs<String, String>, rows: [[Cell]]) {
    self.key = key
    self.title = title
    self.columns = columns.map { Column(key: $0, title: $1) }
    self.rows = rows
  }
}

extension ReportSection {
  private static let listBytes = 30_000

  var json: JSONNode {
    .list(rows.map { row in .object(zip(columns, row).map { ($0.key, $1.json) }) }, atMost: Self.listBytes)
  }
}

extension ReportSection.Cell {
  var json: JSONNode {
    switch self {
    case .text(let text): .text(text)
    case .count(let count): .number(count)
    case .id(let id): .number(Int(id))
    }
  }

  var words: String {
    switch self {
    case .text(let text): text
    case .count(let count): count.grouped
    case .id(let id): String(id)
    }
  }

  var isNumber: Bool { if case .text = self { false } else { true } }
}
