import BatchConfiguration
import BatchFoundation

/// The reader of map documents, which checks words, types, paths and tables (reference formats 6.3).
struct MapReader {
  private(set) var map: ForeignMap
  var faults: [ConfigurationFault] = []
  let source: String
  let zones: ZoneDatabase
  private(set) var tables: [String: MapTable] = [:]
  /// The texts that are not ids.
  private(set) var nobody: Set<[UInt8]> = []
  /// The names of included maps, whose rules follow, with their lines.
  private(set) var includes: [(name: String, line: Int?)] = []

  static let words = [
    "description", "form", "separator", "encoding", "columns", "jsonColumns", "quotes", "escape", "null", "decimal",
    "include", "tables", "names", "nobody", "record", "each", "fields", "rules", "otherwise",
  ]
  static let ruleWords = ["name", "when", "type", "fields", "leaveOut", "continue"]

  /// - Parameters:
  ///   - name: the name of the map.
  ///   - source: the file's name in messages.
  init(_ document: JSONNode, name: String, source: String, zones: ZoneDatabase) {
    map = ForeignMap(name: name)
    (self.source, self.zones) = (source, zones)
    guard case .object(let members) = document.value else {
      fault(document.line, "the map is \(document.documentKind), but must be a dictionary")
      return
    }
    let known = self.known(members.filter { $0.key != "$schema" }, Self.words, in: "a map")
    readForm(known)
    if let node = known.first(where: { $0.0 == "names" })?.1 {
      map.names =
        choice(node, "names", among: MapNames.allCases.map(\.rawValue)) { MapNames(rawValue: $0) } ?? .exact
    }
    for (word, node) in known {
      switch word {
      case "nobody": nobody = Set(texts(node, word).map { Array($0.text.utf8) })
      case "include":
        for name in texts(node, word) { includes.append((name.text, name.line)) }
      case "tables": readTables(node)
      case "each": map.each = path(node, word)
      case "record": map.record = path(node, word)
      case "decimal":
        map.decimal = choice(node, word, among: [",", "."]) { [",", "."].contains($0) ? $0.utf8.first : nil }
      case "otherwise":
        guard let text = text(node, word) else { continue }
        guard let otherwise = ForeignMap.Otherwise(rawValue: text) else {
          fault(node.line, "'otherwise' is '\(text)', but must be 'quarantine' or 'leaveOut'")
          continue
        }
        map.otherwise = otherwise
      default: break
      }
    }
    let fields = known.first { $0.0 == "fields" }.map { self.members($0.1, "fields") } ?? []
    guard let rules = known.first(where: { $0.0 == "rules" })?.1 else {
      if includes.isEmpty {
        // Without rules, one rule matches all records.
        map.rules = [rule([], fields, number: 1, line: document.line)]
      }
      return
    }
    guard case .array(let elements) = rules.value else {
      fault(rules.line, "'rules' is \(rules.documentKind), but must be an array")
      return
    }
    for (place, element) in elements.enumerated() {
      guard case .object(let own) = element.value else {
        fault(element.line, "'rules[\(place)]' is \(element.documentKind), but must be a dictionary")
        continue
      }
      map.rules.append(rule(own, fields, number: place + 1, line: element.line))
    }
  }

  mutating func endOwnRules() { map.ownRules = map.rules.count }

  mutating func include(_ other: ForeignMap, line: Int?) {
    // Records of different lists may look alike.
    if let each = other.each?.text, map.each == nil {
      fault(line, "the map includes '\(other.name)' with 'each' '\(each)', so it needs an 'each', too")
    }
    if let record = other.record?.text, map.record?.text.utf8.elementsEqual(record.utf8) != true {
      fault(line, "the map includes '\(other.name)' with 'record' '\(record)', so it needs the same")
    }
    map.rules += other.rules
    map.types += other.types
    map.idColumns += other.idColumns
  }

  /// Notes the types that the map names, which the platform checks.
  mutating func noteTypes(_ members: [JSONMember]) {
    for member in members where ["constant", "default"].contains(member.key) {
      guard case .string(let name) = member.value.value else { continue }
      map.types.append(ForeignMap.NamedType(name: name, place: Place(source, line: member.value.line ?? member.line)))
    }
  }

  /// Notes the columns that the map writes; the program reserves some (reference decisions 64).
  mutating func noteIDColumns(_ target: [[UInt8]], _ elements: [JSONNode], _ line: Int?) {
    func note(_ name: String, _ line: Int?) {
      map.idColumns.append(ForeignMap.NamedType(name: name, place: Place(source, line: line)))
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

  private mutating func readForm(_ words: [(String, JSONNode)]) {
    func node(_ word: String) -> JSONNode? { words.first { $0.0 == word }?.1 }
    let encodings = TextEncoding.allCases.map(\.rawValue)
    let encoding =
      node("encoding").flatMap { node in
        choice(node, "encoding", among: encodings) { TextEncoding(rawValue: $0.lowercased()) }
      } ?? .utf8
    let forms = ["lines", "text", "json", "csv", "tsv", "store"]
    let form =
      node("form").flatMap { node in
        choice(node, "form", among: forms) { forms.contains($0) ? $0 : nil }
      } ?? "lines"
    var table = TableForm(encoding: encoding)
    if form == "tsv" { (table.separator, table.quotes) = (UInt8(ascii: "\t"), .inLine) }
    if let node = node("separator"), let text = text(node, "separator", allowsBlank: true) {
      if text.utf8.count == 1, let byte = text.utf8.first, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\n") {
        table.separator = byte
      } else {
        fault(node.line, "'separator' is not one ASCII character")
      }
    }
    if let node = node("columns") { table.columns = texts(node, "columns", allowsEmpty: true).map(\.text) }
    if let node = node("jsonColumns") { table.jsonColumns = texts(node, "jsonColumns").map(\.text) }
    if let node = node("quotes") {
      if case .bool(let flag) = node.value {
        table.quotes = flag ? .standard : .none
      } else {
        table.quotes =
          choice(node, "quotes", among: ["standard", "none"]) { $0 == "inLine" ? nil : TableQuotes(rawValue: $0) }
          ?? .standard
      }
    }
    if let node = node("escape"), let text = text(node, "escape", allowsBlank: true) {
      table.escapesOnlyQuotes = text.utf8.count == 2 && text.utf8.last == UInt8(ascii: "\"")
      table.looksForEscapes = table.escapesOnlyQuotes
      if text.utf8.count == 1 || table.escapesOnlyQuotes, let byte = text.utf8.first, byte < 0x80, byte > 0x20,
        byte != table.separator,
        byte != UInt8(ascii: "\"")
      {
        table.escape = byte
      } else if !text.isEmpty {
        fault(
          node.line,
          "'escape' is not one ASCII character without another meaning in the table, nor that and a quote")
      }
    }
    if let node = node("null") { table.nulls = texts(node, "null", allowsEmpty: true).map { Array($0.text.utf8) } }
    switch form {
    case "csv", "tsv": map.form = .table(table)
    case "json": map.form = .documents(encoding)
    case "text": map.form = .text(encoding)
    case "store": map.form = .store(jsonColumns: table.jsonColumns)
    default:
      map.form = .lines
      if encoding != .utf8 {
        fault(
          node("encoding")?.line, "'encoding' has no effect on lines of JSON", hint: "use 'form' 'json'"
        )
      }
    }
    if form == "csv" || form == "tsv" { return }
    if form == "lines" || form == "json" { map.jsonMembers = table.jsonColumns.map { Array($0.utf8) } }
    for word in ["separator", "columns", "jsonColumns", "quotes", "escape", "null"]
    where form == "text" || word != "jsonColumns" {
      if let node = node(word) { fault(node.line, "'\(word)' has no effect on the form '\(form)'") }
    }
  }

  private mutating func readTables(_ node: JSONNode) {
    for member in members(node, "tables") { tables[member.key] = table(member.value, "tables.\(member.key)") }
  }

  mutating func table(_ node: JSONNode, _ name: String) -> MapTable {
    var rows: [[UInt8]: MapConstant] = [:]
    for member in members(node, name) { rows[Array(member.key.utf8)] = MapConstant(member.value) }
    return MapTable(rows: rows)
  }

  private mutating func rule(
    _ members: [JSONMember], _ base: [JSONMember], number: Int, line: Int?
  ) -> MapRule {
    let place = members.isEmpty ? "" : "rules[\(number - 1)]."
    var rule = MapRule(name: String(number), conditions: [], outcome: .leftOut(""))
    var fields: [JSONMember] = base
    var leftOut: String?
    let namesType = members.contains { $0.key == "type" }
    for (word, node) in known(members, Self.ruleWords, in: "a rule") {
      switch word {
      case "name": rule.name = text(node, place + word) ?? rule.name
      case "when": rule.conditions = conditions(node, place + word)
      case "type":
        set(JSONMember(key: "type", at: node.place, value: constantOrSource(node)), in: &fields)
      case "fields": for field in self.members(node, place + word) { set(field, in: &fields) }
      case "leaveOut": leftOut = text(node, place + word)
      default: rule.continues = boolean(node, place + word) ?? false
      }
    }
    if let leftOut {
      if members.contains(where: { $0.key == "type" || $0.key == "fields" }) {
        fault(line, "rule '\(rule.name)' leaves records out, but also has fields")
      }
      rule.outcome = .leftOut(leftOut)
      return rule
    }
    var builder = FieldBuilder()
    for field in fields.sorted(by: { $0.key.utf8.count < $1.key.utf8.count }) {
      if field.value.isNull { continue }
      // `type` of the rule itself is outside of its fields.
      let isOwn = namesType && field.key == "type"
      add(field, isOwn ? "rules[\(number - 1)]" : place + "fields", &builder)
    }
    rule.fieldPaths = builder.paths
    rule.outcome = .line(
      builder.root.withOthers(
        of: builder.root, records: [map.each, map.record].compactMap { $0 }))
    return rule
  }

  /// Reads a text in `type` as a constant.
  private func constantOrSource(_ node: JSONNode) -> JSONNode {
    guard case .string = node.value else { return node }
    return JSONNode(.object([JSONMember(key: "constant", at: node.place, value: node)]), at: node.place)
  }

  private func set(_ field: JSONMember, in fields: inout [JSONMember]) {
    if let place = fields.firstIndex(where: { $0.key.utf8.elementsEqual(field.key.utf8) }) {
      fields[place] = field
    } else {
      fields.append(field)
    }
  }
}

extension MapReader {
  /// Returns the members with a known key and a value, once each; reports others as faults.
  mutating func known(
    _ members: [JSONMember], _ words: [String], in what: String
  ) -> [(String, JSONNode)] {
    var result: [(String, JSONNode)] = []
    for member in members {
      guard words.contains(member.key) else {
        fault(
          member.line, "'\(member.key)' is not a key of \(what)",
          hint: NearestName.question(about: member.key, among: words)
            ?? "known keys are \(words.joined(separator: ", "))")
        continue
      }
      if result.contains(where: { $0.0 == member.key }) {
        fault(member.line, "'\(member.key)' is set twice")
        continue
      }
      if member.value.isNull { continue }
      result.append((member.key, member.value))
    }
    return result
  }

  mutating func members(_ node: JSONNode, _ name: String) -> [JSONMember] {
    guard case .object(let members) = node.value else {
      fault(node.line, "'\(name)' is \(node.documentKind), but must be a dictionary")
      return []
    }
    var seen: Set<[UInt8]> = []
    for member in members where !seen.insert(Array(member.key.utf8)).inserted {
      fault(member.line, "'\(name).\(member.key)' is set twice")
    }
    return members
  }

  mutating func text(_ node: JSONNode, _ name: String, allowsBlank: Bool = false) -> String? {
    guard case .string(let text) = node.value else {
      fault(node.line, "'\(name)' is \(node.documentKind), but must be a string")
      return nil
    }
    guard allowsBlank || text.utf8.contains(where: { $0 > 0x20 }) else {
      fault(node.line, "'\(name)' is empty")
      return nil
    }
    return text
  }

  mutating func choice<Choice>(
    _ node: JSONNode, _ name: String, among words: [String], _ choice: (String) -> Choice?
  ) -> Choice? {
    guard let text = text(node, name) else { return nil }
    if let known = choice(text) { return known }
    fault(
      node.line, "'\(name)' is '\(text)', but must be one of \(words.joined(separator: ", "))",
      hint: NearestName.question(about: text, among: words))
    return nil
  }

  mutating func boolean(_ node: JSONNode, _ name: String) -> Bool? {
    guard case .bool(let flag) = node.value else {
      fault(node.line, "'\(name)' is \(node.documentKind), but must be a boolean")
      return nil
    }
    return flag
  }

  /// Reads a string or an array of strings.
  mutating func texts(
    _ node: JSONNode, _ name: String, allowsEmpty: Bool = false
  ) -> [(text: String, line: Int?)] {
    guard case .array(let elements) = node.value else {
      return text(node, name, allowsBlank: allowsEmpty).map { [($0, node.line)] } ?? []
    }
    return elements.enumerated().compactMap { place, element in
      text(element, "\(name)[\(place)]", allowsBlank: allowsEmpty).map { ($0, element.line) }
    }
  }

  mutating func path(_ node: JSONNode, _ name: String) -> MapPath? {
    text(node, name).flatMap { path($0, name, node.line) }
  }

  mutating func path(_ text: String, _ name: String, _ line: Int?) -> MapPath? {
    do {
      return try MapPath(text, names: map.names)
    } catch {
      fault(line, "'\(name)' is '\(text)', a path that \(error.problem)")
      return nil
    }
  }

  mutating func fault(_ line: Int?, _ problem: String, hint: String? = nil) {
    faults.append(ConfigurationFault(Place(source, line: line), problem, hint: hint))
  }

  mutating func warn(_ line: Int?, _ problem: String, hint: String? = nil) {
    faults.append(ConfigurationFault(Place(source, line: line), .warning, problem, hint: hint))
  }
}
