package import BatchFoundation

/// Finds everything that is wrong with the events of an app, whose parameters are attributes and whose values are texts.
///
/// Not thread-safe: each worker has its own.
package struct AttributeChecker: ~Copyable {
  private let table: SchemaTable
  private var path = EventPath()
  private var findings: [EventFinding] = []
  /// What came so far of what the schema knows.
  package private(set) var coverage: SchemaCoverage

  package init(_ schema: EventSchema) {
    table = SchemaTable(schema)
    coverage = SchemaCoverage(of: table)
  }

  /// All findings of an event, each once, in their order.
  ///
  /// - Parameters:
  ///   - names: what the schema may call the event; the first that it has counts.
  ///   - attributes: those that may be in a schema.
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
    for number in missing { Array(table.nodeNames[Int(number)].utf8).withText { note(.missingRequired, $0) } }
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
    // What nothing gave a value is there without one, as the profile of codes has it.
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
    // A schema of an app has none.
    case .object, .array: break
    }
  }
}
