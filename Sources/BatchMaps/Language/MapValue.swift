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
  /// Taken off the beginning of a text that has it.
  var without: [UInt8] = []
  /// Texts that are no value: ids that name nobody.
  var nobody: Set<[UInt8]> = []
  /// Of what stands outside of the elements of `each`, whether the number of the element is put behind it.
  var isNumbered = false
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
  /// By the bytes of the name; these win over ``spreads`` and ``base``, and objects among them are put into those that stand there.
  var members: [(name: [UInt8], node: MapNode)] = []
  /// An object whose members it takes over; what is no object counts only where nothing else does. Nil for none.
  var base: MapValue?
  /// Members taken over from the record; of equal names the first counts.
  var spreads: [MapSpread] = []
  /// Whether it is there without members, too.
  var isAlwaysThere = false

  var paths: [MapPath] {
    (base?.sources ?? []).flatMap(\.paths)
      + members.flatMap { member in
        switch member.node {
        case .value(let value): value.sources.flatMap(\.paths)
        case .object(let object): object.paths
        }
      } + spreads.map(\.path)
  }

  /// What it reads, as far as a spread with `others` does not take it any more.
  fileprivate func read(besides others: MapPath) -> [MapPath] {
    (base?.sources ?? []).flatMap(\.paths)
      + members.flatMap { member in
        switch member.node {
        case .value(let value): value.sources.flatMap(\.paths)
        case .object(let object): object.read(besides: others)
        }
      }
      + spreads.flatMap { spread in
        if let only = spread.only, case .members = spread.form { return only.map { spread.path.member($0) } }
        return spread.others == nil || spread.path.leads(below: others) ? [spread.path] : []
      }
  }

  /// Tells spreads with `others` what the whole line of a rule reads.
  ///
  /// - Parameter records: where the records of a line are, which are none of its members.
  func withOthers(of line: MapObject, records: [MapPath]) -> MapObject {
    var object = self
    for place in spreads.indices where spreads[place].others != nil {
      let path = spreads[place].path
      let read = line.read(besides: path)
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
  /// All that is there.
  var isWhole = false
  /// By the steps that lead on; the elements of an array are no members.
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
  /// What the rule reads elsewhere, which it does not take; nil takes all.
  var others: Others?

  struct Others: Sendable {
    var ofElement = ReadMembers()
    /// Of a line that is the record itself.
    var ofLine = ReadMembers()
  }
}
