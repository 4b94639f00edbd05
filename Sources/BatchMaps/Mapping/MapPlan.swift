import BatchFoundation
import BatchIngest

/// What a map says, ready to be done for record after record: rows of plain numbers and texts that nobody owns, so that to ask a
/// condition and to find a value is neither an allocation nor a count of references.
struct MapPlan {
  /// Of several that take the same record, the rest comes in ``next``.
  struct Rule {
    /// What it writes; nil for one that leaves the record out.
    var object: Int?
    /// Where those behind it begin; the end for a rule that is the last for its records.
    var next: Int
  }

  struct Object {
    var members: Range<Int>
    var spreads: Range<Int>
    var isAlwaysThere: Bool
  }

  struct Member {
    var name: Text
    /// `,"NAME":`.
    var quoted: Text
    var content: Content
  }

  enum Content {
    case object(Int)
    /// The first of them that has a value.
    case sources(Range<Int>)
  }

  enum Source {
    /// As it stands in JSON.
    case constant(Text)
    case place(MapOutline.Place, Turn, prefix: Text)
  }

  /// What is made of a value.
  enum Turn {
    case none
    case form(MapValueForm)
    /// By its text, the number of a constant.
    case table(NameIndex.Scope)
    case time(Int)
  }

  struct Spread {
    var place: MapOutline.Place
    /// Number of the paths of names and values; nil where members are taken.
    var pairs: Int?
    var except: NameIndex.Scope
    /// Nil takes all.
    var only: NameIndex.Scope?
    /// By a name, the number of the one that it gets.
    var renamed: NameIndex.Scope
    var prefix: Text
    /// Empty leaves objects as they are.
    var separator: Text
  }

  private(set) var outline = MapOutline()
  private(set) var decisions = MapDecisions()
  private(set) var rules: [Rule] = []
  private(set) var objects: [Object] = []
  private(set) var members: [Member] = []
  private(set) var sources: [Source] = []
  private(set) var spreads: [Spread] = []
  private(set) var names = NameIndex()
  /// New names, and the constants of tables.
  private(set) var texts: [Text] = []
  private(set) var times: [MapTime] = []
  private(set) var pairs: [(key: MapPath, value: MapPath)] = []
  /// An array in each line whose elements are the records; nil where the line is one.
  private(set) var each: MapOutline.Place?
  /// Holds the bytes of all texts.
  private let memory = Arena(blockSize: 1 << 12)

  init(_ map: ForeignMap) {
    each = map.each.map { outline.place(of: $0) }
    var next = MapDecisions.end
    // From behind, because a rule knows the one after it.
    for (number, rule) in map.rules.enumerated().reversed() {
      let object: Int? = if case .line(let object) = rule.outcome { add(object) } else { nil }
      rules.append(Rule(object: object, next: rule.continues ? next : MapDecisions.end))
      next = decisions.add(rule.conditions, then: MapDecisions.rule(number), else: next, &outline, memory)
    }
    rules.reverse()
    decisions.first = next
    outline.finish()
  }

  private mutating func add(_ object: MapObject) -> Int {
    let own = object.members.map { name, node in
      Member(name: copy(name), quoted: quoted(name), content: add(node))
    }
    let taken = object.spreads.map { row(of: $0) }
    objects.append(
      Object(
        members: Self.append(own, to: &members), spreads: Self.append(taken, to: &spreads),
        isAlwaysThere: object.isAlwaysThere))
    return objects.count - 1
  }

  private mutating func add(_ node: MapNode) -> Content {
    switch node {
    case .object(let object): .object(add(object))
    case .value(let value): .sources(Self.append(value.sources.flatMap { rows(of: $0) }, to: &sources))
    }
  }

  private mutating func rows(of source: MapSource) -> [Source] {
    switch source.origin {
    case .constant(let constant): return [.constant(copy(constant.json))]
    case .paths(let paths):
      let turn: Turn
      if let table = source.table {
        turn = .table(scope(of: table.rows.mapValues(\.json)))
      } else if let time = source.time {
        turn = .time(times.count)
        times.append(time)
      } else {
        turn = source.form.map { .form($0) } ?? .none
      }
      let prefix = copy(source.prefix)
      return paths.map { .place(outline.place(of: $0), turn, prefix: prefix) }
        + (source.fallback.map { [.constant(copy($0.json))] } ?? [])
    }
  }

  private mutating func row(of spread: MapSpread) -> Spread {
    var number: Int?
    if case .pairs(let key, let value) = spread.form {
      number = pairs.count
      pairs.append((key, value))
    }
    return Spread(
      place: outline.place(of: spread.path), pairs: number, except: scope(of: spread.except),
      only: spread.only.map { scope(of: $0) }, renamed: scope(of: spread.renamed), prefix: copy(spread.prefix),
      separator: copy(spread.separator ?? []))
  }

  private mutating func scope(of names: Set<[UInt8]>) -> NameIndex.Scope {
    self.names.addScope(names.map { (String(decoding: $0, as: UTF8.self), 0) })
  }

  /// Finds the number of the text of a name.
  private mutating func scope(of rows: [[UInt8]: [UInt8]]) -> NameIndex.Scope {
    let first = texts.count
    texts += rows.values.map { copy($0) }
    return names.addScope(
      rows.keys.enumerated().map { (String(decoding: $1, as: UTF8.self), first + $0) })
  }

  private static func append<Row>(_ more: [Row], to rows: inout [Row]) -> Range<Int> {
    rows += more
    return rows.count - more.count..<rows.count
  }

  private func quoted(_ name: [UInt8]) -> Text {
    var buffer = ByteBuffer(capacity: 64)
    buffer.append(",")
    name.withText { CanonicalJSON.appendString($0, to: &buffer) }
    buffer.append(":")
    return unsafe memory.copy(buffer.bytes)
  }

  private func copy(_ bytes: [UInt8]) -> Text {
    unsafe bytes.withUnsafeBufferPointer { unsafe memory.copy($0) }
  }
}
