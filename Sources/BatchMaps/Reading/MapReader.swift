import BatchConfiguration
import BatchFoundation

/// Reads map documents and checks their keywords, types, paths and tables (reference formats 6.3).
struct MapReader {
  private(set) var map: ForeignMap
  let found: DocumentFaults
  let zones: ZoneDatabase
  private(set) var tables: [String: [[UInt8]: MapConstant]] = [:]
  /// The values of ids that identify nobody.
  private(set) var nobody: Set<[UInt8]> = []
  /// The names or paths of included maps, whose rules follow the map's own.
  private(set) var includes: [(text: String, field: Field)] = []

  var faults: [ConfigurationFault] { found.all }

  /// - Parameter source: the name of the document in messages.
  init(_ document: JSONNode, name: String, source: String, zones: ZoneDatabase) {
    map = ForeignMap(name: name)
    (found, self.zones) = (DocumentFaults(source), zones)
    guard let words = Fields(document, "the map", found) else { return }
    defer { words.end() }
    _ = words["description"]
    readForm(words)
    includes = words["include"]?.texts() ?? []
    for (name, rows) in words["tables"]?.entries() ?? [] { tables[name] = table(rows) }
    map.names = words["names"]?.choice(of: MapNames.allCases) ?? .exact
    nobody = Set(words["nobody"]?.texts().map { Array($0.text.utf8) } ?? [])
    map.record = words["record"].flatMap(path)
    map.each = words["each"].flatMap(path)
    map.decimal = words["decimal"]?.choice([",", "."])?.utf8.first
    map.otherwise = words["otherwise"]?.choice(of: ForeignMap.Otherwise.allCases) ?? .quarantine
    let fields = words["fields"].map { self.fields($0) } ?? []
    guard let rules = words["rules"] else {
      // Without `rules`, a single rule matches all records.
      if includes.isEmpty { map.rules = [rule(nil, fields, number: 1)] }
      return
    }
    for (place, element) in (rules.elements() ?? []).enumerated() {
      if let own = element.object() { map.rules.append(rule(own, fields, number: place + 1)) }
    }
  }

  mutating func endOwnRules() { map.ownRules = map.rules.count }

  mutating func include(_ other: ForeignMap, at place: TextPlace?) {
    // The paths of the lists may differ, because elements of different lists may have the same shape.
    if let each = other.each?.text, map.each == nil {
      found.add(
        place,
        "the map includes '\(other.name)', which sets 'each' to '\(each)', so the map itself must also set 'each'")
    }
    if let record = other.record?.text, map.record?.text.utf8.elementsEqual(record.utf8) != true {
      found.add(
        place,
        "the map includes '\(other.name)', which sets 'record' to '\(record)', so the map itself must set the same 'record'"
      )
    }
    map.rules += other.rules
    map.types += other.types
    map.idColumns += other.idColumns
  }

  /// Records a type that the map names, so that the platform can check it.
  mutating func noteType(_ constant: Field?) {
    guard let constant, let name = constant.node.string else { return }
    map.types.append(ForeignMap.NamedType(name: name, place: Place(found.source, line: constant.place?.line)))
  }

  /// Records the columns that the map writes, because the program reserves some (reference decisions 64).
  mutating func noteIDColumns(_ target: [[UInt8]], _ elements: [JSONNode], _ line: Int?) {
    func note(_ name: String, _ line: Int?) {
      map.idColumns.append(ForeignMap.NamedType(name: name, place: Place(found.source, line: line)))
    }
    guard target.first?.elementsEqual("ids".utf8) == true else { return }
    if target.count > 1 { return note(String(decoding: target[1], as: UTF8.self), line) }
    for element in elements {
      let prefix = element["prefix"]?.string ?? ""
      for member in element["rename"]?.members ?? [] {
        if let name = member.value.string { note(prefix + name, member.value.line ?? element.line ?? line) }
      }
      for member in element["constant"]?.members ?? [] { note(member.key, member.line ?? element.line ?? line) }
      for name in element["only"]?.array ?? [] {
        if let name = name.string, element["rename"]?[name] == nil { note(prefix + name, element.line ?? line) }
      }
    }
  }

  private mutating func readForm(_ words: Fields) {
    let encodings = TextEncoding.allCases.map(\.rawValue)
    let encoding = words["encoding"]?.choice(encodings) { TextEncoding(rawValue: $0.lowercased()) } ?? .utf8
    let form = words["form"]?.choice(["lines", "text", "json", "csv", "tsv", "store"]) ?? "lines"
    var dialect = RowDialect()
    if form == "tsv" { (dialect.separator, dialect.quotes) = (UInt8(ascii: "\t"), .inLine) }
    let separator = words["separator"]
    if let separator, let text = separator.anyText() {
      if text.utf8.count == 1, let byte = text.utf8.first, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\n") {
        dialect.separator = byte
      } else {
        separator.refuse("must be a single ASCII character other than a quote or a line feed")
      }
    }
    let (columns, jsonColumns) = (words["columns"], words["jsonColumns"])
    let names = jsonColumns?.texts().map(\.text) ?? []
    let quotes = words["quotes"]
    if let quotes {
      dialect.quotes =
        quotes.node.bool.map { $0 ? .standard : .none } ?? quotes.choice(of: [.standard, .none]) ?? .standard
    }
    let escape = words["escape"]
    if let escape, let text = escape.anyText() {
      dialect.escapesOnlyQuotes = text.utf8.count == 2 && text.utf8.last == UInt8(ascii: "\"")
      dialect.looksForEscapes = dialect.escapesOnlyQuotes
      if text.utf8.count == 1 || dialect.escapesOnlyQuotes, let byte = text.utf8.first, byte < 0x80, byte > 0x20,
        byte != dialect.separator,
        byte != UInt8(ascii: "\"")
      {
        dialect.escape = byte
      } else if !text.isEmpty {
        escape.refuse(
          "must be a visible ASCII character that has no other meaning in the table, optionally followed by a quote")
      }
    }
    let nulls = words["null"]
    if let nulls { dialect.nulls = nulls.texts(mayBeBlank: true).map { Array($0.text.utf8) } }
    switch form {
    case "csv", "tsv":
      map.form = .table(
        TableForm(
          dialect: dialect, encoding: encoding, columns: columns?.texts(mayBeBlank: true).map(\.text),
          jsonColumns: names))
      return
    case "json": map.form = .documents(encoding)
    case "text": map.form = .text(encoding)
    case "store": map.form = .store(jsonColumns: names)
    default:
      map.form = .lines
      if encoding != .utf8 {
        words["encoding"]?.refuse("has no effect on lines of JSON", hint: "set 'form' to 'json'")
      }
    }
    if form == "lines" || form == "json" { map.jsonMembers = names.map { Array($0.utf8) } }
    for word in [separator, columns, form == "text" ? jsonColumns : nil, quotes, escape, nulls] {
      word?.refuse("has no effect if 'form' is '\(form)'")
    }
  }

  func table(_ rows: Field) -> [[UInt8]: MapConstant] {
    Dictionary((rows.entries() ?? []).map { (Array($0.key.utf8), MapConstant($0.field.node)) }) { $1 }
  }

  /// - Parameters:
  ///   - own: the rule; nil for the only rule of a map that has no `rules`.
  ///   - base: the fields common to all rules, which the rule's own fields override.
  private mutating func rule(_ own: Fields?, _ base: [MapField], number: Int) -> MapRule {
    var rule = MapRule(name: String(number), conditions: [], outcome: .leftOut(""))
    var fields = base
    rule.name = own?["name"]?.text() ?? rule.name
    rule.conditions = own?["when"].map { conditions($0) } ?? []
    let more = (own?["type"], own?["fields"])
    if let type = more.0 { set(self.field("type", type, isConstant: type.node.string != nil), in: &fields) }
    for field in more.1.map({ self.fields($0) }) ?? [] { set(field, in: &fields) }
    rule.continues = own?["continue"]?.flag() ?? false
    let leftOut = own?["leaveOut"]?.text()
    own?.end()
    if let leftOut {
      if more.0 != nil || more.1 != nil { own?.refuse(nil, "leaves records out, but also has fields") }
      rule.outcome = .leftOut(leftOut)
      return rule
    }
    var builder = FieldBuilder()
    for field in fields.sorted(by: { $0.key.utf8.count < $1.key.utf8.count }) { builder.add(field) }
    rule.fieldPaths = builder.paths
    rule.outcome = .line(
      builder.root.withOthers(
        of: builder.root, records: [map.each, map.record].compactMap { $0 }))
    return rule
  }

  private func set(_ field: MapField, in fields: inout [MapField]) {
    if let place = fields.firstIndex(where: { $0.key.isIdentical(to: field.key) }) {
      fields[place] = field
    } else {
      fields.append(field)
    }
  }

  func path(_ field: Field) -> MapPath? {
    field.text().flatMap { text in path(text, field) { "is '\(text)', a path that \($0)" } }
  }

  /// - Parameter words: returns the message for a path with a given problem.
  func path(_ text: String, _ field: Field, _ words: (String) -> String) -> MapPath? {
    do {
      return try MapPath(text, names: map.names)
    } catch {
      field.refuse(words(error.problem))
      return nil
    }
  }
}
