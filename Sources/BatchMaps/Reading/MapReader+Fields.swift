import BatchConfiguration
import BatchFoundation
import BatchIngest

/// A field in the lines that a rule writes. Without a node, the field is not written, even if all rules have it.
struct MapField {
  /// The names of the field, joined by dots.
  var key: String
  var names: [[UInt8]] = []
  var node: MapNode?
}

extension MapReader {
  /// The fields that are converted to strings unless the source defines a conversion.
  private static let textFields: Set = [
    "deviceId", "mobileUserId", "anonymousId", "recipientId", "type", "action", "channel", "name", "url", "recordId",
    "device.name", "device.version", "device.osName", "device.osVersion", "device.appName", "device.appVersion",
  ]
  /// The fields to which the map's `nobody` applies.
  private static let idFields: Set = ["deviceId", "mobileUserId", "anonymousId", "recipientId"]
  /// The values that do not identify a record.
  private static let noRecords = Set(
    ["null", "NULL", "undefined", "\\N", "(null)", String(repeating: "0", count: 32)].map { Array($0.utf8) }
      + [Array("00000000-0000-0000-0000-000000000000".utf8)])
  private static let recordFields = RecordField.allCases.map { "\($0)" }
  private static let numberFields: Set = ["latitude", "longitude"]

  mutating func fields(_ fields: Field) -> [MapField] {
    (fields.entries() ?? []).map { field($0.key, $0.field) }
  }

  /// - Parameter isConstant: whether a string is the value itself rather than its path.
  mutating func field(_ key: String, _ field: Field, isConstant: Bool = false) -> MapField {
    var read = MapField(key: key)
    if field.node.isNull { return read }
    guard let target = path(key, field, { "names a path that \($0)" }) else { return read }
    read.names = target.steps.compactMap { if case .member(let name) = $0 { name } else { nil } }
    guard let first = read.names.first, read.names.count == target.steps.count, !target.isOuter else {
      field.refuse("is not a field name: write names separated by dots")
      return read
    }
    let root = String(decoding: first, as: UTF8.self)
    if !Self.recordFields.contains(root) {
      field.refuse(
        "is not a record field",
        hint: NearestName.question(about: root, among: Self.recordFields) ?? "put your own members in 'params'")
    }
    if isConstant {
      noteType(key == "type" && map.isFile ? field : nil)
      read.node = .value([MapSource(origin: .constant(MapConstant(field.node)))])
      return read
    }
    let elements = field.node.array == nil ? [field] : field.elements() ?? []
    noteIDColumns(read.names, elements.map(\.node), field.place?.line)
    if elements.contains(where: Self.isSpread) {
      read.node = .object(MapObject(spreads: elements.compactMap { spread($0) }))
    } else {
      if elements.isEmpty { field.refuse("has no source") }
      read.node = .value(elements.compactMap { source($0, of: key) })
    }
    return read
  }

  private static func isSpread(_ field: Field) -> Bool {
    field.node.members?.contains { ["members", "others", "pairs"].contains($0.key) } ?? false
  }

  private mutating func source(_ field: Field, of key: String) -> MapSource? {
    var source: MapSource
    if field.node.string != nil {
      guard let path = path(field) else { return nil }
      source = MapSource(origin: .paths([path]))
    } else {
      guard let words = field.object("a path, a source or an array of them") else { return nil }
      defer { words.end() }
      if key == "type", map.isFile {
        noteType(words["constant"])
        noteType(words["default"])
      }
      guard let read = self.source(words, field) else { return nil }
      source = read
    }
    if !source.paths.isEmpty, source.table == nil, source.form == nil, source.time == nil {
      if key == "timestamp" { source.time = MapTime(form: .automatic, zone: .utc) }
      if Self.textFields.contains(key) { source.form = .text }
      if Self.numberFields.contains(key) { source.form = .number }
    }
    source.isNumbered = key == "recordId" && map.each != nil
    if Self.idFields.contains(key) { source.nobody = nobody }
    if key == "recordId" { source.nobody = nobody.union(Self.noRecords) }
    return source
  }

  private func source(_ words: Fields, _ field: Field) -> MapSource? {
    func paths(_ field: Field) -> [MapPath] {
      field.texts().compactMap { text, field in path(text, field) { "is '\(text)', a path that \($0)" } }
    }
    func bytes(_ field: Field?) -> [UInt8] { field?.anyText().map { Array($0.utf8) } ?? [] }
    var origin = words["path"].map { MapSource.Origin.paths(paths($0)) }
    let (several, join) = (words["paths"], words["join"])
    if let several { origin = .joined(paths(several), join == nil ? [UInt8(ascii: " ")] : bytes(join)) }
    if several == nil { join?.refuse("has no effect without 'paths'") }
    if let constant = words["constant"] { origin = .constant(MapConstant(constant.node)) }
    var source = MapSource(origin: origin ?? .paths([]))
    source.fallback = words["default"].map { MapConstant($0.node) }
    if let table = words["table"] {
      if let name = table.node.string {
        source.table = tables[name]
        if source.table == nil {
          table.refuse(
            "is '\(name)', but the map has no such table",
            hint: NearestName.question(about: name, among: tables.keys.sorted()))
        }
      } else {
        source.table = self.table(table)
      }
      if source.fallback == nil {
        found.warn(
          table.place,
          "'\(field.name)' has a table without 'default': the field is left unset for values that the table does not list"
        )
      }
    }
    source.form = words["as"]?.choice(of: MapValueForm.allCases)
    source.time = words["time"].flatMap(time)
    if let zone = words["zone"].flatMap(zone), zone != .utc {
      source.time = MapTime(form: source.time?.form ?? .automatic, zone: zone)
    }
    source.prefix = bytes(words["prefix"])
    source.without = bytes(words["without"])
    if origin == nil { field.refuse("has neither 'path', 'paths' nor 'constant'") }
    return origin == nil ? nil : source
  }

  private func zone(_ field: Field) -> Zone? {
    guard let name = field.text() else { return nil }
    // The message is the same for every error.
    let zone = try? zones.zone(name)
    if zone == nil { field.refuse("is '\(name)', which is not a time zone known on this machine") }
    return zone
  }

  private func time(_ field: Field) -> MapTime? {
    guard let text = field.text() else { return nil }
    if text == "automatic" { return MapTime(form: .automatic, zone: .utc) }
    if let places = MapTime.units[text] { return MapTime(form: .number(places: places), zone: .utc) }
    do {
      return MapTime(form: .pattern(try TimePattern(text)), zone: .utc)
    } catch {
      field.refuse(
        "is '\(text)', in which '\(error.letters)' is not a pattern field",
        hint: NearestName.question(about: text, among: MapTime.units.keys.sorted())
          ?? "known fields are yyyy, MM, MMM, dd, HH, hh, mm, ss, S, a, Z; instead of a pattern, 'automatic' or a unit is valid: \(MapTime.units.keys.sorted().joined(separator: ", "))"
      )
      return nil
    }
  }

  private func spread(_ field: Field) -> MapSpread? {
    // A string in a list of spreads is a path whose members are copied.
    guard field.node.members != nil, let words = field.object() else { return path(field).map { MapSpread(path: $0) } }
    defer { words.end() }
    let (pairs, others) = (words["pairs"], words["others"])
    let named = words["members"] ?? others ?? pairs
    let (key, value) = (words["key"], words["value"])
    // These names are valid paths.
    let keyPath = key.flatMap(path) ?? (try? MapPath("key", names: map.names))
    let valuePath = value.flatMap(path) ?? (try? MapPath("value", names: map.names))
    if pairs == nil { (key ?? value)?.refuse("has no effect without 'pairs'") }
    let (except, only) = (words["except"], words["only"])
    let (rename, prefix, flatten) = (words["rename"], words["prefix"], words["flatten"])
    guard let named, let path = path(named) else { return nil }
    var spread = MapSpread(path: path)
    if pairs != nil, let keyPath, let valuePath { spread.form = .pairs(key: keyPath, value: valuePath) }
    spread.except = Set(except?.texts().map { Array($0.text.utf8) } ?? [])
    spread.only = only.map { Set($0.texts().map { Array($0.text.utf8) }) }
    for (name, text) in rename?.entries() ?? [] {
      if let text = text.text() { spread.renamed[Array(name.utf8)] = Array(text.utf8) }
    }
    spread.prefix = prefix?.anyText().map { Array($0.utf8) } ?? []
    spread.separator = flatten?.text().map { Array($0.utf8) }
    if others != nil { spread.others = (ReadMembers(), ReadMembers()) }
    return spread
  }
}

/// Builds the object that a rule writes. Fields must be added in order of key length, so that objects precede their
/// members.
struct FieldBuilder {
  private(set) var root = MapObject()
  private(set) var paths: [String: [MapPath]] = [:]

  mutating func add(_ field: MapField) {
    guard let node = field.node else { return }
    for path in node.paths() where !paths[field.key, default: []].contains(path) {
      paths[field.key, default: []].append(path)
    }
    Self.insert(node, field.names[...], into: &root)
  }

  private static func insert(_ node: MapNode, _ names: ArraySlice<[UInt8]>, into object: inout MapObject) {
    guard let name = names.first else { return }
    let place =
      object.members.firstIndex { !$0.name.lexicographicallyPrecedes(name) } ?? object.members.count
    let isThere = place < object.members.count && object.members[place].name == name
    if names.count == 1 {
      if isThere {
        object.members[place].node = node
      } else {
        object.members.insert((name, node), at: place)
      }
      return
    }
    if !isThere { object.members.insert((name, .object(MapObject())), at: place) }
    var inner: MapObject
    switch object.members[place].node {
    case .object(let known): inner = known
    // The field's source is a whole object, to which members are added.
    case .value(let sources):
      inner = MapObject()
      if case .constant(let constant)? = sources.first?.origin {
        add(constant, to: &inner)
      } else {
        inner.base = sources
      }
    }
    insert(node, names.dropFirst(), into: &inner)
    object.members[place].node = .object(inner)
  }

  private static func add(_ constant: MapConstant, to object: inout MapObject) {
    // Constants are always valid JSON.
    guard let members = try? JSONNode.parse(constant.json).members else { return }
    object.isAlwaysThere = true
    for member in members {
      let source = MapSource(origin: .constant(MapConstant(member.value)))
      insert(.value([source]), [Array(member.key.utf8)], into: &object)
    }
  }
}

extension MapReader {
  /// Reads the conditions in `when`: tests by path, and `any` with alternatives.
  func conditions(_ field: Field) -> [MapCondition] {
    (field.entries() ?? []).compactMap { key, field in
      if key == "any" { return field.elements("an array of objects").map { .any($0.map { conditions($0) }) } }
      guard let path = path(key, field, { "names a path that \($0)" }), let test = test(field) else { return nil }
      return .test(path, test)
    }
  }

  /// Reads a test, which is a value, an array of alternative values, or an object of tests.
  private func test(_ field: Field) -> MapTest? {
    if field.node.array != nil { return .isOneOf((field.elements() ?? []).compactMap(value)) }
    guard field.node.members != nil, let words = field.object() else { return value(field).map { .isOneOf([$0]) } }
    defer { words.end() }
    func bytes(_ key: String) -> [UInt8]? { words[key]?.anyText().map { Array($0.utf8) } }
    let tests: [MapTest?] = [
      words["exists"]?.flag().map { .exists($0) }, words["is"].flatMap(test),
      words["not"].flatMap(test).map { .not($0) },
      bytes("begins").map { .begins($0) }, bytes("ends").map { .ends($0) }, bytes("contains").map { .contains($0) },
      words["atLeast"]?.number().map { .atLeast($0) }, words["below"]?.number().map { .below($0) },
    ]
    if field.node.members?.isEmpty ?? false { field.refuse("tests nothing") }
    return .all(tests.compactMap { $0 })
  }

  private func value(_ field: Field) -> [UInt8]? {
    let text = MapConstant(field.node).text
    if text == nil { field.refuse("is \(field.node.kind), which cannot be compared") }
    return text
  }
}

extension MapConstant {
  init(_ node: JSONNode) {
    json = Array(node.canonicalText.utf8)
    switch node.value {
    case .string(let string), .date(let string): text = Array(string.utf8)
    case .number, .bool: text = json
    default: text = nil
    }
  }
}
