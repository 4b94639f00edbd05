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
  /// Whether the map is a file rather than a preset.
  package var isFile: Bool { MapName.isFile(name) }
  /// A digest of the map's document and the documents it includes, independent of paths; empty without a document.
  package var digest = ""
  var form = MapForm.lines
  /// The path of the array in each line whose elements are the records; nil if each line is a record.
  var each: MapPath?
  /// The path of the record in its line; nil if the line itself is the record.
  var record: MapPath?
  /// The members of JSON lines whose string values are parsed as JSON; for tables, see ``TableForm/jsonColumns``.
  var jsonMembers: [[UInt8]] = []
  /// The decimal sign of numbers in strings; nil for JSON's point.
  var decimal: UInt8?
  /// The spellings of names that paths in the map's own rules accept.
  var names = MapNames.exact
  var rules: [MapRule] = []
  /// The number of the document's own rules, which precede those of included maps.
  var ownRules = 0
  var otherwise = Otherwise.quarantine
  /// The record types named in the map and in the maps it includes.
  package internal(set) var types: [NamedType] = []
  /// The names of the members that the map writes to `ids`.
  package internal(set) var idColumns: [NamedType] = []

  package struct NamedType: Sendable {
    package var name: String
    package var place: Place
  }
}

extension ForeignMap {
  /// The map for records that already have the project's own shape.
  package static let own: ForeignMap = {
    var map = ForeignMap(name: "own")
    // These paths are valid.
    let record = (try? MapPath("$")).map { MapSpread(path: $0) }
    var rule = MapRule(name: "1", conditions: [], outcome: .line(MapObject(spreads: record.map { [$0] } ?? [])))
    for field in RecordField.allCases { rule.fieldPaths["\(field)"] = (try? MapPath("\(field)")).map { [$0] } }
    map.rules = [rule]
    return map
  }()

  /// Returns this map for records at a path in their lines; nil if the path is invalid.
  package func reading(record path: String) -> ForeignMap? {
    // The caller reports invalid paths.
    guard let path = try? MapPath(path) else { return nil }
    var map = self
    map.record = path
    map.digest += " \(path.text)"
    return map
  }
}

/// A rule of a map, which applies to the records that meet its conditions.
struct MapRule: Sendable {
  enum Outcome: Sendable {
    case line(MapObject)
    case leftOut(String)
  }

  var name: String
  /// The conditions, all of which must hold.
  var conditions: [MapCondition]
  var outcome: Outcome
  /// Whether later rules also apply to the records that this rule matches.
  var continues = false
  var fieldPaths: [String: [MapPath]] = [:]
}

/// The way in which a file is split into records (reference formats 6.2).
enum MapForm: Sendable {
  case lines
  /// Each line is a string; paths refer to it as `line`.
  case text(TextEncoding)
  case documents(TextEncoding)
  case table(TableForm)
  /// The store of an SDK. If it is a database, the tables that have one of these columns are read; the columns contain
  /// JSON.
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
  /// Whether all conditions of at least one group hold.
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
  /// Whether the value equals one of the strings; numbers and booleans are compared as written.
  case isOneOf([[UInt8]])
  /// Whether the value is more than null, an empty string, or an array without values; `false` inverts the test.
  case exists(Bool)
  case begins([UInt8])
  case ends([UInt8])
  case contains([UInt8])
  case atLeast(Double)
  case below(Double)
  case not(MapTest)
  case all([MapTest])
}
