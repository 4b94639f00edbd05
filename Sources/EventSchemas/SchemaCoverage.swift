import BatchFoundation

/// The events and parameters of a schema that occurred, for one or more workers.
package struct SchemaCoverage: Sendable, Equatable, Codable {
  var events: [Bool]
  var nodes: [Bool]

  init(of table: SchemaTable) {
    events = Array(repeating: false, count: table.events.count)
    nodes = Array(repeating: false, count: table.nodes.count)
  }

  /// Adds the coverage of another worker with the same schema.
  package mutating func add(_ other: SchemaCoverage) {
    for index in events.indices where other.events.indices.contains(index) && other.events[index] {
      events[index] = true
    }
    for index in nodes.indices where other.nodes.indices.contains(index) && other.nodes[index] { nodes[index] = true }
  }

  /// Returns what never occurred, in the order of the schema: an event by name, a parameter of one that occurred as
  /// `event/parameter`, deeper ones likewise. The contents of what never occurred are not listed.
  package func unmet(in schema: EventSchema) -> [String] {
    var walk = Walk(schema: schema, nodes: nodes)
    for (index, event) in schema.events.enumerated() {
      // It is not compared with the schema, so its coverage is unknown.
      if event.name.isIdentical(to: "ddnaForgetMe") {
        walk.visit(event, listing: false)
        continue
      }
      let met = index < events.count && events[index]
      if !met { walk.unmet.append(event.name) }
      walk.visit(event, listing: met)
    }
    return walk.unmet
  }

  /// A walk through the nodes in the order in which the table numbers them.
  private struct Walk {
    let schema: EventSchema
    let nodes: [Bool]
    var next = 0
    var unmet: [String] = []

    mutating func visit(_ event: EventDefinition, listing: Bool) {
      visit(event.parameters ?? [], below: event.name, listing: listing)
      next += event.parameters == nil ? 0 : schema.commonParameters(besides: event.parameters ?? []).count
    }

    private mutating func visit(_ parameters: [ParameterDefinition], below path: String, listing: Bool) {
      for parameter in parameters {
        let path = "\(path)/\(parameter.name)"
        let met = visit(parameter.value, below: path, listing: listing)
        if listing, !met { unmet.append(path) }
      }
    }

    /// Returns whether a value occurred there.
    private mutating func visit(_ value: ValueDefinition, below path: String, listing: Bool) -> Bool {
      let met = next < nodes.count && nodes[next]
      next += 1
      visit(value.parameters ?? [], below: path, listing: listing && met)
      if let items = value.items.first { _ = visit(items, below: path, listing: listing && met) }
      return met
    }
  }
}
