package import BatchFoundation

extension RouteFile {
  /// Reads a route file. Accepts everything that the phones accepted, and the mistakes in published samples, with a
  /// note on each.
  ///
  /// - Throws: ``FileError`` with all faults: not JSON, wrong types that matter for routing, invalid expressions.
  package static func read(_ bytes: [UInt8], name: String) throws(FileError) -> RouteFile {
    try RouteFileReader(faults: DocumentFaults(name, isForeign: true)).read(bytes)
  }
}

struct RouteFileReader {
  let faults: DocumentFaults

  fileprivate func read(_ bytes: [UInt8]) throws(FileError) -> RouteFile {
    var file = RouteFile(name: faults.source, routes: [], defaultHandlers: nil, notes: [])
    do {
      let (root, comment) = try JSONNode.document(bytes, options: [.comments, .duplicateKeys])
      if let comment {
        faults.warn(comment, "comments are not JSON; the iOS library rejects the whole file")
      }
      if let fields = Fields(root, "the top level", faults) {
        readLogging(fields["logging"], root.place)
        file.routes = readRoutes(fields["routes"], root.place)
        file.defaultHandlers = readDefault(fields["defaultRoute"], root.place)
      }
    } catch {
      faults.add(LineStarts(bytes).position(of: error.offset), error.reason)
    }
    try faults.throwErrors()
    lint(file)
    file.notes = faults.all
    return file
  }

  // MARK: Top level

  private func readLogging(_ field: Field?, _ place: TextPlace?) {
    switch field?.node.value {
    case nil: faults.warn(place, "'logging' is missing; the Android library then stops reading the file")
    case .bool:
      faults.warn(field?.place, "'logging' is a boolean; the iOS library needs the string \"true\" or \"false\"")
    case .string: break
    default: faults.warn(field?.place, "'logging' is \(field?.node.kind ?? "nothing"), not a string; read as off")
    }
  }

  private func readRoutes(_ field: Field?, _ place: TextPlace?) -> [Route] {
    if field == nil { faults.warn(place, "'routes' is missing; every link goes to the default route") }
    return entries(field).compactMap { readRoute($0, $1) }
  }

  private func readDefault(_ field: Field?, _ place: TextPlace?) -> [RouteHandler]? {
    guard let field else {
      faults.warn(place, "'defaultRoute' is missing; the Android library crashes on a link that no route matches")
      return nil
    }
    guard let fields = field.object() else { return nil }
    if let parameters = fields["routeParameters"] {
      faults.warn(parameters.place, "'routeParameters' of the default route are never used")
    }
    return readHandlers(fields["handlers"])
  }

  // MARK: Routes

  /// Returns the members of an object whose value is not null; empty if there is no field.
  private func entries(_ field: Field?) -> [(key: String, field: Field)] {
    field?.entries()?.filter { !$0.field.node.isNull } ?? []
  }

  private func readRoute(_ key: String, _ field: Field) -> Route? {
    guard let fields = field.object() else { return nil }
    let parameters = entries(fields["routeParameters"]).compactMap { readParameter($0, $1, of: key) }
    var parts = key.utf8.split(separator: UInt8(ascii: "/")).map(Array.init)
    let isPathOnly = key.utf8.first == UInt8(ascii: "/")
    let host = isPathOnly ? nil : parts.isEmpty ? [] : parts.removeFirst()
    return Route(
      key: key, place: field.keyPlace, host: host,
      parts: parts.map { part in
        guard part.first == UInt8(ascii: ":"), part.count > 1 else { return .literal(part) }
        let name = Array(part.dropFirst())
        return .placeholder(name: name, parameter: parameters.firstIndex { $0.name == name })
      },
      parameters: parameters, handlers: readHandlers(fields["handlers"]))
  }

  private func readHandlers(_ field: Field?) -> [RouteHandler] {
    switch field?.node.value {
    case nil: return []
    case .string(let name):
      faults.warn(field?.place, "'handlers' is a string; the libraries need an array")
      return [RouteHandler(name: name)]
    case .array(let elements):
      return elements.compactMap { element in
        if element.string == nil { faults.warn(element.place, "a handler is \(element.kind), not a string; skipped") }
        return element.string.map { RouteHandler(name: $0) }
      }
    default:
      faults.warn(field?.place, "'handlers' is \(field?.node.kind ?? "nothing"), not an array; skipped")
      return []
    }
  }

  private func readParameter(_ key: String, _ field: Field, of route: String) -> Route.Parameter? {
    let subject = "'\(key)' of the route '\(route)'"
    guard let fields = field.object() else { return nil }
    return Route.Parameter(
      name: Array(key.utf8), isRequired: readRequired(fields["required"], of: subject),
      expression: readExpression(fields["regex"], of: subject), place: field.keyPlace)
  }

  /// - Parameter subject: The parameter and its route, in words.
  private func readRequired(_ field: Field?, of subject: String) -> Bool {
    guard let field else { return false }
    func warn(_ words: String) { faults.warn(field.place, "'required' of \(subject) is \(words)") }
    switch field.node.value {
    case .bool(let flag):
      warn("a boolean, which the iOS library reads as false; read here as \(flag)")
      return flag
    case .string("true"): return true
    case .string("false"): return false
    case .string(let text) where text.lowercased().utf8.elementsEqual("true".utf8):
      warn("'\(text)', which only Android reads as true; read here as true")
      return true
    default:
      warn("neither \"true\" nor \"false\"; read as false")
      return false
    }
  }

  private func readExpression(_ field: Field?, of subject: String) -> LinearRegex? {
    guard let field, let pattern = field.anyText() else { return nil }
    if pattern.isEmpty {
      faults.warn(field.place, "'regex' of \(subject) is empty; the value is not checked")
      return nil
    }
    do {
      return try LinearRegex(pattern)
    } catch {
      let words = "\(error.reason), at character \(error.position) of '\(pattern.shortened())'"
      faults.add(field.place, "'regex' of \(subject) is unusable: \(words)")
      return nil
    }
  }
}
