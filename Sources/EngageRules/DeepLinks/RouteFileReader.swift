package import BatchFoundation

extension RouteFile {
  /// Reads a route file: all that the phones accepted, and the mistakes in published samples, with a note on each.
  ///
  /// - Throws: ``FileError`` with all faults: not JSON, wrong types that matter for routing, invalid expressions.
  package static func read(_ bytes: [UInt8], name: String) throws(FileError) -> RouteFile {
    var reader = RouteFileReader(bytes: bytes, name: name)
    return try reader.read()
  }
}

struct RouteFileReader: NotingReader {
  let bytes: [UInt8]
  let name: String
  var notes: [FileNote] = []
  var faults: [FileNote] = []

  mutating func read() throws(FileError) -> RouteFile {
    let (root, comment): (JSONNode, TextPlace?)
    do {
      (root, comment) = try JSONNode.document(bytes, options: [.comments, .duplicateKeys])
    } catch {
      throw self.error(error)
    }
    if let comment {
      warn(comment, "comments are not JSON; the iOS library rejects the whole file")
    }
    var file = RouteFile(name: name, routes: [], defaultHandlers: nil, notes: [])
    guard root.members != nil else { throw error(root.place, "the top level is \(root.kind), not an object") }
    let members = uniqueMembers(root)
    readLogging(members["logging"], root.place)
    file.routes = readRoutes(members["routes"], root.place)
    file.defaultHandlers = readDefault(members["defaultRoute"], root.place)
    guard faults.isEmpty else { throw FileError(faults: faults) }
    lint(file)
    file.notes = notes.sorted { $0.place < $1.place }
    return file
  }

  // MARK: Top level

  private mutating func readLogging(_ node: JSONNode?, _ place: TextPlace?) {
    switch node?.value {
    case nil: warn(place, "'logging' is missing; the Android library then stops reading the file")
    case .bool:
      warn(node?.place ?? place, "'logging' is a boolean; the iOS library needs the string \"true\" or \"false\"")
    case .string: break
    default: warn(node?.place ?? place, "'logging' is \(node?.kind ?? "nothing"), not a string; read as off")
    }
  }

  private mutating func readRoutes(_ node: JSONNode?, _ place: TextPlace?) -> [Route] {
    guard let node else {
      warn(place, "'routes' is missing; every link goes to the default route")
      return []
    }
    guard isObject(node, "'routes'") else { return [] }
    return uniqueMembers(node).ordered.compactMap { readRoute($0) }
  }

  private mutating func readDefault(_ node: JSONNode?, _ place: TextPlace?) -> [RouteHandler]? {
    guard let node else {
      warn(place, "'defaultRoute' is missing; the Android library crashes on a link that no route matches")
      return nil
    }
    guard isObject(node, "'defaultRoute'") else { return nil }
    let members = uniqueMembers(node)
    if let parameters = members["routeParameters"] {
      warn(parameters.place, "'routeParameters' of the default route are never used")
    }
    return readHandlers(members["handlers"])
  }

  // MARK: Routes

  private mutating func readRoute(_ member: JSONMember) -> Route? {
    guard isObject(member.value, "the route '\(member.key)'") else { return nil }
    let members = uniqueMembers(member.value)
    let parameters = readParameters(members["routeParameters"], of: member.key)
    var parts = member.key.utf8.split(separator: UInt8(ascii: "/")).map(Array.init)
    let isPathOnly = member.key.utf8.first == UInt8(ascii: "/")
    let host = isPathOnly ? nil : parts.isEmpty ? [] : parts.removeFirst()
    return Route(
      key: member.key, place: member.place, host: host,
      parts: parts.map { part in
        guard part.first == UInt8(ascii: ":"), part.count > 1 else { return .literal(part) }
        let name = Array(part.dropFirst())
        return .placeholder(name: name, parameter: parameters.firstIndex { $0.name == name })
      },
      parameters: parameters, handlers: readHandlers(members["handlers"]))
  }

  private mutating func readHandlers(_ node: JSONNode?) -> [RouteHandler] {
    switch node?.value {
    case nil: return []
    case .string(let name):
      warn(node?.place, "'handlers' is a string; the libraries need an array")
      return [RouteHandler(name: name)]
    case .array(let elements):
      return elements.compactMap { element in
        guard let name = element.string else {
          warn(element.place, "a handler is \(element.kind), not a string; skipped")
          return nil
        }
        return RouteHandler(name: name)
      }
    default:
      warn(node?.place, "'handlers' is \(node?.kind ?? "nothing"), not an array; skipped")
      return []
    }
  }

  private mutating func readParameters(_ node: JSONNode?, of route: String) -> [Route.Parameter] {
    guard let node, isObject(node, "'routeParameters' of the route '\(route)'") else { return [] }
    return uniqueMembers(node).ordered.compactMap { readParameter($0, of: route) }
  }

  private mutating func readParameter(_ member: JSONMember, of route: String) -> Route.Parameter? {
    let subject = "'\(member.key)' of the route '\(route)'"
    guard isObject(member.value, "the parameter \(subject)") else { return nil }
    let members = uniqueMembers(member.value)
    return Route.Parameter(
      name: Array(member.key.utf8), isRequired: readRequired(members["required"], of: subject),
      expression: readExpression(members["regex"], of: subject), place: member.place)
  }

  /// - Parameter subject: the parameter and its route, in words.
  private mutating func readRequired(_ node: JSONNode?, of subject: String) -> Bool {
    guard let node else { return false }
    switch node.value {
    case .bool(let flag):
      warn(
        node.place,
        "'required' of \(subject) is a boolean, which the iOS library reads as false; read as \(flag)")
      return flag
    case .string("true"): return true
    case .string("false"): return false
    case .string(let text) where text.lowercased().utf8.elementsEqual("true".utf8):
      warn(node.place, "'required' of \(subject) is '\(text)', which only Android reads as true; read as true")
      return true
    default:
      warn(node.place, "'required' of \(subject) is neither \"true\" nor \"false\"; read as false")
      return false
    }
  }

  private mutating func readExpression(_ node: JSONNode?, of subject: String) -> LinearRegex? {
    guard let node else { return nil }
    guard let pattern = node.string else {
      fail(node.place, "'regex' of \(subject) is \(node.kind), not a string")
      return nil
    }
    if pattern.isEmpty {
      warn(node.place, "'regex' of \(subject) is empty; the value is not checked")
      return nil
    }
    do {
      return try LinearRegex(pattern)
    } catch {
      fail(
        node.place,
        "'regex' of \(subject) is unusable: \(error.reason), at character \(error.position) of '\(pattern.shortened())'"
      )
      return nil
    }
  }

  // MARK: Places

  /// Returns the members of an object without null values; of a repeated key the last one, with a warning.
  private mutating func uniqueMembers(_ node: JSONNode) -> UniqueMembers {
    var unique = UniqueMembers()
    for member in node.members ?? [] {
      if unique.add(member) { warn(member.place, "the key '\(member.key)' is repeated; the last value counts") }
    }
    unique.dropNulls()
    return unique
  }
}

/// The members of an object in the order of the file, each key once.
private struct UniqueMembers {
  private(set) var ordered: [JSONMember] = []
  private var places: [[UInt8]: Int] = [:]

  subscript(key: String) -> JSONNode? { places[Array(key.utf8)].map { ordered[$0].value } }

  /// Returns whether the key existed already; its value is replaced, and it keeps its place.
  mutating func add(_ member: JSONMember) -> Bool {
    let key = Array(member.key.utf8)
    if let place = places[key] {
      ordered[place] = member
      return true
    }
    places[key] = ordered.count
    ordered.append(member)
    return false
  }

  mutating func dropNulls() {
    let kept = ordered.filter { !$0.value.isNull }
    guard kept.count < ordered.count else { return }
    self = UniqueMembers()
    for member in kept { _ = add(member) }
  }
}
