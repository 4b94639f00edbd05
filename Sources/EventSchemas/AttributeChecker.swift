package import BatchFoundation

/// Finds all problems in an app's events, whose parameters are attributes with string values. Not thread-safe: each
/// worker has its own checker.
package struct AttributeChecker: ~Copyable {
  private let table: SchemaTable
  private var path = EventPath()
  private var findings: [EventFinding] = []
  /// The coverage of the schema so far.
  package private(set) var coverage: SchemaCoverage

  package init(_ schema: EventSchema) {
    table = SchemaTable(schema)
    coverage = SchemaCoverage(of: table)
  }

  /// Returns all findings of an event, sorted by path and id. The first of the names that is in the schema applies.
  ///
  /// - Parameter attributes: those that may be in a schema, each name once.
  package mutating func findings(
    ofEvent names: [Text], _ attributes: some Sequence<(name: Text, value: Text)>
  ) -> [EventFinding] {
    findings.removeAll(keepingCapacity: true)
    guard let number = number(of: names) else {
      note(.unknownEvent, "eventTypeCode")
      return findings
    }
    coverage.events[number] = true
    let event = table.events[number]
    if !event.isPublished { note(.unpublishedEvent, "eventTypeCode") }
    guard event.comparesMembers else { return findings }
    path.enter("attributes")
    var missing = (0..<event.members.required).map { table.requiredNodes[Int(event.members.firstRequired + $0)] }
    for (name, value) in attributes {
      guard let number = table.names.value(of: name, in: event.members.names) else {
        if !value.isEmpty { note(.unknownParameter, name) }
        continue
      }
      coverage.nodes[number] = true
      missing.removeAll { $0 == Int32(number) }
      path.enter(name)
      check(value, table.nodes[number])
      path.leave()
    }
    for number in missing { table.nodeNames[Int(number)].withText { note(.missingRequired, $0) } }
    path.leave()
    findings.sort(by: EventFinding.precedes)
    return findings
  }

  private func number(of names: [Text]) -> Int? {
    for name in names {
      if let number = table.names.value(of: name, in: table.eventNames) { return number }
    }
    return nil
  }

  private mutating func note(_ id: FindingID, _ name: Text) {
    path.enter(name)
    add(id)
    path.leave()
  }

  private mutating func add(_ id: FindingID) { findings.append(EventFinding(id: id, path: path.pointer)) }

  private mutating func check(_ value: Text, _ node: SchemaTable.Node) {
    // An empty attribute counts as present.
    guard !value.isEmpty else {
      if node.isRequired { add(.emptyValue) }
      return
    }
    switch node.type {
    case .string: for id in table.faults(of: value, node) { add(id) }
    case .integer: if Int64(value.description) == nil { add(.wrongType) }
    case .float: if Double(value.description)?.isFinite != true { add(.wrongType) }
    case .boolean: if value != "true", value != "false" { add(.wrongType) }
    case .timestamp: if Instant(exportText: value) == nil { add(.badTimestamp) }
    // The schema of an app has neither type.
    case .object, .array: break
    }
  }
}
