import BatchFoundation

/// Which events and parameters of a schema came, of one or more workers.
package struct SchemaCoverage: Sendable, Equatable, Codable {
  var events: [Bool]
  var nodes: [Bool]

  /// Before anything came.
  init(of table: SchemaTable) {
    events = Array(repeating: false, count: table.events.count)
    nodes = Array(repeating: false, count: table.nodes.count)
  }

  /// Adds what another worker met by the same schema.
  package mutating func add(_ other: SchemaCoverage) {
    for index in events.indices where other.events.indices.contains(index) && other.events[index] {
      events[index] = true
    }
    for index in nodes.indices where other.nodes.indices.contains(index) && other.nodes[index] { nodes[index] = true }
  }

  /// What never came, in the order of the schema: an event by its name, a parameter of one that came as `event/parameter`,
  /// deeper ones likewise. Of what never came the inside is not listed.
  package func unmet(in schema: EventSchema) -> [String] {
    var walk = Walk(schema: schema, nodes: nodes)
    for (index, event) in schema.events.enumerated() {
      // It is not compared with the schema, so nobody knows what of it came.
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

  /// Follows the nodes in the order in which the table numbers them.
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

    /// Whether a value stood there.
    private mutating func visit(_ value: ValueDefinition, below path: String, listing: Bool) -> Bool {
      let met = next < nodes.count && nodes[next]
      next += 1
      visit(value.parameters ?? [], below: path, listing: listing && met)
      if let items = value.items.first { _ = visit(items, below: path, listing: listing && met) }
      return met
    }
  }
}
