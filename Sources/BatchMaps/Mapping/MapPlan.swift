import BatchFoundation
import BatchIngest

/// A map compiled to flat arrays of numbers and unowned texts, so that testing conditions and finding values neither
/// allocate memory nor count references.
struct MapPlan {
  struct Object {
    var members: Range<Int>
    var spreads: Range<Int>
    /// The sources of an object into which the members are merged; nil if there is none.
    var base: Range<Int>?
    var isAlwaysThere: Bool
  }

  struct Member {
    var name: Text
    /// The name as written in JSON: `,"NAME":`.
    var quoted: Text
    /// The name as ``JSONTape`` stores it.
    var key: Text
    var content: Content
    /// Whether numbers in the member become strings, as in codes, list columns, and fields with campaigns.
    var isOfTexts: Bool
  }

  enum Content {
    case object(Int)
    /// The sources; the first one with a value counts.
    case sources(Range<Int>)
  }

  enum Source {
    case constant(JSONView)
    /// The value at a place, unchanged.
    case value(MapOutline.Place)
    /// The value at a place, changed by an entry of ``changes``.
    case changed(MapOutline.Place, Int)
    /// The joined values of several places, by their index in ``joins``, changed by an entry of ``changes``.
    case joined(Int, Int)
    /// Another source, by its index in ``sources``, with the number of the element in `each` appended.
    case numbered(Int)
  }

  /// The changes of a value: a leading `without` is removed, the value is converted, and `prefix` is prepended. A value
  /// that identifies nobody is dropped.
  struct Change {
    var conversion: Conversion
    var prefix: Text
    var without: Text
    var nobody: Nobody
  }

  /// Values that identify nobody, as a range of ``nobodies``.
  struct Nobody {
    var texts: Range<Int>
    /// A bit for each of the texts' lengths; the last bit is for all lengths from 63 on. Most ids have none of
    /// these lengths, so they need no comparison.
    var lengths: UInt64 = 0

    static func length(of text: Text) -> UInt64 { 1 << UInt64(min(text.count, 63)) }
  }

  /// The conversion of a value.
  enum Conversion {
    case none
    case form(MapValueForm)
    /// Conversion to a number; the associated value is the index of its paths in ``numberPaths``.
    case number(Int)
    /// A table that maps strings, in the given case, to indexes of ``constants``.
    case table(NameIndex.Scope, MapValueForm?)
    case time(Int)
  }

  struct Spread {
    var place: MapOutline.Place
    /// The index in ``pairs``; nil to copy members.
    var pairs: Int?
    var except: NameIndex.Scope
    /// The names to copy; nil for all.
    var only: NameIndex.Scope?
    /// The index of the new name in ``newNames``, by the old name.
    var renamed: NameIndex.Scope
    var prefix: Text
    /// The separator of names when nested objects are flattened; empty to keep nested objects.
    var separator: Text
    /// The members that the rule reads elsewhere and that are not copied, by indexes in ``reads``: for an element of
    /// `each`, and for a line that is itself the record. Nil to copy all.
    var others: (ofElement: Int, ofLine: Int)?
  }

  /// The members of an object that are read elsewhere (``ReadMembers``).
  struct Read {
    var isWhole = false
    var members: Range<Int> = 0..<0
  }

  struct ReadMember {
    var name: Text
    var isBeginning: Bool
    var names: MapNames
    /// The index in ``reads`` for the members of this one.
    var read: Int

    func isMeant(by name: Text) -> Bool {
      if isBeginning ? name.starts(with: self.name) : name == self.name { return true }
      return name.isMeant(by: self.name, names, isBeginning: isBeginning)
    }
  }

  private(set) var outline = MapOutline()
  private(set) var graph = ConditionGraph()
  /// For each rule, the index of the object that it writes (nil if it leaves records out), and the place in
  /// ``graph`` at which to continue (the end if no later rule applies to its records).
  private(set) var rules: [(object: Int?, next: Int)] = []
  private(set) var objects: [Object] = []
  private(set) var members: [Member] = []
  private(set) var sources: [Source] = []
  private(set) var changes: [Change] = []
  private(set) var spreads: [Spread] = []
  /// The members read elsewhere; the first entry is for objects from which nothing is read.
  private(set) var reads = [Read()]
  private(set) var readMembers: [ReadMember] = []
  private(set) var nobodies: [Text] = []
  private(set) var constants: [JSONView] = []
  /// The names in spreads and the keys of tables.
  private(set) var names = NameIndex()
  /// The new names of renamed members.
  private(set) var newNames: [Text] = []
  private(set) var times: [MapTime] = []
  private(set) var joins: [(places: [MapOutline.Place], separator: Text)] = []
  /// The paths of numbers as written in the map, for warnings.
  private(set) var numberPaths: [String] = []
  private(set) var pairs: [(key: MapPath, value: MapPath)] = []
  /// The place of the array in each line whose elements are the records; nil if the line is the record.
  private(set) var each: MapOutline.Place?
  /// Whether a constant or a name may be invalid in a line, so that lines must be parsed to find faults.
  private(set) var hasFaults = false
  private let memory = Arena(blockSize: 1 << 12)

  init(_ map: ForeignMap) {
    each = map.each.map { outline.place(of: $0, memory) }
    var next = ConditionGraph.end
    // The first condition of the next rule and the place that follows if it holds. Consecutive rules with the same
    // first condition test it only once.
    var opening: (condition: MapCondition, holds: Int)?
    // In reverse order, because each rule refers to the next.
    for (number, rule) in map.rules.enumerated().reversed() {
      let object: Int? = if case .line(let object) = rule.outcome { add(object, isLine: true) } else { nil }
      rules.append((object, rule.continues ? next : ConditionGraph.end))
      let others = opening.flatMap { $0.condition == rule.conditions.first ? $0.holds : nil } ?? next
      let rest = graph.add(
        rule.conditions.dropFirst(), then: ConditionGraph.rule(number), else: others, &outline, memory)
      next = graph.add(rule.conditions.prefix(1), then: rest, else: next, &outline, memory)
      opening = rule.conditions.first.map { ($0, rest) }
    }
    rules.reverse()
    graph.first = next
    outline.finish()
  }

  private static let textFields: Set = [
    "payload", "notification", "ids", "eventTypeCode", "contactListId", "programId",
  ]

  private mutating func add(_ object: MapObject, isLine: Bool = false) -> Int {
    let own = object.members.map { member(named: $0.name, $0.node, isOfLine: isLine) }
    let taken = object.spreads.map { row(of: $0) }
    objects.append(
      Object(
        members: Self.append(own, to: &members), spreads: Self.append(taken, to: &spreads),
        base: object.base.map { Self.append($0.flatMap { rows(of: $0) }, to: &sources) },
        isAlwaysThere: object.isAlwaysThere))
    return objects.count - 1
  }

  private mutating func member(named name: [UInt8], _ node: MapNode, isOfLine: Bool) -> Member {
    let own = text(name)
    var quoted = ByteBuffer(capacity: 64)
    quoted.append(",")
    CanonicalJSON.appendString(own, to: &quoted)
    quoted.append(":")
    var key = ByteBuffer(capacity: 64)
    key.append(short: own)
    let content: Content =
      switch node {
      case .object(let object): .object(add(object))
      case .value(let own): .sources(Self.append(own.flatMap { rows(of: $0) }, to: &sources))
      }
    return unsafe Member(
      name: own, quoted: memory.copy(quoted.bytes), key: memory.copy(key.bytes), content: content,
      isOfTexts: isOfLine && Self.textFields.contains(own.description))
  }

  private mutating func rows(of source: MapSource) -> [Source] {
    switch source.origin {
    case .constant(let value): return [.constant(constant(value))]
    case .paths(let paths), .joined(let paths, _):
      let turn: Conversion
      if let table = source.table {
        let first = constants.count
        constants += table.values.map { constant($0) }
        turn = .table(scope(of: zip(table.keys, first...)), source.form)
      } else if let time = source.time {
        turn = .time(times.count)
        times.append(time)
      } else if source.form == .number {
        turn = .number(numberPaths.count)
        numberPaths.append(paths.map(\.text).joined(separator: "', '"))
      } else {
        turn = source.form.map { .form($0) } ?? .none
      }
      let prefix = text(source.prefix)
      var nobody = Nobody(texts: Self.append(source.nobody.map { text($0) }, to: &nobodies))
      for text in nobodies[nobody.texts] { nobody.lengths |= Nobody.length(of: text) }
      changes.append(Change(conversion: turn, prefix: prefix, without: text(source.without), nobody: nobody))
      let fallback = source.fallback.map { [Source.constant(constant($0))] } ?? []
      if case .joined(_, let separator) = source.origin {
        joins.append((paths.map { outline.place(of: $0, memory) }, text(separator)))
        let row = Source.joined(joins.count - 1, changes.count - 1)
        return [source.isNumbered && paths.contains(where: \.isOuter) ? numbered(row) : row] + fallback
      }
      return paths.map { path in
        let place = outline.place(of: path, memory)
        if case .none = turn, prefix.isEmpty, source.without.isEmpty, source.nobody.isEmpty, !source.isNumbered {
          return .value(place)
        }
        let row = Source.changed(place, changes.count - 1)
        return source.isNumbered && path.isOuter ? numbered(row) : row
      } + fallback
    }
  }

  private mutating func numbered(_ source: Source) -> Source {
    sources.append(source)
    return .numbered(sources.count - 1)
  }

  private mutating func constant(_ constant: MapConstant) -> JSONView {
    var reader = JSONReader()
    var tape = JSONTape(capacity: 1 << 10)
    let flaws = unsafe constant.json.withUnsafeBufferPointer { unsafe try? reader.read($0, onto: &tape) }
    if flaws?.hasAny ?? true { hasFaults = true }
    return unsafe JSONView(at: memory.copy(tape.bytes.bindMemory(to: UInt8.self)).base)
  }

  private mutating func row(of spread: MapSpread) -> Spread {
    var number: Int?
    if case .pairs(let key, let value) = spread.form {
      number = pairs.count
      pairs.append((key, value))
    }
    let first = newNames.count
    // Members in a different spelling are given the map's spelling.
    var given = spread.renamed
    if spread.path.names != .exact { for name in spread.only ?? [] where given[name] == nil { given[name] = name } }
    newNames += given.values.map { text($0) }
    // Warehouses may change the case of all letters in a name.
    func spelled(_ names: some Collection<[UInt8]>) -> [[UInt8]] {
      guard spread.path.names != .exact else { return Array(names) }
      let texts = names.map { String(decoding: $0, as: UTF8.self) }
      return names + texts.map { Array($0.uppercased().utf8) } + texts.map { Array($0.lowercased().utf8) }
    }
    let numbers = Array(first..<newNames.count)
    let renamed = zip(spelled(given.keys), numbers + numbers + numbers)
    return Spread(
      place: outline.place(of: spread.path, memory), pairs: number, except: scope(of: spelled(spread.except)),
      only: spread.only.map { scope(of: spelled($0)) }, renamed: scope(of: renamed), prefix: text(spread.prefix),
      separator: text(spread.separator ?? []), others: spread.others.map { (add($0.ofElement), add($0.ofLine)) })
  }

  private mutating func add(_ read: ReadMembers) -> Int {
    if !read.isWhole, read.members.isEmpty { return 0 }
    let rows = read.members.map { member in
      let (name, isBeginning): ([UInt8], Bool) =
        switch member.step {
        case .member(let name): (name, false)
        case .first(let beginning): (beginning, true)
        case .element, .match: ([], false)
        }
      return ReadMember(
        name: text(name), isBeginning: isBeginning, names: member.names, read: add(member.below))
    }
    reads.append(Read(isWhole: read.isWhole, members: Self.append(rows, to: &readMembers)))
    return reads.count - 1
  }

  private mutating func scope(of names: [[UInt8]]) -> NameIndex.Scope {
    self.names.addScope(names.map { (String(decoding: $0, as: UTF8.self), 0) })
  }

  /// Returns a scope that also finds numbers by value, under a second key that begins with NUL, as no string does.
  private mutating func scope(of rows: some Sequence<([UInt8], Int)>) -> NameIndex.Scope {
    let rows = rows.map { (String(decoding: $0, as: UTF8.self), $1) }
    return names.addScope(rows + rows.compactMap { row in Self.numberKey(row.0).map { ($0, row.1) } })
  }

  static func numberKey(_ text: String) -> String? {
    Array(text.utf8).withText { text in
      text.isJSONNumber ? DecimalText(text).map { "\u{0}" + $0.value.map(String.init).joined(separator: ",") } : nil
    }
  }

  private static func append<Row>(_ more: [Row], to rows: inout [Row]) -> Range<Int> {
    rows += more
    return rows.count - more.count..<rows.count
  }

  private mutating func text(_ bytes: [UInt8]) -> Text {
    if bytes.contains(0) { hasFaults = true }
    return unsafe bytes.withUnsafeBufferPointer { unsafe memory.copy($0) }
  }
}
