import BatchFoundation
package import BatchIngest

extension ForeignMap {
  private static let (beforeValues, betweenValues) = ("' sets it to '", "' or '")

  /// Returns the values that the map itself sets a field to, according to a ``detail(of:rule:record:)``; empty for
  /// other details.
  package static func valuesSet(in detail: String) -> [String] {
    guard let start = detail.firstRange(of: beforeValues)?.upperBound else { return [] }
    return detail[start...].dropLast().split(separator: betweenValues).map(String.init)
  }

  package func detail(of rejection: Rejection, rule: Int, record bytes: [UInt8]) -> String {
    let record = innerRecord(bytes)
    if rejection.reason == .noRule {
      return "no rule of the map '\(shownName)' matches the record" + unlikeness(record)
    }
    if let path = self.record?.text, rejection.field == path {
      let fault = rejection.offset.map { "is invalid at its byte \($0 + 1)" } ?? "is not an object"
      return rejection.reason == .missingField
        ? "the line has no '\(path)', which must contain the record"
        : "'\(path)', which must contain the line's record, \(fault)"
    }
    // An escape in ASCII may be invalid, too.
    if rejection.reason == .invalidUTF8, isUTF8Text, bytes.dropFirst(rejection.offset ?? 0).first ?? 0 >= 0x80 {
      return rejection.detail
        + #"; if the file is in another encoding, name it in the map: "encoding": "windows-1252""#
    }
    guard let field = rejection.field, rules.indices.contains(rule) else { return rejection.detail }
    let paths = paths(of: field, in: rules[rule])
    if rejection.reason == .missingField, paths.isEmpty, let words = otherKind(field, rules[rule]) { return words }
    let shown = shownValue(rejection.reason, rules[rule].sources(of: field), record)
    let fault =
      switch rejection.reason {
      case .missingField: "is missing"
      case .wrongType: "has the wrong type"
      case .invalidTimestamp: "is not a time"
      default: shown == nil ? "has an unknown value" : "is unknown"
      }
    let constants = rejection.reason == .unknownType ? constants(of: field, in: rules[rule]) : []
    if !constants.isEmpty {
      let values = constants.joined(separator: Self.betweenValues)
      return "field '\(field)' has an unknown value: "
        + "rule '\(rules[rule].name)' of the map '\(shownName)\(Self.beforeValues)\(values)'"
    }
    guard !paths.isEmpty else {
      return "field '\(field)' \(fault): rule '\(rules[rule].name)' of the map '\(shownName)' has no path for the field"
    }
    let named = paths.prefix(5).map { "'\($0.text)'" }.joined(separator: ", ") + (paths.count > 5 ? ", …" : "")
    let given = shown.map { ": '\($0)'" } ?? ""
    let isSkipped = rejection.reason == .invalidTimestamp && shown.map { rules[rule].skips($0) } ?? false
    let cause = isSkipped ? " in the map's zone (skipped by a clock change; perhaps the times are in another zone)" : ""
    let words = "field '\(field)'\(given) \(fault)\(cause): the map '\(shownName)' reads the field from \(named)"
    guard rejection.reason == .missingField, let near = nearName(paths, record) else { return words }
    return "\(words); the record has '\(String(near.prefix(60)).printable)'"
  }

  /// Returns the time of a record as written; nil if unknown.
  func shownTime(of record: [UInt8]) -> String? {
    shownValue(.invalidTimestamp, rules.flatMap { $0.sources(of: "timestamp") }, innerRecord(record))
  }

  /// Whether the input is read as UTF-8 although the map could specify another encoding.
  private var isUTF8Text: Bool {
    switch form {
    case .text(.utf8), .documents(.utf8): true
    case .table(let table): table.encoding == .utf8
    default: false
    }
  }

  /// Returns a message if the map creates lines for a different kind of input; otherwise nil.
  private func otherKind(_ field: String, _ rule: MapRule) -> String? {
    guard case .line(let object) = rule.outcome else { return nil }
    func has(_ name: String) -> Bool { object.members.contains { $0.name.elementsEqual(name.utf8) } }
    let (what, kind): (String, InputKind)
    switch field {
    case "type" where has("action"): (what, kind) = ("notifications", .notifications)
    case "type" where has("url"): (what, kind) = ("deep links", .deepLinks)
    case "action" where has("type"): (what, kind) = ("events", .events)
    default: return nil
    }
    return "field '\(field)' is missing: the map '\(shownName)' creates \(what); list the file under '\(kind.name)'"
  }

  /// Returns the constants that a rule writes to a field; empty if the rule may copy a value to it.
  private func constants(of field: String, in rule: MapRule) -> [String] {
    let sources = rule.sources(of: field)
    if sources.contains(where: { !$0.paths.isEmpty && $0.table == nil }) { return [] }
    return sources.flatMap { source -> [MapConstant] in
      if case .constant(let constant) = source.origin { return [constant] }
      return (source.table?.values.map { $0 } ?? []) + (source.fallback.map { [$0] } ?? [])
    }.compactMap { $0.text.map { String(decoding: $0, as: UTF8.self) } }.reduce(into: []) { texts, text in
      if !texts.contains(text) { texts.append(text) }
    }
  }

  /// Returns the paths from which a rule reads a field; for an unmapped field, the paths of the nearest enclosing field
  /// (the fault may be in a list's element) or else of the fields inside it (the fault may be an empty object).
  private func paths(of field: String, in rule: MapRule) -> [MapPath] {
    let steps = field.split(separator: "/")
    for count in (1...max(1, steps.count)).reversed() {
      if let paths = rule.fieldPaths[steps.prefix(count).joined(separator: ".")], !paths.isEmpty { return paths }
    }
    let begin = steps.joined(separator: ".") + "."
    return rule.fieldPaths.filter { $0.key.hasPrefix(begin) }.sorted {
      $0.key.utf8.lexicographicallyPrecedes($1.key.utf8)
    }.flatMap(\.value)
  }

  private var shownName: Substring { name.split(separator: "/").last ?? name[...] }

  /// Returns the record within a line; nil for a line of plain text.
  func innerRecord(_ line: [UInt8]) -> JSONNode? {
    // Plain text is not JSON.
    guard let root = try? JSONNode.parse(line) else { return nil }
    guard let path = record else { return root }
    return value(at: path, in: root)?.opened
  }

  private func value(at path: MapPath, in record: JSONNode?) -> JSONNode? {
    path.steps.reduce(record) { node, step in
      switch step {
      case .member(let name):
        member(name, of: node?.opened, path.names)
      case .element(let place): node?.array.flatMap { $0.indices.contains(place) ? $0[place] : nil }
      default: nil
      }
    }
  }

  private func member(_ name: [UInt8], of node: JSONNode?, _ names: MapNames) -> JSONNode? {
    node?[String(decoding: name, as: UTF8.self)]
      ?? node?.members?.first { member in
        Array(member.key.utf8).withText { key in name.withText { key.isMeant(by: $0, names) } }
      }?.value
  }

  /// Returns the type or time in the record; nil if it must not be shown, or if the line does not have exactly one
  /// record.
  private func shownValue(_ reason: QuarantineReason, _ sources: [MapSource], _ line: JSONNode?) -> String? {
    guard reason == .invalidTimestamp || reason == .unknownType else { return nil }
    let list = each.flatMap { value(at: $0, in: line)?.array }
    let record = list.map { $0.count == 1 ? $0[0] : nil } ?? line
    for source in sources {
      let texts = source.paths.compactMap { value(at: $0, in: $0.isOuter ? line : record)?.scalar }.filter {
        !$0.isEmpty
      }
      guard var shown = texts.first else { continue }
      if case .joined(_, let separator) = source.origin {
        shown = texts.joined(separator: String(decoding: separator, as: UTF8.self))
      }
      return (reason == .invalidTimestamp ? ShownValue.isTime : ShownValue.isName)(shown) ? shown : nil
    }
    return nil
  }

  /// Returns the reason why no rule matches a record: a name in a different case, or members that rules require but the
  /// record lacks. Empty if unknown.
  private func unlikeness(_ record: JSONNode?) -> String {
    for path in rules.flatMap(\.conditions).flatMap(\.paths) where !path.isOuter && path.names == .exact {
      guard let (name, object) = firstLack(of: path, in: record, opening: \.opened),
        let other = object?.members?.first(where: { $0.key.lowercased() == name.lowercased() })?.key
      else { continue }
      return "; the record has '\(String(other.prefix(60)).printable)', but the map expects '\(path.text)'"
    }
    var wanted: [String] = []
    for rule in rules {
      guard case .line = rule.outcome else { continue }
      let paths = rule.conditions.compactMap { condition -> MapPath? in
        guard case .test(let path, .all(let tests)) = condition, !path.isOuter,
          tests.contains(where: { if case .exists(true) = $0 { true } else { false } })
        else { return nil }
        return path
      }
      // If all required members of a rule exist, a different condition of that rule fails.
      guard let path = paths.first(where: { value(at: $0, in: record) == nil }) else { return "" }
      wanted.append("no '\(path.text)'")
    }
    return wanted.isEmpty ? "" : "; the record has \(wanted.prefix(3).joined(separator: ", "))"
  }

  /// Returns the name of a member that may be a misspelling of one that a path requires; nil if there is none.
  private func nearName(_ paths: [MapPath], _ record: JSONNode?) -> String? {
    paths.lazy.filter { !$0.isOuter }.compactMap { path in
      guard let (name, object) = firstLack(of: path, in: record, opening: \.self) else { return nil }
      return NearestName.of(name, among: object?.members?.map(\.key) ?? [])
    }.first
  }

  /// Returns the first name of a path that a record lacks, and the object that lacks it; nil if the record has all.
  private func firstLack(
    of path: MapPath, in record: JSONNode?, opening object: (JSONNode) -> JSONNode
  ) -> (name: String, object: JSONNode?)? {
    var node = record
    for case .member(let bytes) in path.steps {
      let name = String(decoding: bytes, as: UTF8.self)
      let whole = node.map(object)
      guard let next = whole?[name] else { return (name, whole) }
      node = next
    }
    return nil
  }
}

extension JSONNode {
  /// The object that the node contains as JSON in a string; otherwise the node itself.
  var opened: JSONNode {
    // Other strings are not objects.
    guard let text = string, text.utf8.first == UInt8(ascii: "{"), let object = try? JSONNode.parse(Array(text.utf8))
    else { return self }
    return object
  }
}

extension MapRule {
  /// Returns the sources of a field of the line.
  fileprivate func sources(of field: String) -> [MapSource] {
    guard case .line(let object) = outcome,
      case .value(let sources)? = object.members.first(where: { $0.name.elementsEqual(field.utf8) })?.node
    else { return fieldPaths[field].map { [MapSource(origin: .paths($0))] } ?? [] }
    return sources
  }

  /// Returns whether a string would be a valid time for the rule if the clocks in its zone did not skip that time.
  fileprivate func skips(_ text: String) -> Bool {
    sources(of: "timestamp").compactMap(\.time).contains { time in
      Array(text.utf8).withText {
        time.instant($0.trimmed) == nil && MapTime(form: time.form, zone: .utc).instant($0.trimmed) != nil
      }
    }
  }
}
