package import BatchConfiguration
import BatchFoundation

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
  /// The same map of records that stand in a JSON array, or one after the other.
  package var ofDocuments: ForeignMap {
    var map = self
    map.form = .documents(.utf8)
    return map
  }

  /// The document of a map that is ``ofDocuments``.
  package var includingDocument: String {
    let each = each.map { "  \"each\": \(JSONString.quoted($0.text)),\n" } ?? ""
    return "{\n  \"form\": \"json\",\n\(each)  \"include\": [\(JSONString.quoted(name))]\n}\n"
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
  /// Whether quotes around a field mean anything.
  var hasQuotes = true
}

package enum TextEncoding: String, CaseIterable, Sendable {
  case utf8 = "utf-8"
  case latin1 = "iso-8859-1"
  case windows1252 = "windows-1252"
  case utf16 = "utf-16"
}
