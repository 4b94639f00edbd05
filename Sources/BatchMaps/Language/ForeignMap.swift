package import BatchConfiguration
import BatchFoundation
import BatchIngest

/// A map as it was read: rules that make lines of the project's own shape out of foreign records (reference formats 6).
package struct ForeignMap: Sendable {
  /// What becomes of a record that no rule takes.
  enum Otherwise: String, CaseIterable, Sendable {
    case quarantine, leaveOut
  }

  package let name: String
  /// Whether it is one that somebody wrote.
  package var isFile: Bool { MapName.isFile(name) }
  /// Equal for equal documents, those that it includes among them, wherever they are; empty for a map that no file has.
  package var digest = ""
  var form = MapForm.lines
  /// An array in each line whose elements are the records; nil where the line is one.
  var each: MapPath?
  /// Where a record lies inside its line; nil where the line is one.
  var record: MapPath?
  /// Members of a line of JSON whose texts are JSON; those of tables are ``TableForm/jsonColumns``.
  var jsonMembers: [[UInt8]] = []
  /// What stands before the fraction of a number in a text; nil for numbers as JSON has them.
  var decimal: UInt8?
  /// Of the paths of its own rules.
  var names = MapNames.exact
  var rules: [MapRule] = []
  /// Rules of the document itself; those behind them are of maps that it includes.
  var ownRules = 0
  var otherwise = Otherwise.quarantine
  /// The types of records that the document names itself, and the files that it includes.
  package internal(set) var types: [NamedType] = []
  /// Names of members that it gives `ids`.
  package internal(set) var idColumns: [NamedType] = []

  package struct NamedType: Sendable {
    package var name: String
    package var place: Place
  }
}

extension ForeignMap {
  /// Records of the project's own shape.
  package static let own: ForeignMap = {
    var map = ForeignMap(name: "own")
    // A dollar is a path.
    let record = (try? MapPath("$")).map { MapSpread(path: $0) }
    var rule = MapRule(name: "1", conditions: [], outcome: .line(MapObject(spreads: record.map { [$0] } ?? [])))
    for field in RecordField.allCases { rule.fieldPaths["\(field)"] = ["\(field)"] }
    map.rules = [rule]
    return map
  }()

  /// The same map of records that lie at a path inside their lines; nil for what is no path.
  package func reading(record path: String) -> ForeignMap? {
    // What is wrong with it is what is wrong with paths.
    guard let path = try? MapPath(path) else { return nil }
    var map = self
    map.record = path
    map.digest += " \(path.text)"
    return map
  }

}

/// What some records become.
struct MapRule: Sendable {
  enum Outcome: Sendable {
    case line(MapObject)
    case leftOut(String)
  }

  var name: String
  /// All of them have to hold.
  var conditions: [MapCondition]
  var outcome: Outcome
  /// Whether the rules behind it are asked about a record that it took as well.
  var continues = false
  /// By name of a field, the paths that it is read from.
  var fieldPaths: [String: [String]] = [:]
}

/// How a file is cut into records (reference formats 6.2).
enum MapForm: Sendable {
  case lines
  /// Each line is a text, which paths know as `line`.
  case text(TextEncoding)
  case documents(TextEncoding)
  case table(TableForm)
  /// What an SDK kept on a phone; of a database the tables with one of the columns, whose texts are JSON.
  case store(jsonColumns: [String])
}

struct TableForm: Sendable {
  var separator = UInt8(ascii: ",")
  var encoding = TextEncoding.utf8
  /// The names of the columns; nil where the first row has them.
  var columns: [String]?
  /// Columns whose texts are JSON.
  var jsonColumns: [String] = []
  var quotes = TableQuotes.standard
  /// The character before one that means itself, or before a letter that means another; nil for none.
  var escape: UInt8?
  /// Whether it escapes only quotes and itself, and only within quotes, as Spark writes them.
  var escapesOnlyQuotes = false
  /// Whether backslashes that the map does not account for are reported.
  var looksForEscapes = true
  /// Fields without quotes that are absent.
  var nulls: [[UInt8]] = [Array("\\N".utf8)]
}

/// What quotes around a field are.
enum TableQuotes: String, Sendable {
  /// None of its text, which may span lines.
  case standard
  /// Characters like others.
  case none
  /// None of its text, which ends in its line.
  case inLine
}

package enum TextEncoding: String, CaseIterable, Sendable {
  case utf8 = "utf-8"
  case latin1 = "iso-8859-1"
  case windows1252 = "windows-1252"
  case utf16 = "utf-16"
}
