package import BatchFoundation

/// The contents of a `MobileDeepLinkingConfig.json`, with the routes in file order (reference deep-links 1).
package struct RouteFile: Sendable {
  /// The file's name as given by the caller; for messages.
  package var name: String
  package var routes: [Route]
  /// The handlers of the default route; nil if the file has none.
  package var defaultHandlers: [RouteHandler]?
  /// Suspicious but accepted parts of the file, in file order.
  package var notes: [ConfigurationFault]

  /// Whether the file names an Engage handler, so that only routes that list one deliver their parameters. A file that
  /// names none was written for Android, where parameters always count (reference deep-links 6).
  package var namesEngageHandlers: Bool {
    routes.contains { $0.handlers.contains(where: \.isEngage) } || (defaultHandlers ?? []).contains(where: \.isEngage)
  }
}

/// One route in the file. Its strings are stored as bytes because they are compared bytewise.
package struct Route: Sendable {
  /// The key as written.
  package var key: String
  package var place: TextPlace?
  /// The host; nil if the key begins with `/`, so that any host matches.
  package var host: [UInt8]?
  package var parts: [Part]
  package var parameters: [Parameter]
  package var handlers: [RouteHandler]

  /// The requirement on one segment of a link.
  package enum Part: Sendable, Equatable {
    case literal([UInt8])
    /// Any segment; `parameter` is the index of the declaration with the same name, if there is one.
    case placeholder(name: [UInt8], parameter: Int?)
  }

  /// An entry in `routeParameters`.
  package struct Parameter: Sendable {
    package var name: [UInt8]
    package var isRequired: Bool
    /// The expression that the whole value must match; nil if any value is accepted.
    package var expression: LinearRegex?
    package var place: TextPlace?
  }
}

/// A name in `handlers`.
package struct RouteHandler: Sendable {
  package var name: String

  /// Whether the handler is one of those that pass a link's parameters to Engage.
  package var isEngage: Bool {
    ["postSilverpop", "engageDefaultHandler"].contains { $0.utf8.elementsEqual(name.utf8) }
  }
}

extension RouteFileReader {
  /// Notes the parts of a usable file that probably do not do what their author intended (reference deep-links 9).
  func lint(_ file: RouteFile) {
    var shapes: [[UInt8]: String] = [:]
    for route in file.routes {
      lintKey(of: route)
      lintParameters(of: route)
      for handler in route.handlers where !handler.isEngage {
        faults.warn(route.place, "unknown handler '\(handler.name)' in route '\(route.key)'; skipped")
      }
      guard let shape = route.shape else { continue }
      if let twin = shapes[shape] {
        faults.warn(
          route.place, "the route '\(route.key)' matches the same links as '\(twin)', which comes first and wins")
      } else {
        shapes[shape] = route.key
      }
    }
    for handler in file.defaultHandlers ?? [] where !handler.isEngage {
      faults.warn(nil, "unknown handler '\(handler.name)' in the default route; skipped")
    }
  }

  private func lintKey(of route: Route) {
    if route.key.isEmpty { faults.warn(route.place, "the route key is empty; it matches no link") }
    if route.host?.first == UInt8(ascii: ":") {
      faults.warn(route.place, "the host of route '\(route.key)' is compared as text; a host cannot be a placeholder")
    }
    if let odd = route.key.utf8.first(where: { [0x23, 0x25, 0x3F].contains($0) }) {
      let character = Unicode.Scalar(odd)
      faults.warn(
        route.place,
        "'\(character)' in the route key '\(route.key)' is compared with decoded text; it is not a delimiter")
    }
    if route.parts.contains(.literal([UInt8(ascii: ":")])) {
      faults.warn(route.place, "':' without a name in the route key '\(route.key)' is compared as text")
    }
    let names = route.placeholderNames
    for (index, name) in names.enumerated() where names[..<index].contains(name) {
      faults.warn(route.place, "the placeholder ':\(text(name))' is repeated in '\(route.key)'; the last value counts")
    }
  }

  private func lintParameters(of route: Route) {
    let names = route.placeholderNames
    for parameter in route.parameters {
      let place = parameter.place ?? route.place
      if let expression = parameter.expression, expression.acceptsSingleCharactersOnly {
        faults.warn(
          place,
          "'\(expression.pattern)' matches a single character; '\(text(parameter.name))' may need '\(expression.pattern)+'"
        )
      }
      if names.contains(parameter.name) {
        faults.add(
          place, .note,
          "a query parameter '\(text(parameter.name))' overrides the placeholder of that name")
      }
    }
  }

  private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
}

extension Route {
  /// The names of the placeholders, in their order in the key.
  var placeholderNames: [[UInt8]] {
    parts.compactMap { part in
      if case .placeholder(let name, _) = part { name } else { nil }
    }
  }

  /// A key that is equal for routes that match the same links (expressions are compared as strings); nil if matching
  /// also depends on the query.
  fileprivate var shape: [UInt8]? {
    guard isUnconditional else { return nil }
    var shape: [UInt8] = host.map { [0] + $0 } ?? [1]
    for part in parts {
      switch part {
      case .literal(let text): shape += [0] + text
      case .placeholder(_, let parameter):
        shape += [1] + (parameter.flatMap { parameters[$0].expression?.pattern.utf8 }.map(Array.init) ?? [])
      }
    }
    return shape
  }

  /// Whether matching does not depend on any query parameter.
  private var isUnconditional: Bool {
    let names = placeholderNames
    return parameters.allSatisfy { names.contains($0.name) || (!$0.isRequired && $0.expression == nil) }
  }
}
