import BatchFoundation

/// A platform's part of the report, in addition to its figures in the summary.
package struct PlatformReport: Sendable, Equatable, Codable {
  /// A line of the final summary, followed by counts.
  package struct Line: Sendable, Equatable, Codable {
    package struct Count: Sendable, Equatable, Codable {
      package var words: String
      package var count: Int
    }

    package var label: String
    package var text: String
    package var counts: [Count]

    package init(_ label: String, _ text: String, counts: [(words: String, count: Int)] = []) {
      self.label = label
      self.text = text
      self.counts = counts.map { Count(words: $0.words, count: $0.count) }
    }
  }

  /// A platform's figure that two runs are compared by.
  package struct Figure: Sendable, Equatable, Codable {
    package var name: String
    package var count: Int

    package init(_ name: String, _ count: Int) {
      self.name = name
      self.count = count
    }
  }

  package var lines: [Line] = []
  package var figures: [Figure] = []
  package var sections: [ReportSection] = []
  /// The names of event types that are codes.
  package var typeNames: [String: String] = [:]
  /// The name of any other type; empty if types are names themselves.
  package var unnamedType = ""
  /// A setting and a value in the form of `--set`, to demonstrate `compare`; nil for none.
  package var settingToTry: String?
  /// The item to correct if the service denies access; nil for credentials.
  package var access: String?

  package init() {}

  /// Returns the displayed name of an event type, with its code; a type without a name is shown itself.
  package static func words(ofType type: String, _ name: String?) -> String {
    name.map { "\($0) (code \(type))" } ?? "event \(type.printable)"
  }
}

/// A table of the report; in `report.json` an array of objects.
package struct ReportSection: Sendable, Equatable, Codable {
  package struct Column: Sendable, Equatable, Codable {
    /// The name of the member in `report.json`.
    package var key: String
    package var title: String

    package init(_ key: String, _ title: String) {
      self.key = key
      self.title = title
    }
  }

  package enum Cell: Sendable, Equatable, Codable {
    case text(String)
    case count(Int)
    /// A number used as an identifier.
    case id(Int64)
  }

  /// The name of the member in `report.json`.
  package var key: String
  package var title: String
  package var columns: [Column]
  package var rows: [[Cell]]

  package init(_ key: String, _ title: String, columns: [Column], rows: [[Cell]]) {
    self.key = key
    self.title = title
    self.columns = columns
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
