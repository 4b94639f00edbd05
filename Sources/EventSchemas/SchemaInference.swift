package import BatchFoundation

/// Infers a schema from events without findings: names, counts, and types of values (reference deltadna 10).
package struct SchemaInference {
  /// Its members are the events.
  private let root = Shape()

  package init() {}

  /// - Parameter parameters: `eventParams` of an event without findings.
  package mutating func add(event name: Text, parameters: JSONView) { root.shape(of: name).add(parameters) }

  /// - Parameter attributes: the attributes of an app's event.
  package mutating func add(event name: Text, attributes: some Sequence<(name: Text, value: Text)>) {
    root.shape(of: name).add(attributes)
  }

  /// The schema in the format of a schema file. Names are sorted by their bytes, and each has its count.
  package var document: JSONNode {
    [
      "events": .array(
        root.members.sorted { $0.key < $1.key }.map { name, shape in
          ["name": .text(name.string), "count": .number(shape.count), "parameters": shape.parameters]
        })
    ]
  }
}

/// The values seen at one place in events.
private final class Shape {
  private(set) var count = 0
  /// The types of the values, before they are combined into one type.
  private var kinds: Set<ParameterType> = []
  /// The number of values that were objects.
  private var objects = 0
  private(set) var members: [ByteText: Shape] = [:]
  /// The elements of all arrays at this place.
  private var elements: Shape?
  /// Whether the values are attributes, which are always strings.
  private var isAttribute = false

  func add(_ value: JSONView) {
    count += 1
    switch value.kind {
    // Events without findings have no null values.
    case .null: break
    case .no, .yes: kinds.insert(.boolean)
    case .number: kinds.insert(value.number?.isInteger64 == true ? .integer : .float)
    case .string: kinds.insert(Self.isTimestamp(value.string ?? .empty) ? .timestamp : .string)
    case .object:
      kinds.insert(.object)
      objects += 1
      for (name, member) in value.members { shape(of: name).add(member) }
    case .array:
      kinds.insert(.array)
      for element in value.elements {
        let shape = elements ?? Shape()
        elements = shape
        shape.add(element)
      }
    }
  }

  func add(_ attributes: some Sequence<(name: Text, value: Text)>) {
    count += 1
    kinds.insert(.object)
    objects += 1
    for (name, value) in attributes {
      let shape = shape(of: name)
      shape.isAttribute = true
      // An empty attribute makes the name known, but is not counted.
      guard !value.isEmpty else { continue }
      shape.count += 1
      shape.kinds.insert(Self.kind(ofAttribute: value))
    }
  }

  func shape(of name: Text) -> Shape {
    let name = ByteText(name.description)
    let shape = members[name] ?? Shape()
    members[name] = shape
    return shape
  }

  private static func kind(ofAttribute value: Text) -> ParameterType {
    if value == "true" || value == "false" { return .boolean }
    let text = value.description
    if Int64(text) != nil { return .integer }
    if Double(text)?.isFinite == true { return .float }
    return Instant(exportText: value) == nil ? .string : .timestamp
  }

  /// Returns whether the text has the only time format that is sent, `yyyy-MM-dd HH:mm:ss.SSS`.
  private static func isTimestamp(_ text: Text) -> Bool {
    text.count == Instant.eventTimestampBytes && Instant(plain: text) != nil
  }

  /// The type that covers all values; nil if no type does.
  private var type: ParameterType? {
    switch kinds {
    case [.integer]: .integer
    case [.float], [.integer, .float]: .float
    case [.boolean]: .boolean
    case [.timestamp]: .timestamp
    case [.string], [.timestamp, .string]: .string
    case [.object]: .object
    case [.array]: .array
    default: isAttribute ? .string : nil
    }
  }

  var parameters: JSONNode {
    .array(
      members.sorted { $0.key < $1.key }.map { name, shape in
        (["name": .text(name.string), "type": shape.typeName, "count": .number(shape.count)] as JSONNode)
          .adding(["required": shape.count == objects ? true : nil]).adding(shape.inside)
      })
  }

  private var typeName: JSONNode { .text(type?.rawValue ?? "MIXED") }

  /// The definition of the members of an object, or of the elements of an array.
  private var inside: KeyValuePairs<String, JSONNode?> {
    [
      "parameters": type == .object ? parameters : nil,
      "items": type == .array ? elements.map { (["type": $0.typeName] as JSONNode).adding($0.inside) } : nil,
    ]
  }
}
