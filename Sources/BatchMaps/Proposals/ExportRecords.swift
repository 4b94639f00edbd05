import BatchConfiguration
package import BatchFoundation
package import BatchIngest

/// The first records of an export, and their kinds.
package struct ExportRecords {
  package private(set) var nodes: [JSONNode] = []
  let isTable: Bool
  /// The members or columns in which at least nine in ten string values are JSON objects. In `nodes` they are already
  /// parsed.
  private(set) var jsonColumns: [String] = []
  /// The path of the list whose elements are the records; nil if they are not from a list.
  package private(set) var list: String?
  /// The number of records of each type. Events stored by SDKs have no type and are recognized by their members.
  package private(set) var types: [String: Int] = [:]
  /// The number of records in the project's own shape, by kind.
  private var ownKinds: [InputKind: Int] = [:]

  /// - Throws: `IngestFailure`, `InputChanged`.
  package init(of file: InputFile, _ form: ExportForm, _ vocabulary: RecordVocabulary) throws {
    var file = file
    file.map = InputMap(try ForeignMap(words: form.words + [#""rules": []"#]), identity: "")
    var nodes: [JSONNode] = []
    try file.tryMap(vocabulary, limit: MapProposal.recordLimit) { trial in
      // Only objects are examined.
      if form == .links { return nodes.append(["line": .text(String(decoding: trial.raw, as: UTF8.self))]) }
      guard let node = try? JSONNode.parse(trial.raw), node.members != nil else { return }
      nodes.append(node)
    }
    self.init(nodes, isTable: form.isTable, areLines: true)
  }

  private init(_ nodes: [JSONNode], isTable: Bool, areLines: Bool = false) {
    (self.nodes, self.isTable) = (nodes, isTable)
    if areLines { readJSON() }
    for node in nodes {
      if let kind = Self.ownKind(of: node) { ownKinds[kind, default: 0] += 1 }
      if let type = node["type"]?.string ?? Self.storedType(of: node) { types[type, default: 0] += 1 }
    }
  }

  package func inside(_ path: [String]) -> ExportRecords {
    ExportRecords(
      nodes.compactMap { path.reduce(Optional($0)) { $0.flatMap(Self.object)?[$1] } }.compactMap(Self.object),
      isTable: false)
  }

  /// Whether some strings contain JSON, including those that were parsed.
  package var haveJSON: Bool {
    !jsonColumns.isEmpty
      || nodes.contains { $0.members?.contains { $0.value.string?.hasPrefix("[{") ?? false } ?? false }
  }

  /// The elements of the longest list of objects, at most two names deep, in the first document; nil if there is none.
  package var ofList: ExportRecords? {
    var best: (path: String, nodes: [JSONNode])?
    for node in nodes.prefix(1) {
      for member in node.members ?? [] {
        for inner in [(nil, member.value)] + (member.value.members ?? []).map({ (Optional($0.key), $0.value) }) {
          let objects = inner.1.array?.filter { $0.members != nil } ?? []
          guard objects.count > best?.nodes.count ?? 0 else { continue }
          best = (ExportColumns.written([member.key] + [inner.0].compactMap(\.self)), objects)
        }
      }
    }
    guard let best else { return nil }
    var records = ExportRecords(Array(best.nodes.prefix(MapProposal.recordLimit)), isTable: false)
    records.list = best.path
    return records
  }

  /// The objects next to each other under keys of their own, at most two names deep: for each place, the path of the
  /// first one, and all of them. Most of their members have the name of another one's.
  package var byKey: [(first: [String], records: ExportRecords)] {
    var groups: [(first: [String], nodes: [JSONNode])] = []
    func look(_ node: JSONNode, _ path: [String]) {
      let objects = (node.members ?? []).prefix(MapProposal.recordLimit).compactMap { member in
        Self.object(member.value).map { (key: member.key, object: $0, names: $0.members?.map(\.key) ?? []) }
      }
      let counts: [String: Int] = objects.flatMap(\.names).reduce(into: [:]) { $0[$1, default: 0] += 1 }
      let alike = objects.filter { $0.names.count { counts[$0, default: 0] > 1 } * 2 > $0.names.count }
      if alike.count > 1 {
        let place = groups.firstIndex { $0.first.dropLast() == path[...] } ?? groups.count
        if place == groups.count { groups.append((path + [alike[0].key], [])) }
        groups[place].nodes += alike.map(\.object)
      }
      if path.count < 2 { for (key, object, _) in objects.prefix(20) { look(object, path + [key]) } }
    }
    for node in nodes { look(node, []) }
    return groups.map { ($0.first, ExportRecords(Array($0.nodes.prefix(MapProposal.recordLimit)), isTable: false)) }
  }

  /// Whether no record has an object or a list, as rows of a warehouse.
  package var areFlat: Bool {
    nodes.allSatisfy { $0.members?.allSatisfy { $0.value.members == nil && $0.value.array == nil } ?? true }
  }

  /// The paths at which at least half of the records have an object with several members; the object may be JSON in a
  /// string. Outer paths come first.
  package var envelopes: [[String]] {
    var counts: [(path: [String], count: Int)] = []
    func look(_ node: JSONNode, _ path: [String]) {
      for member in node.members ?? [] {
        guard let object = Self.object(member.value), object.members?.count ?? 0 > 1 else { continue }
        let inner = path + [member.key]
        if let place = counts.firstIndex(where: { $0.path == inner }) {
          counts[place].count += 1
        } else {
          counts.append((inner, 1))
        }
        if inner.count < 3 { look(object, inner) }
      }
    }
    for node in nodes { look(node, []) }
    return counts.filter { $0.count * 2 >= nodes.count }.map(\.path).sorted { $0.count < $1.count }
  }

  /// Whether all records have three members, the last of which is a link, as in a table of links without a header.
  package var areLinks: Bool {
    !nodes.isEmpty
      && nodes.allSatisfy { node in
        node.members?.count == 3 && node.members?.last?.value.string.map(ColumnLook.isLink) ?? false
      }
  }

  /// The names of all members, in the order of their first appearance.
  package var members: [String] {
    var members: [String] = []
    for node in nodes {
      for member in node.members ?? [] where !members.contains(member.key) { members.append(member.key) }
    }
    return members
  }

  /// The kind of input that at least nine in ten records belong to without a map; nil for foreign records.
  package var ownKind: InputKind? { ownKinds.first { $0.value * 10 >= max(1, nodes.count) * 9 }?.key }

  private static func ownKind(of record: JSONNode) -> InputKind? {
    guard record["deviceId"] != nil, record["timestamp"] != nil else {
      return storedType(of: record) == nil ? nil : .events
    }
    if record["type"] != nil { return .events }
    let hasPayload = record.members?.contains { $0.key == "payload" || $0.key.hasPrefix("payload.") } ?? false
    if hasPayload, record["action"] != nil { return .notifications }
    return record["url"] != nil ? .deepLinks : nil
  }

  private static func storedType(of record: JSONNode) -> String? {
    if record["eventTypeCode"] != nil { return "rawEvent" }
    return record["eventName"] != nil && record["userID"] != nil ? "storedEvent" : nil
  }

  private mutating func readJSON() {
    let names = Set(nodes.flatMap { $0.members?.map(\.key) ?? [] }).sorted()
    jsonColumns = names.filter { name in
      let texts = nodes.compactMap { $0[name] }.filter { $0.string != nil }
      return !texts.isEmpty && texts.count { Self.object($0) != nil } * 10 >= texts.count * 9
    }
    guard !jsonColumns.isEmpty else { return }
    nodes = nodes.map { node in
      let members = (node.members ?? []).map { member in
        var member = member
        if jsonColumns.contains(member.key) { member.value = member.value.opened }
        return member
      }
      return JSONNode(.object(members), at: node.place)
    }
  }

  /// Returns the object that a node is, or contains as JSON in a string; otherwise nil.
  private static func object(_ node: JSONNode) -> JSONNode? {
    let node = node.opened
    return node.members == nil ? nil : node
  }

  /// Returns a map for records that have the project's own shape but need one for their file format or their times. It
  /// maps each field to the member of the same name.
  ///
  /// - Parameter types: the known types of records.
  /// - Returns: the document and the members that are not fields; nil for other records.
  package func ownMap(_ form: ExportForm, types: [String]) -> (document: String, unread: [String])? {
    guard let kind = ownKind else { return nil }
    // Events stored by SDKs have no type.
    guard kind != .events || nodes.allSatisfy({ $0["type"]?.string.map(types.contains) ?? true }) else { return nil }
    let members = self.members
    // In a table, each member of an object has its own column, such as `params.level`.
    func isField(_ name: String) -> Bool {
      let first = name.prefix { $0 != "." }
      return RecordField.allCases.contains { "\($0)".utf8.elementsEqual(first.utf8) }
    }
    let times = ColumnLook.times(nodes.compactMap { $0["timestamp"]?.scalar })
    let pattern = times?.isOpen == false && times?.part == .whole ? times?.pattern : nil
    let time = pattern.map { "\"time\": \(JSONString.quoted($0)), " } ?? ""
    let fields = members.filter(isField).map { name in
      let path = JSONString.quoted(ExportColumns.written(name))
      return "    \(JSONString.quoted(name)): "
        + (name == "timestamp" ? "{\"path\": \(path), \(time)\"zone\": \"UTC\"}" : path)
    }
    var lines = form.words
    if !jsonColumns.isEmpty { lines.append(MapProposal.list("jsonColumns", jsonColumns)) }
    lines.append("\"fields\": {\n\(fields.joined(separator: ",\n"))\n  }")
    return ("{\n" + lines.map { "  \($0)" }.joined(separator: ",\n") + "\n}\n", members.filter { !isField($0) })
  }
}

extension ForeignMap {
  /// Creates a map from the members of its document, as JSON; throws as ``init(document:)`` does.
  package init(words: [String]) throws {
    try self.init(document: "{\(words.joined(separator: ","))}")
  }

  /// - Parameter document: the document, which must not include other maps.
  /// - Throws: ``ConfigurationErrors`` with all faults; with one for a document that is not JSON.
  package init(document: String) throws {
    let node = try JSONNode.read(Array(document.utf8), source: "")
    let reader = MapReader(node, name: MapProposal.file, source: "", zones: ZoneDatabase(environment: [:]))
    guard reader.faults.isEmpty else { throw ConfigurationErrors(reader.faults) }
    self = reader.map
    ownRules = rules.count
  }
}
