import BatchConfiguration
import BatchFoundation
import BatchIngest

extension MapReader {
  static let valueWords = [
    "path", "paths", "join", "constant", "table", "default", "as", "time", "zone", "prefix", "without",
  ]
  static let spreadWords = [
    "members", "others", "pairs", "key", "value", "except", "only", "rename", "prefix", "flatten",
  ]

  /// The fields converted to texts unless the source defines a conversion.
  private static let textFields: Set = [
    "deviceId", "mobileUserId", "anonymousId", "recipientId", "type", "action", "channel", "name", "url", "recordId",
    "device.name", "device.version", "device.osName", "device.osVersion", "device.appName", "device.appVersion",
  ]
  /// The fields to which `nobody` of the map applies.
  private static let idFields: Set = ["deviceId", "mobileUserId", "anonymousId", "recipientId"]
  /// The texts that do not identify a record.
  private static let noRecords = Set(
    ["null", "NULL", "undefined", "\\N", "(null)", String(repeating: "0", count: 32)].map { Array($0.utf8) }
      + [Array("00000000-0000-0000-0000-000000000000".utf8)])
  private static let recordFields = RecordField.allCases.map { "\($0)" }
  private static let numberFields: Set = ["latitude", "longitude"]

  mutating func add(_ field: JSONMember, _ name: String, _ builder: inout FieldBuilder) {
    guard let target = path(field.key, name, field.line) else { return }
    var names: [[UInt8]] = []
    for step in target.steps {
      guard case .member(let name) = step else {
        return fault(field.line, "'\(name).\(field.key)' is not a field name: write names separated by dots")
      }
      names.append(name)
    }
    guard !names.isEmpty, !target.isOuter else {
      return fault(field.line, "'\(name).\(field.key)' is not a field name: write names separated by dots")
    }
    let own = "\(name).\(field.key)"
    if !Self.recordFields.contains(String(decoding: names[0], as: UTF8.self)) {
      fault(
        field.line, "'\(own)' is not a field of records",
        hint: NearestName.question(about: String(decoding: names[0], as: UTF8.self), among: Self.recordFields)
          ?? "put your own members in 'params'")
    }
    let elements: [JSONNode] = if case .array(let elements) = field.value.value { elements } else { [field.value] }
    noteIDColumns(names, elements, field.line)
    if elements.contains(where: Self.isSpread) {
      let spreads = elements.compactMap { spread($0, own) }
      return builder.add(spreads, at: names, field: field.key)
    }
    let sources = elements.compactMap { self.source($0, own, field.key) }
    if elements.isEmpty { fault(field.line, "'\(own)' has no source") }
    builder.add(MapValue(sources: sources), at: names, field: field.key)
  }

  private static func isSpread(_ node: JSONNode) -> Bool {
    guard case .object(let members) = node.value else { return false }
    return members.contains { ["members", "others", "pairs"].contains($0.key) }
  }

  private mutating func source(_ node: JSONNode, _ name: String, _ field: String) -> MapSource? {
    var source: MapSource
    if case .string = node.value {
      guard let path = path(node, name) else { return nil }
      source = MapSource(origin: .paths([path]))
    } else {
      guard case .object(let members) = node.value else {
        fault(node.line, "'\(name)' is \(node.documentKind), but must be a path, a source or an array of them")
        return nil
      }
      guard let read = self.source(known(members, Self.valueWords, in: "a source"), name, node.line) else { return nil }
      source = read
      if field == "type", map.isFile { noteTypes(members) }
    }
    if !source.paths.isEmpty, source.table == nil, source.form == nil, source.time == nil {
      if field == "timestamp" { source.time = MapTime(form: .automatic, zone: .utc) }
      if Self.textFields.contains(field) { source.form = .text }
      if Self.numberFields.contains(field) { source.form = .number }
    }
    source.isNumbered = field == "recordId" && map.each != nil
    if Self.idFields.contains(field) { source.nobody = nobody }
    if field == "recordId" { source.nobody = nobody.union(Self.noRecords) }
    return source
  }

  private mutating func source(_ words: [(String, JSONNode)], _ name: String, _ line: Int?) -> MapSource? {
    var source: MapSource?
    for (word, node) in words {
      switch word {
      case "constant": source = MapSource(origin: .constant(MapConstant(node)))
      case "path":
        source = MapSource(
          origin: .paths(texts(node, "\(name).path").compactMap { path($0.text, "\(name).path", $0.line) }))
      case "paths":
        let join = words.first { $0.0 == "join" }.flatMap { text($0.1, "\(name).join", allowsBlank: true) } ?? " "
        source = MapSource(
          origin: .joined(
            texts(node, "\(name).paths").compactMap { path($0.text, "\(name).paths", $0.line) }, Array(join.utf8)))
      default: break
      }
    }
    if let word = words.first(where: { $0.0 == "join" }), !words.contains(where: { $0.0 == "paths" }) {
      fault(word.1.line, "'\(name).join' has no effect without 'paths'")
    }
    guard var source else {
      fault(line, "'\(name)' has neither 'path', 'paths' nor 'constant'")
      return nil
    }
    var zone = Zone.utc
    for (word, node) in words {
      switch word {
      case "table":
        if case .string(let table) = node.value {
          guard let known = tables[table] else {
            fault(
              node.line, "'\(name).table' is '\(table)', but the map has no such table",
              hint: NearestName.question(about: table, among: tables.keys.sorted()))
            continue
          }
          source.table = known
        } else {
          source.table = table(node, "\(name).table")
        }
        if !words.contains(where: { $0.0 == "default" }) {
          warn(node.line, "'\(name)' has a table without 'default': other values give no value")
        }
      case "default": source.fallback = MapConstant(node)
      case "as":
        source.form = choice(node, "\(name).as", among: MapValueForm.allCases.map(\.rawValue)) {
          MapValueForm(rawValue: $0)
        }
      case "zone":
        guard let text = text(node, "\(name).zone") else { continue }
        do {
          zone = try zones.zone(text)
        } catch {
          fault(node.line, "'\(name).zone' is '\(text)', which is not a time zone of this machine")
        }
      case "time":
        guard let text = text(node, "\(name).time") else { continue }
        source.time = time(text, "\(name).time", node.line)
      case "prefix": source.prefix = text(node, "\(name).prefix", allowsBlank: true).map { Array($0.utf8) } ?? []
      case "without": source.without = text(node, "\(name).without", allowsBlank: true).map { Array($0.utf8) } ?? []
      default: break
      }
    }
    source.time?.zone = zone
    if zone != .utc, source.time == nil { source.time = MapTime(form: .automatic, zone: zone) }
    return source
  }

  private mutating func time(_ text: String, _ name: String, _ line: Int?) -> MapTime? {
    if text == "automatic" { return MapTime(form: .automatic, zone: .utc) }
    if let places = MapTime.units[text] { return MapTime(form: .number(places: places), zone: .utc) }
    do {
      return MapTime(form: .pattern(try TimePattern(text)), zone: .utc)
    } catch {
      fault(
        line, "'\(name)' is '\(text)', in which '\(error.letters)' is not a pattern field",
        hint: NearestName.question(about: text, among: MapTime.units.keys.sorted())
          ?? "known fields are yyyy, MM, MMM, dd, HH, hh, mm, ss, S, a, Z, and the units \(MapTime.units.keys.sorted().joined(separator: ", "))"
      )
      return nil
    }
  }

  private mutating func spread(_ node: JSONNode, _ name: String) -> MapSpread? {
    guard case .object(let members) = node.value else {
      // A path among spreads stands for its members.
      return path(node, name).map { MapSpread(path: $0) }
    }
    let words = known(members, Self.spreadWords, in: "a source of members")
    var spread: MapSpread?
    // These names are valid paths.
    var (key, value) = (try? MapPath("key", names: map.names), try? MapPath("value", names: map.names))
    for (word, node) in words {
      switch word {
      case "members", "pairs", "others":
        guard let path = path(node, "\(name).\(word)") else { return nil }
        spread = MapSpread(path: path)
      case "key": key = path(node, "\(name).key") ?? key
      case "value": value = path(node, "\(name).value") ?? value
      default: break
      }
    }
    guard var spread else { return nil }
    let isOfPairs = words.contains { $0.0 == "pairs" }
    if isOfPairs, let key, let value { spread.form = .pairs(key: key, value: value) }
    if !isOfPairs, let word = words.first(where: { $0.0 == "key" || $0.0 == "value" }) {
      fault(word.1.line, "'\(name).\(word.0)' has no effect without 'pairs'")
    }
    for (word, node) in words {
      switch word {
      case "except": spread.except = Set(texts(node, "\(name).except").map { Array($0.text.utf8) })
      case "only": spread.only = Set(texts(node, "\(name).only").map { Array($0.text.utf8) })
      case "rename":
        for member in self.members(node, "\(name).rename") {
          guard let text = text(member.value, "\(name).rename.\(member.key)") else { continue }
          spread.renamed[Array(member.key.utf8)] = Array(text.utf8)
        }
      case "prefix": spread.prefix = text(node, "\(name).prefix", allowsBlank: true).map { Array($0.utf8) } ?? []
      case "flatten": spread.separator = text(node, "\(name).flatten").map { Array($0.utf8) }
      default: break
      }
    }
    if words.contains(where: { $0.0 == "others" }) { spread.others = MapSpread.Others() }
    return spread
  }
}

/// The builder of a rule's object; fields must come with shorter names first.
struct FieldBuilder {
  private(set) var root = MapObject()
  private(set) var paths: [String: [String]] = [:]

  mutating func add(_ value: MapValue, at names: [[UInt8]], field: String) {
    note(value.sources.flatMap(\.paths), field)
    Self.insert(.value(value), names[...], into: &root)
  }

  mutating func add(_ spreads: [MapSpread], at names: [[UInt8]], field: String) {
    note(spreads.map(\.path), field)
    Self.insert(.object(MapObject(spreads: spreads)), names[...], into: &root)
  }

  private mutating func note(_ more: [MapPath], _ field: String) {
    for path in more where !paths[field, default: []].contains(path.text) {
      paths[field, default: []].append(path.text)
    }
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
    // A whole object, to which members are added.
    case .value(let value):
      inner = MapObject()
      if case .constant(let constant)? = value.sources.first?.origin {
        add(constant, to: &inner)
      } else {
        inner.base = value
      }
    }
    insert(node, names.dropFirst(), into: &inner)
    object.members[place].node = .object(inner)
  }

  private static func add(_ constant: MapConstant, to object: inout MapObject) {
    // Constants are valid JSON.
    guard let members = try? JSONNode.parse(constant.json).members else { return }
    object.isAlwaysThere = true
    for member in members {
      let value = MapConstant(member.value)
      let source = MapValue(sources: [MapSource(origin: .constant(value))])
      insert(.value(source), [Array(member.key.utf8)], into: &object)
    }
  }
}

extension MapReader {
  static let testWords = ["exists", "is", "not", "begins", "ends", "contains", "atLeast", "below"]

  /// Reads `when`: tests by path, and `any` with alternatives.
  mutating func conditions(_ node: JSONNode, _ name: String) -> [MapCondition] {
    members(node, name).compactMap { member in
      if member.key == "any" {
        guard case .array(let choices) = member.value.value else {
          fault(
            member.value.line, "'\(name).any' is \(member.value.documentKind), but must be an array of dictionaries")
          return nil
        }
        return .any(choices.enumerated().map { conditions($1, "\(name).any[\($0)]") })
      }
      guard let path = path(member.key, name, member.line), let test = test(member.value, "\(name).\(member.key)")
      else {
        return nil
      }
      return .test(path, test)
    }
  }

  /// Reads a test: a value, alternative values, or an object of tests.
  private mutating func test(_ node: JSONNode, _ name: String) -> MapTest? {
    switch node.value {
    case .array(let elements): return .isOneOf(elements.compactMap { value($0, name) })
    case .object(let members):
      let tests = known(members, Self.testWords, in: "a test").compactMap { word, node in
        test(word, node, "\(name).\(word)")
      }
      if tests.isEmpty, members.isEmpty { fault(node.line, "'\(name)' tests nothing") }
      return .all(tests)
    default: return value(node, name).map { .isOneOf([$0]) }
    }
  }

  private mutating func test(_ word: String, _ node: JSONNode, _ name: String) -> MapTest? {
    switch word {
    case "exists": return boolean(node, name).map { .exists($0) }
    case "not": return test(node, name).map { .not($0) }
    case "is": return test(node, name)
    case "atLeast", "below":
      guard case .number(let digits) = node.value, let bound = Double(digits) else {
        fault(node.line, "'\(name)' is \(node.documentKind), but must be a number")
        return nil
      }
      return word == "below" ? .below(bound) : .atLeast(bound)
    default:
      guard let text = text(node, name, allowsBlank: true).map({ Array($0.utf8) }) else { return nil }
      return word == "begins" ? .begins(text) : word == "ends" ? .ends(text) : .contains(text)
    }
  }

  private mutating func value(_ node: JSONNode, _ name: String) -> [UInt8]? {
    guard let text = MapConstant(node).text else {
      fault(node.line, "'\(name)' is \(node.documentKind), which cannot be compared")
      return nil
    }
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
