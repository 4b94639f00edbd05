import BatchFoundation

/// The sources of a field, of which the first with a value counts.
struct MapValue: Sendable {
  var sources: [MapSource]
}

/// A path or a constant, and the conversion of the value.
struct MapSource: Sendable {
  enum Origin: Sendable {
    /// The first path with a value.
    case paths([MapPath])
    /// The texts at all paths with a value, joined by a separator.
    case joined([MapPath], [UInt8])
    case constant(MapConstant)
  }

  var origin: Origin
  var table: MapTable?
  var form: MapValueForm?
  var time: MapTime?
  var prefix: [UInt8] = []
  /// The prefix removed from a text that has it.
  var without: [UInt8] = []
  /// The ids that name nobody and count as no value.
  var nobody: Set<[UInt8]> = []
  /// Whether the element's number follows values from outside the elements of `each`.
  var isNumbered = false
  var fallback: MapConstant?

  var paths: [MapPath] {
    switch origin {
    case .paths(let paths), .joined(let paths, _): paths
    case .constant: []
    }
  }
}

/// A constant of a map, as canonical JSON.
struct MapConstant: Hashable, Sendable {
  let json: [UInt8]
  /// The text; nil for an array, an object or null.
  let text: [UInt8]?
}

struct MapTable: Sendable {
  var rows: [[UInt8]: MapConstant]
}

/// The type that a value is converted to; a value that cannot be converted is kept.
enum MapValueForm: String, CaseIterable, Sendable {
  case text, number, boolean, lowercase, uppercase
}

/// A part of the line that a rule writes.
indirect enum MapNode: Sendable {
  case value(MapValue)
  case object(MapObject)

  func paths(_ ofSpread: (MapSpread) -> [MapPath] = { [$0.path] }) -> [MapPath] {
    switch self {
    case .value(let value): value.sources.flatMap(\.paths)
    case .object(let object): object.paths(ofSpread)
    }
  }
}

struct MapObject: Sendable {
  /// The members by the bytes of their names. They override ``spreads`` and ``base``; objects are merged into those
  /// there.
  var members: [(name: [UInt8], node: MapNode)] = []
  /// The object whose members it copies; another value counts only if the result is empty. Nil for none.
  var base: MapValue?
  /// The members copied from the record; of equal names, the first counts.
  var spreads: [MapSpread] = []
  /// Whether it is written even without members.
  var isAlwaysThere = false

  /// Returns the paths it reads.
  ///
  /// - Parameter ofSpread: returns the paths of members copied from the record.
  func paths(_ ofSpread: (MapSpread) -> [MapPath] = { [$0.path] }) -> [MapPath] {
    (base?.sources ?? []).flatMap(\.paths) + members.flatMap { $0.node.paths(ofSpread) } + spreads.flatMap(ofSpread)
  }

  /// Returns the object with spreads that know which members the whole rule reads, for `others`.
  ///
  /// - Parameter records: the paths of records within a line, which do not count as its members.
  func withOthers(of line: MapObject, records: [MapPath]) -> MapObject {
    var object = self
    for place in spreads.indices where spreads[place].others != nil {
      let path = spreads[place].path
      // What another spread with `others` copies does not count.
      let read = line.paths { spread in
        if let only = spread.only, case .members = spread.form { return only.map { spread.path.member($0) } }
        return spread.others == nil || spread.path.leads(below: path) ? [spread.path] : []
      }
      let ofLine = read + records.map(\.outer)
      object.spreads[place].others = MapSpread.Others(
        ofElement: ReadMembers(below: path, ofLine.filter { $0.isOuter == path.isOuter }),
        ofLine: ReadMembers(below: path, ofLine))
    }
    for place in members.indices {
      if case .object(let inner) = members[place].node {
        object.members[place].node = .object(inner.withOthers(of: line, records: records))
      }
    }
    return object
  }
}

/// The members below a place that a rule reads.
struct ReadMembers: Sendable {
  /// Whether everything there is read.
  var isWhole = false
  /// The members by their step; elements of arrays are not included.
  private(set) var members: [(step: MapPath.Step, names: MapNames, below: ReadMembers)] = []

  init() {}

  init(below place: MapPath, _ paths: [MapPath]) {
    for path in paths {
      if place.steps.starts(with: path.steps) {
        isWhole = true
      } else if path.steps.starts(with: place.steps) {
        add(path.steps.dropFirst(place.steps.count), path.names)
      }
    }
  }

  private mutating func add(_ steps: ArraySlice<MapPath.Step>, _ names: MapNames) {
    guard let step = steps.first else { return isWhole = true }
    switch step {
    case .element, .match: return
    case .member, .first: break
    }
    let place = members.firstIndex { $0.step == step } ?? members.count
    if place == members.count { members.append((step, names, ReadMembers())) }
    members[place].below.add(steps.dropFirst(), names)
  }
}

/// The members of an object, or the pairs of a list, with exceptions.
struct MapSpread: Sendable {
  enum Form: Sendable {
    case members
    /// A name and a value from each element of an array.
    case pairs(key: MapPath, value: MapPath)
  }

  var path: MapPath
  var form = Form.members
  var except: Set<[UInt8]> = []
  /// The only names copied; nil for all.
  var only: Set<[UInt8]>?
  var renamed: [[UInt8]: [UInt8]] = [:]
  var prefix: [UInt8] = []
  /// The separator between the names of flattened objects; nil to keep objects.
  var separator: [UInt8]?
  /// The members that the rule reads elsewhere, which are not copied; nil to copy all.
  var others: Others?

  struct Others: Sendable {
    var ofElement = ReadMembers()
    /// The members for a line that is itself the record.
    var ofLine = ReadMembers()
  }
}

/// The parser of numbers as people write them: `1.234,5`, `-12,00`, `1 234.5`.
enum DecimalComma {
  private static let groupings = [".", ",", " ", "'", "\u{A0}", "\u{202F}", "\u{2019}"].map { Array($0.utf8) }

  /// Returns the number as JSON writes it; nil if it is not one.
  ///
  /// - Parameter decimal: the decimal sign. Another sign may separate groups of three digits before it.
  static func plain(_ text: Text, _ decimal: UInt8) -> [UInt8]? {
    let bytes = (0..<text.count).map { text[$0] }
    let whole = bytes.prefix { $0 != decimal }
    let fraction = bytes.dropFirst(whole.count + 1)
    guard let isDigit = whole.firstIndex(where: { 0x30...0x39 ~= $0 }) else { return nil }
    let rest = whole[isDigit...].drop { 0x30...0x39 ~= $0 }
    let sign = groupings.first { $0 != [decimal] && rest.starts(with: $0) }
    var groups: [ArraySlice<UInt8>] = [whole[isDigit...].dropLast(rest.count)]
    var left = rest
    while let sign, left.starts(with: sign), !left.isEmpty {
      groups.append(left.dropFirst(sign.count).prefix(3))
      left = left.dropFirst(sign.count + 3)
    }
    guard left.isEmpty, groups.count == 1 || groups[0].count <= 3, groups.dropFirst().allSatisfy({ $0.count == 3 })
    else { return nil }
    return whole[..<isDigit] + groups.joined() + (whole.count < bytes.count ? [UInt8(ascii: ".")] + fraction : [])
  }
}
