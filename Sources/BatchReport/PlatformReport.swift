import BatchFoundation

/// What one platform alone has to tell of a run, beside its figures in the summary.
package struct PlatformReport: Sendable, Equatable, Codable {
  /// A line of the end summary, with what it counts below.
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

  /// A number of this platform alone, which two runs are compared by.
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
  /// What types of events are called that are codes.
  package var typeNames: [String: String] = [:]
  /// What any other type is called; empty where every type is its name.
  package var unnamedType = ""
  /// A setting and a value, as `--set` takes them, that show what `compare` is good for; nil offers none.
  package var settingToTry: String?
  /// What to correct where the service lets nobody in; nil for credentials.
  package var access: String?

  package init() {}

  /// What an event of the type is called where people read; a name of the caller's own stands for itself.
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
    /// A number that names something.
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
