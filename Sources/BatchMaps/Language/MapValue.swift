import BatchFoundation

/// Where the value of a field comes from: the first of its sources that has one.
struct MapValue: Sendable {
  var sources: [MapSource]

  init(_ sources: [MapSource]) { self.sources = sources }
}

/// A path, or a constant, and what is made of what is there.
struct MapSource: Sendable {
  enum Origin: Sendable {
    /// The first of them that has a value.
    case paths([MapPath])
    /// The texts at all that have one, with this between them.
    case joined([MapPath], [UInt8])
    case constant(MapConstant)
  }

  var origin: Origin
  var table: MapTable?
  var form: MapValueForm?
  var time: MapTime?
  /// Put before a text.
  var prefix: [UInt8] = []
  /// Taken where there is no value.
  var fallback: MapConstant?

  var paths: [MapPath] {
    switch origin {
    case .paths(let paths), .joined(let paths, _): paths
    case .constant: []
    }
  }
}

/// A value that a map holds itself, as canonical JSON.
struct MapConstant: Hashable, Sendable {
  let json: [UInt8]
  /// Its text; nil for an array, an object and null.
  let text: [UInt8]?
}

/// Texts, and what stands for each.
struct MapTable: Sendable {
  var rows: [[UInt8]: MapConstant]
}

/// What a value is turned into; one that cannot be turned stays as it was.
enum MapValueForm: String, CaseIterable, Sendable {
  case text, number, boolean, lowercase, uppercase
}

/// What a line is made of: names and values, in the order of the bytes of their names.
indirect enum MapNode: Sendable {
  case value(MapValue)
  case object(MapObject)
}

struct MapObject: Sendable {
  /// By the bytes of the name; these win over ``spreads``.
  var members: [(name: [UInt8], node: MapNode)] = []
  /// Members taken over from the record; of equal names the first counts.
  var spreads: [MapSpread] = []
  /// Whether it is there without members, too.
  var isAlwaysThere = false

  var paths: [MapPath] {
    members.flatMap { member in
      switch member.node {
      case .value(let value): value.sources.flatMap(\.paths)
      case .object(let object): object.paths
      }
    } + spreads.map(\.path)
  }
}

/// All members of an object, or all pairs of a list, but some.
struct MapSpread: Sendable {
  enum Form: Sendable {
    case members
    /// Of each element of an array, a name and a value.
    case pairs(key: MapPath, value: MapPath)
  }

  var path: MapPath
  var form = Form.members
  var except: Set<[UInt8]> = []
  /// Nil takes all.
  var only: Set<[UInt8]>?
  var renamed: [[UInt8]: [UInt8]] = [:]
  var prefix: [UInt8] = []
  /// Objects within become members of their own, with this between the names; nil leaves them.
  var separator: [UInt8]?
  /// Whether it takes only what the rule reads nowhere else.
  var leavesOutReadMembers = false
}
