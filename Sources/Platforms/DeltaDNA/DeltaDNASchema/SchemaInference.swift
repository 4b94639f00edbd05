package import BatchFoundation
import DeltaDNAEvents

/// Learns a schema from events that are fine: which names come, how often, and what their values are
/// (reference deltadna 10).
package struct SchemaInference {
  private var events: [ByteText: Shape] = [:]

  package init() {}

  /// - Parameter parameters: `eventParams` of an event without findings.
  package mutating func add(event name: Text, parameters: JSONView) { shape(of: name).add(parameters) }

  /// - Parameter attributes: of an app's event.
  package mutating func add(event name: Text, attributes: some Sequence<(name: Text, value: Text)>) {
    shape(of: name).add(attributes)
  }

  private mutating func shape(of name: Text) -> Shape {
    let name = ByteText(name.description)
    let shape = events[name] ?? Shape()
    events[name] = shape
    return shape
  }

  /// The schema as a file: names by their bytes, each with how often it came.
  package var document: JSONNode {
    let events = events.sorted { $0.key < $1.key }.map { name, shape in
      JSONNode(
        .object([
          JSONMember(key: "name", value: JSONNode(.string(name.string))), shape.countMember,
          JSONMember(key: "parameters", value: shape.parameters),
        ]))
    }
    return JSONNode(.object([JSONMember(key: "events", value: JSONNode(.array(events)))]))
  }
}

/// What stood at one place of the events so far.
private final class Shape {
  private var count = 0
  private var kinds: Set<Kind> = []
  /// How many of the values were objects, and what was inside them.
  private var objects = 0
  private var members: [ByteText: Shape] = [:]
  /// The elements of all arrays.
  private var elements: Shape?
  /// Whether values are texts whatever they look like.
  private var isAttribute = false

  /// The types of values before they are reconciled.
  private enum Kind {
    case integer, float, boolean, timestamp, string, object, array
  }

  func add(_ value: JSONView) {
    count += 1
    switch value.kind {
    // Events without findings have none.
    case .null: break
    case .no, .yes: kinds.insert(.boolean)
    case .number: kinds.insert(value.number?.isInteger64 == true ? .integer : .float)
    case .string: kinds.insert(Self.isTimestamp(value.string ?? .empty) ? .timestamp : .string)
    case .object:
      kinds.insert(.object)
      objects += 1
      for (name, member) in value.members {
        let name = ByteText(name.description)
        let shape = members[name] ?? Shape()
        members[name] = shape
        shape.add(member)
      }
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
      let name = ByteText(name.description)
      let shape = members[name] ?? Shape()
      members[name] = shape
      shape.isAttribute = true
      // One that is empty is known, but says no more than one that is not there.
      guard !value.isEmpty else { continue }
      shape.count += 1
      shape.kinds.insert(Self.kind(ofAttribute: value))
    }
  }

  private static func kind(ofAttribute value: Text) -> Kind {
    if value == "true" || value == "false" { return .boolean }
    let text = value.description
    if Int64(text) != nil { return .integer }
    if Double(text)?.isFinite == true { return .float }
    return Instant(exportText: value) == nil ? .string : .timestamp
  }

  /// Whether the text has the one form of time that goes out, `yyyy-MM-dd HH:mm:ss.SSS`.
  private static func isTimestamp(_ text: Text) -> Bool {
    text.count == Instant.eventTimestampBytes && Instant(plain: text) != nil
  }

  /// Nil where values are of types that no one type covers.
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

  var countMember: JSONMember { JSONMember(key: "count", value: JSONNode(.number("\(count)"))) }

  var parameters: JSONNode {
    let parameters = members.sorted { $0.key < $1.key }.map { name, shape in
      var parameter = [JSONMember(key: "name", value: JSONNode(.string(name.string)))]
      parameter += shape.value
      parameter.insert(shape.countMember, at: 2)
      if shape.count == objects {
        parameter.insert(JSONMember(key: "required", value: JSONNode(.bool(true))), at: 3)
      }
      return JSONNode(.object(parameter))
    }
    return JSONNode(.array(parameters))
  }

  /// The type, and what is known of the inside.
  private var value: [JSONMember] {
    var value = [JSONMember(key: "type", value: JSONNode(.string(type?.rawValue ?? "MIXED")))]
    if type == .object { value.append(JSONMember(key: "parameters", value: parameters)) }
    if type == .array, let elements {
      value.append(JSONMember(key: "items", value: JSONNode(.object(elements.value))))
    }
    return value
  }
}
