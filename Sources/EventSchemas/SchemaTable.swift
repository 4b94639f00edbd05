import BatchFoundation

/// A schema prepared for millions of look-ups: definitions are rows of flat tables, indexed by the bytes of their
/// names.
struct SchemaTable: Sendable {
  /// The definition of one place: the value of a parameter, or an element of an array.
  struct Node: Sendable {
    var type: ParameterType
    var isRequired: Bool
    /// Whether the object's members are compared with the schema.
    var comparesMembers = false
    /// The parameters of an object.
    var members = Members.none
    /// The index of the node for all elements of an array; negative if they are not compared with the schema.
    var items: Int32 = -1
    /// The index in `formats`; negative if there is no format.
    var format: Int32 = -1
    /// Whether a string must be one of `allowed`.
    var isEnumerated = false
    var allowed = NameIndex.Scope.empty
    /// The maximum number of characters (Unicode scalars) of a string.
    var maxLength = Int.max
  }

  /// The parameters of an event or of an object.
  struct Members: Sendable {
    var names: NameIndex.Scope
    /// The number of required parameters.
    var required: Int32
    /// The index of the first required parameter in `requiredNodes`.
    var firstRequired: Int32

    static var none: Members { Members(names: .empty, required: 0, firstRequired: 0) }
  }

  struct Event: Sendable {
    var isPublished: Bool
    var comparesMembers: Bool
    var members: Members
  }

  private(set) var names = NameIndex()
  private(set) var eventNames = NameIndex.Scope.empty
  private(set) var events: [Event] = []
  private(set) var nodes: [Node] = []
  /// The name of each node. The node of an array's elements has the name of the array.
  private(set) var nodeNames: [String] = []
  private(set) var requiredNodes: [Int32] = []
  private(set) var formats: [LinearRegex] = []

  init(_ schema: EventSchema) {
    for event in schema.events {
      let members = event.parameters.map { add($0 + schema.commonParameters(besides: $0)) }
      events.append(
        Event(isPublished: event.isPublished, comparesMembers: members != nil, members: members ?? .none))
    }
    eventNames = names.addScope(schema.events.enumerated().map { ($0.element.name, $0.offset) })
  }

  private mutating func add(_ parameters: [ParameterDefinition]) -> Members {
    let numbers = parameters.map { add($0.value, named: $0.name, isRequired: $0.isRequired) }
    let first = requiredNodes.count
    for (number, parameter) in zip(numbers, parameters) where parameter.isRequired {
      requiredNodes.append(Int32(number))
    }
    return Members(
      names: names.addScope(zip(parameters, numbers).map { ($0.name, $1) }),
      required: Int32(requiredNodes.count - first), firstRequired: Int32(first))
  }

  private mutating func add(_ value: ValueDefinition, named name: String, isRequired: Bool) -> Int {
    let number = nodes.count
    var node = Node(type: value.type, isRequired: isRequired)
    nodes.append(node)
    nodeNames.append(name)
    if let format = value.format {
      node.format = Int32(formats.count)
      formats.append(format)
    }
    if let enumeration = value.enumeration {
      node.isEnumerated = true
      node.allowed = names.addScope(enumeration.map { ($0, 0) })
    }
    if let length = value.maxLength { node.maxLength = length }
    if let parameters = value.parameters {
      node.comparesMembers = true
      node.members = add(parameters)
    }
    if let items = value.items.first { node.items = Int32(add(items, named: name, isRequired: false)) }
    nodes[number] = node
    return number
  }

  /// Returns the faults of a nonempty string.
  func faults(of text: Text, _ node: Node) -> [FindingID] {
    var faults: [FindingID] = []
    if node.isEnumerated, names.value(of: text, in: node.allowed) == nil { faults.append(.notInEnumeration) }
    if node.format >= 0, unsafe !formats[Int(node.format)].matches(text.bytes) { faults.append(.formatMismatch) }
    // A character has at least one byte; all of its bytes except the first begin with the bits 10.
    if text.count > node.maxLength, text.count(where: { $0 & 0xC0 != 0x80 }) > node.maxLength {
      faults.append(.tooLong)
    }
    return faults
  }
}

/// The events and parameters of a schema that occurred.
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

  /// Returns the names that never occurred, in schema order: an event as `event`, a parameter as `event/parameter`, a
  /// nested one as `event/parameter/parameter`. If an event or object never occurred, its parameters are not listed.
  package func unmet(in schema: EventSchema) -> [String] {
    var unmet: [String] = []
    var next = 0
    // Visits the nodes in the order in which ``SchemaTable`` numbers them, and returns whether the value occurred.
    func visit(_ value: ValueDefinition, below path: String, listing: Bool) -> Bool {
      let met = next < nodes.count && nodes[next]
      next += 1
      visit(value.parameters ?? [], below: path, listing: listing && met)
      if let items = value.items.first { _ = visit(items, below: path, listing: listing && met) }
      return met
    }
    func visit(_ parameters: [ParameterDefinition], below path: String, listing: Bool) {
      for parameter in parameters {
        let path = "\(path)/\(parameter.name)"
        let met = visit(parameter.value, below: path, listing: listing)
        if listing, !met { unmet.append(path) }
      }
    }
    for (index, event) in schema.events.enumerated() {
      // This event is not compared with the schema, so its coverage is unknown.
      let isCompared = !event.name.isIdentical(to: "ddnaForgetMe")
      let met = index < events.count && events[index]
      if isCompared, !met { unmet.append(event.name) }
      visit(event.parameters ?? [], below: event.name, listing: isCompared && met)
      // The common parameters have nodes too, but are not listed.
      next += event.parameters.map { schema.commonParameters(besides: $0).count } ?? 0
    }
    return unmet
  }
}
