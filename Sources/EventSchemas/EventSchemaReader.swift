package import BatchFoundation

extension EventSchema {
  /// Reads a schema file. Unknown keys are ignored.
  ///
  /// - Throws: ``FileError`` with all problems at once.
  package static func read(
    _ bytes: [UInt8], name: String, of subject: Subject = .game
  ) throws(FileError) -> EventSchema {
    let (schema, inspection) = inspect(bytes, name: name, of: subject)
    guard inspection.problems.isEmpty else { throw FileError(inspection.problems.map(\.fault)) }
    return schema
  }

  /// Reads the well-formed parts of a schema file and reports problems with the others.
  package static func inspect(
    _ bytes: [UInt8], name: String, of subject: Subject = .game
  ) -> (schema: EventSchema, inspection: SchemaInspection) {
    var reader = EventSchemaReader(bytes, name, subject)
    let schema = EventSchema(events: reader.read(), subject: subject)
    func rank(_ problem: SchemaProblem) -> (path: ByteText, kind: ByteText) {
      (ByteText(problem.path), ByteText(problem.kind.rawValue))
    }
    reader.inspection.problems.sort { rank($0) < rank($1) }
    return (schema, reader.inspection)
  }
}

private struct EventSchemaReader {
  var inspection = SchemaInspection()
  private let bytes: [UInt8]
  /// The file's name in messages.
  private let name: String
  private let subject: EventSchema.Subject
  private var root: JSONNode?
  /// The memory for names while they are checked.
  private let arena = Arena(blockSize: 1 << 12)

  init(_ bytes: [UInt8], _ name: String, _ subject: EventSchema.Subject) {
    (self.bytes, self.name, self.subject) = (bytes, name, subject)
  }

  mutating func read() -> [EventDefinition] {
    let root: JSONNode
    do {
      root = try JSONNode.parse(bytes)
    } catch {
      note(.notASchema, "", LineStarts(bytes).position(of: error.offset), "\(error.reason)")
      return []
    }
    self.root = root
    guard root.members != nil else {
      note(.notASchema, "", root.place, "the file is \(root.kind), not an object with 'events'")
      return []
    }
    guard let events = root.present("events") else {
      note(.notASchema, "", root.place, "'events' is missing")
      return []
    }
    guard let list = events.array else {
      note(.notAnArray, "/events", events.place, "'events' is \(events.kind), not an array")
      return []
    }
    var names: Set<[UInt8]> = []
    return list.enumerated().compactMap { readEvent($0.element, "/events/\($0.offset)", &names) }
  }

  private mutating func readEvent(_ node: JSONNode, _ path: String, _ names: inout Set<[UInt8]>) -> EventDefinition? {
    guard node.members != nil else {
      note(.notAnObject, path, node.place, "an event is \(node.kind), not an object")
      return nil
    }
    inspection.events += 1
    let name = readName(node, path, &names, isEvent: true, mayBeReserved: false)
    let isPublished = member("published", of: node, path, .badType, "a boolean", \.bool) ?? true
    let parameters = readParameters(node, path, isTop: true)
    return name.map { EventDefinition(name: $0, isPublished: isPublished, parameters: parameters) }
  }

  private mutating func readParameters(_ node: JSONNode, _ path: String, isTop: Bool) -> [ParameterDefinition]? {
    guard let list = member("parameters", of: node, path, .notAnArray, "an array", \.array) else { return nil }
    var names: Set<[UInt8]> = []
    return list.enumerated().compactMap {
      readParameter($0.element, "\(path)/parameters/\($0.offset)", &names, isTop: isTop)
    }
  }

  private mutating func readParameter(
    _ node: JSONNode, _ path: String, _ names: inout Set<[UInt8]>, isTop: Bool
  ) -> ParameterDefinition? {
    guard node.members != nil else {
      note(.notAnObject, path, node.place, "a parameter is \(node.kind), not an object")
      return nil
    }
    inspection.parameters += 1
    let name = readName(node, path, &names, isEvent: false, mayBeReserved: isTop)
    let isRequired = member("required", of: node, path, .badType, "a boolean", \.bool) ?? false
    guard let value = readValue(node, path), let name else { return nil }
    return ParameterDefinition(name: name, value: value, isRequired: isRequired)
  }

  // MARK: Values

  /// Reads a value's type, format, enumeration and contents; returns nil if the type is missing or unknown.
  private mutating func readValue(_ node: JSONNode, _ path: String) -> ValueDefinition? {
    guard let written = node.present("type") else {
      note(.badType, "\(path)/type", node.place, "'type' is missing")
      return nil
    }
    let known = ParameterType.types(of: subject)
    guard let text = written.string, let type = known.first(where: { $0.rawValue.isIdentical(to: text) }) else {
      let given = written.string.map { "'\($0)'" } ?? written.kind
      let words = known.map(\.rawValue).joined(separator: ", ")
      note(.badType, "\(path)/type", written.place, "the type is \(given); known types are \(words)")
      return nil
    }
    for (key, owner) in Self.owners where owner != type {
      guard let value = node.present(key) else { continue }
      note(.misplaced, "\(path)/\(key)", value.place, "'\(key)' applies to \(owner.rawValue), not to \(type.rawValue)")
    }
    var value = ValueDefinition(type)
    switch type {
    case .string:
      value.format = readFormat(node, path)
      value.enumeration = readEnumeration(node, path)
      value.maxLength = readLength(node, path)
    case .object: value.parameters = readParameters(node, path, isTop: false)
    case .array: value.items = readItems(node, path).map { [$0] } ?? []
    case .integer, .float, .boolean, .timestamp: break
    }
    return value
  }

  private static let owners: [(key: String, type: ParameterType)] = [
    ("format", .string), ("enumeration", .string), ("maxLength", .string), ("parameters", .object), ("items", .array),
  ]

  private mutating func readItems(_ node: JSONNode, _ path: String) -> ValueDefinition? {
    let items = member("items", of: node, path, .notAnObject, "an object") { $0.members == nil ? nil : $0 }
    return items.flatMap { readValue($0, "\(path)/items") }
  }

  private mutating func readFormat(_ node: JSONNode, _ path: String) -> LinearRegex? {
    let pattern = member("format", of: node, path, .badFormat, "a string", \.string)
    // As in routes, an empty expression matches everything.
    guard let pattern, !pattern.isEmpty else { return nil }
    do {
      return try LinearRegex(pattern)
    } catch {
      let place = "at character \(error.position) of '\(pattern)'"
      note(
        .badFormat, "\(path)/format", node["format"]?.place, "the expression is unusable: \(error.reason), \(place)")
      return nil
    }
  }

  private mutating func readEnumeration(_ node: JSONNode, _ path: String) -> [String]? {
    guard let elements = member("enumeration", of: node, path, .badEnumeration, "an array", \.array) else { return nil }
    let texts = elements.compactMap(\.string)
    guard texts.count == elements.count else {
      let words = "'enumeration' has values that are not strings"
      note(.badEnumeration, "\(path)/enumeration", node["enumeration"]?.place, words)
      return nil
    }
    return texts
  }

  private mutating func readLength(_ node: JSONNode, _ path: String) -> Int? {
    guard let length = node.present("maxLength") else { return nil }
    guard let number = length.integer, number > 0 else {
      note(.badType, "\(path)/maxLength", length.place, "'maxLength' is not a positive integer")
      return nil
    }
    return Int(number)
  }

  // MARK: Members

  /// - Parameter names: the names of the scope, in lower case because the service ignores case.
  private mutating func readName(
    _ node: JSONNode, _ path: String, _ names: inout Set<[UInt8]>, isEvent: Bool, mayBeReserved: Bool
  ) -> String? {
    let place = "\(path)/name"
    guard let written = node.present("name"), let name = written.string else {
      let given = node.present("name").map { "is \($0.kind), not a string" } ?? "is missing"
      note(.badName, place, node.present("name")?.place ?? node.place, "'name' \(given)")
      return nil
    }
    defer {
      if !names.insert(name.utf8.map(Text.lowered)).inserted {
        let words = "'\(name)' already exists (case is ignored)"
        note(.duplicateName, place, written.place, words)
      }
    }
    let text = arena.text(name)
    if subject == .app {
      if !name.isEmpty, name.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) { return name }
      note(.badName, place, written.place, "'name' is empty or contains control characters")
      return nil
    }
    guard isEvent ? NameRules.isEventName(text) : NameRules.isParameterName(text) else {
      let rule = isEvent ? "a letter" : "a lower-case letter"
      note(.badName, place, written.place, "'\(name)' must start with \(rule) and contain only letters, digits and '_'")
      return nil
    }
    if mayBeReserved, NameRules.isReserved(text) {
      note(
        .reservedName, place, written.place,
        "'\(name)' is reserved: events have a member of that name next to 'eventParams'")
    }
    return name
  }

  /// Returns the value of a member; nil if the member is missing or of a different kind. The latter is recorded as a
  /// problem.
  private mutating func member<Value>(
    _ key: String, of node: JSONNode, _ path: String, _ problem: SchemaProblem.Kind, _ kind: String,
    _ read: (JSONNode) -> Value?
  ) -> Value? {
    guard let member = node.present(key) else { return nil }
    let value = read(member)
    if value == nil { note(problem, "\(path)/\(key)", member.place, "'\(key)' is \(member.kind), not \(kind)") }
    return value
  }

  private mutating func note(_ kind: SchemaProblem.Kind, _ path: String, _ place: TextPlace?, _ reason: String) {
    guard inspection.problems.count < SchemaInspection.mostProblems else { return }
    let (names, place) = (names(above: path), place ?? TextPlace(line: 1))
    let subject = names.isEmpty ? path : names
    let words = subject.isEmpty ? reason : "\(subject): \(reason)"
    inspection.problems.append(
      SchemaProblem(
        kind: kind, path: path, fault: ConfigurationFault(Place(name, line: place.line, column: place.column), words)))
  }

  /// Returns the names of the event and parameters on the path, joined as in `levelUp.reward`; empty if they have none.
  private func names(above path: String) -> String {
    var node = root
    var names: [String] = []
    for step in path.split(separator: "/") {
      node =
        Int(step).map { index in node?.array.flatMap { $0.indices.contains(index) ? $0[index] : nil } }
        ?? node?[String(step)]
      if let name = node?["name"]?.string, !name.isEmpty { names.append(name) }
    }
    return names.joined(separator: ".")
  }
}
