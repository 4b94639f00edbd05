import BatchFoundation

/// A path or a constant, and the conversion of its value.
struct MapSource: Sendable {
  enum Origin: Sendable {
    /// The first path with a value.
    case paths([MapPath])
    /// The values at all paths, as strings joined by a separator; paths without a value are skipped.
    case joined([MapPath], [UInt8])
    case constant(MapConstant)
  }

  var origin: Origin
  /// The values that replace strings; nil to keep values.
  var table: [[UInt8]: MapConstant]?
  var form: MapValueForm?
  var time: MapTime?
  var prefix: [UInt8] = []
  /// The prefix to remove from values that begin with it.
  var without: [UInt8] = []
  /// The ids that identify nobody and count as no value.
  var nobody: Set<[UInt8]> = []
  /// Whether the number of the current element is appended to a value that comes from outside the elements of `each`.
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
  /// The constant as a string; nil for an array, an object or null.
  let text: [UInt8]?
}

/// The type to which a value is converted; a value that cannot be converted is kept.
enum MapValueForm: String, CaseIterable, Sendable {
  case text, number, boolean, lowercase, uppercase
}

/// A part of the line that a rule writes.
indirect enum MapNode: Sendable {
  /// The sources of a field; the first one with a value counts.
  case value([MapSource])
  case object(MapObject)

  func paths(_ ofSpread: (MapSpread) -> [MapPath] = { [$0.path] }) -> [MapPath] {
    switch self {
    case .value(let sources): sources.flatMap(\.paths)
    case .object(let object): object.paths(ofSpread)
    }
  }
}

struct MapObject: Sendable {
  /// The members, sorted by the bytes of their names. They override members from ``spreads`` and ``base``; objects are
  /// merged.
  var members: [(name: [UInt8], node: MapNode)] = []
  /// The source of an object whose members are copied. A value that is not an object counts only if no member has a
  /// value. Nil for no source.
  var base: [MapSource]?
  /// The members copied from the record; if several have the same name, the first one counts.
  var spreads: [MapSpread] = []
  /// Whether the object is written even if it has no members.
  var isAlwaysThere = false

  /// Returns the paths that the object reads.
  ///
  /// - Parameter ofSpread: returns the paths that a spread reads.
  func paths(_ ofSpread: (MapSpread) -> [MapPath] = { [$0.path] }) -> [MapPath] {
    (base ?? []).flatMap(\.paths) + members.flatMap { $0.node.paths(ofSpread) } + spreads.flatMap(ofSpread)
  }

  /// Returns a copy of the object in which each spread with `others` lists the members that the rule reads.
  ///
  /// - Parameters:
  ///   - line: the whole object that the rule writes.
  ///   - records: the paths of records in a line, which are not copied either.
  func withOthers(of line: MapObject, records: [MapPath]) -> MapObject {
    var object = self
    for place in spreads.indices where spreads[place].others != nil {
      let path = spreads[place].path
      // Members copied by another spread with `others` do not count as read.
      let read = line.paths { spread in
        if let only = spread.only, case .members = spread.form { return only.map { spread.path.member($0) } }
        return spread.others == nil || spread.path.leads(below: path) ? [spread.path] : []
      }
      let ofLine = read + records.map(\.outer)
      object.spreads[place].others = (
        ReadMembers(below: path, ofLine.filter { $0.isOuter == path.isOuter }), ReadMembers(below: path, ofLine)
      )
    }
    for place in members.indices {
      if case .object(let inner) = members[place].node {
        object.members[place].node = .object(inner.withOthers(of: line, records: records))
      }
    }
    return object
  }
}

/// The members that a rule reads inside a value.
struct ReadMembers: Sendable {
  /// Whether the rule reads the whole value.
  var isWhole = false
  /// The members, each with the step that reads it; elements of arrays are not included.
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

/// The members copied from an object, or the pairs copied from a list, with exceptions.
struct MapSpread: Sendable {
  enum Form: Sendable {
    case members
    /// A name and a value from each element of an array.
    case pairs(key: MapPath, value: MapPath)
  }

  var path: MapPath
  var form = Form.members
  var except: Set<[UInt8]> = []
  /// The names to copy; nil for all.
  var only: Set<[UInt8]>?
  var renamed: [[UInt8]: [UInt8]] = [:]
  var prefix: [UInt8] = []
  /// The separator of names when nested objects are flattened; nil to keep nested objects.
  var separator: [UInt8]?
  /// The members that the rule reads elsewhere and that are not copied: in an element of `each`, and in a line that is
  /// itself the record. Nil to copy all.
  var others: (ofElement: ReadMembers, ofLine: ReadMembers)?
}

/// Parses numbers as people write them: `1.234,5`, `-12,00`, `1 234.5`.
enum DecimalComma {
  private static let groupings = [".", ",", " ", "'", "\u{A0}", "\u{202F}", "\u{2019}"].map { Array($0.utf8) }

  /// Returns the number in JSON notation; nil if it has no digits or wrong groups. The caller must check the result for
  /// other faults.
  ///
  /// - Parameter decimal: the decimal sign. A different sign may separate groups of three digits before it.
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
