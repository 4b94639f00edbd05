import BatchConfiguration
package import BatchFoundation
import BatchIngest

/// A map: rules that turn foreign records into lines of the project's own shape (reference formats 6).
package struct ForeignMap: Sendable {
  /// The treatment of records that no rule matches.
  enum Otherwise: String, CaseIterable, Sendable {
    case quarantine, leaveOut
  }

  package let name: String
  /// Whether it is a file rather than a preset.
  package var isFile: Bool { MapName.isFile(name) }
  /// A digest of the document and those that it includes, wherever they are; empty without a document.
  package var digest = ""
  var form = MapForm.lines
  /// The array in each line whose elements are the records; nil if the line is the record.
  var each: MapPath?
  /// The path of the record within its line; nil if the line is the record.
  var record: MapPath?
  /// The members of JSON lines whose texts are JSON; for tables, ``TableForm/jsonColumns``.
  var jsonMembers: [[UInt8]] = []
  /// The decimal sign of numbers in texts; nil for JSON numbers.
  var decimal: UInt8?
  /// The spelling of names that paths of its own rules accept.
  var names = MapNames.exact
  var rules: [MapRule] = []
  /// The number of the document's own rules; rules of included maps follow them.
  var ownRules = 0
  var otherwise = Otherwise.quarantine
  /// The record types that the document and the files it includes name.
  package internal(set) var types: [NamedType] = []
  /// The names of members that it writes to `ids`.
  package internal(set) var idColumns: [NamedType] = []

  package struct NamedType: Sendable {
    package var name: String
    package var place: Place
  }
}

extension ForeignMap {
  /// The map of records in the project's own shape.
  package static let own: ForeignMap = {
    var map = ForeignMap(name: "own")
    // This path is valid.
    let record = (try? MapPath("$")).map { MapSpread(path: $0) }
    var rule = MapRule(name: "1", conditions: [], outcome: .line(MapObject(spreads: record.map { [$0] } ?? [])))
    for field in RecordField.allCases { rule.fieldPaths["\(field)"] = ["\(field)"] }
    map.rules = [rule]
    return map
  }()

  /// Returns the map for records at a path within their lines; nil for an invalid path.
  package func reading(record path: String) -> ForeignMap? {
    // The caller reports invalid paths.
    guard let path = try? MapPath(path) else { return nil }
    var map = self
    map.record = path
    map.digest += " \(path.text)"
    return map
  }
}

/// A rule for some of the records.
struct MapRule: Sendable {
  enum Outcome: Sendable {
    case line(MapObject)
    case leftOut(String)
  }

  var name: String
  /// The conditions, all of which must hold.
  var conditions: [MapCondition]
  var outcome: Outcome
  /// Whether later rules also see a record that it matched.
  var continues = false
  var fieldPaths: [String: [String]] = [:]
}

/// The way a file is cut into records (reference formats 6.2).
enum MapForm: Sendable {
  case lines
  /// Each line is a text, named `line` in paths.
  case text(TextEncoding)
  case documents(TextEncoding)
  case table(TableForm)
  /// The store of an SDK; of a database, the tables with one of these columns, whose texts are JSON.
  case store(jsonColumns: [String])
}

struct TableForm: Sendable {
  var dialect = RowDialect()
  var encoding = TextEncoding.utf8
  /// The column names; nil if the first row has them.
  var columns: [String]?
  var jsonColumns: [String] = []
}

package enum TextEncoding: String, CaseIterable, Sendable {
  case utf8 = "utf-8"
  case latin1 = "iso-8859-1"
  case windows1252 = "windows-1252"
  case utf16 = "utf-16"
}

/// A condition of a rule (reference formats 6.3).
indirect enum MapCondition: Hashable, Sendable {
  case test(MapPath, MapTest)
  /// Any of the groups, all conditions of which must hold.
  case any([[MapCondition]])

  var paths: [MapPath] {
    switch self {
    case .test(let path, _): [path]
    case .any(let choices): choices.flatMap { $0.flatMap(\.paths) }
    }
  }
}

/// A test of the value at a path.
indirect enum MapTest: Hashable, Sendable {
  /// Whether it is one of the texts; numbers and booleans compare as written.
  case isOneOf([[UInt8]])
  /// Whether it is more than null, an empty text or an empty array.
  case exists(Bool)
  case begins([UInt8])
  case ends([UInt8])
  case contains([UInt8])
  case atLeast(Double)
  case below(Double)
  case not(MapTest)
  case all([MapTest])
}
