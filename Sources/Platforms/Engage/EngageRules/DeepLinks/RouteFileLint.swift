import BatchExpressions
import BatchFoundation

extension RouteFile {
  /// What a file that can be used probably does not mean the way it is written (reference deep-links 9).
  func lint() -> [FileNote] {
    var notes: [FileNote] = []
    var shapes: [[UInt8]: String] = [:]
    for route in routes {
      func add(_ severity: FileNote.Severity, _ message: String, _ place: TextPlace? = nil) {
        let place = place ?? route.place ?? TextPlace(line: 1)
        notes.append(FileNote(file: name, place: place, severity: severity, message: message))
      }
      lintKey(of: route, add: add)
      lintParameters(of: route, add: add)
      for handler in route.handlers where !handler.isEngage {
        add(.warning, "the handler '\(handler.name)' of route '\(route.key)' is not known here; it is skipped")
      }
      guard let shape = route.shape else { continue }
      if let twin = shapes[shape] {
        add(.warning, "the route '\(route.key)' takes the same links as '\(twin)', which comes first and wins")
      } else {
        shapes[shape] = route.key
      }
    }
    for handler in defaultHandlers ?? [] where !handler.isEngage {
      let message = "the handler '\(handler.name)' of the default route is not known here; it is skipped"
      notes.append(FileNote(file: name, place: TextPlace(line: 1), severity: .warning, message: message))
    }
    return notes
  }

  private typealias Add = (_ severity: FileNote.Severity, _ message: String, _ place: TextPlace?) -> Void

  private func lintKey(of route: Route, add: Add) {
    if route.key.isEmpty { add(.warning, "the route key is empty; it takes no link", nil) }
    if route.host?.first == UInt8(ascii: ":") {
      add(.warning, "the host of route '\(route.key)' is compared as text; a placeholder cannot stand there", nil)
    }
    if let odd = route.key.utf8.first(where: { [0x23, 0x25, 0x3F].contains($0) }) {
      let character = Unicode.Scalar(odd)
      add(
        .warning, "'\(character)' in the route key '\(route.key)' is compared with decoded text; it is not a delimiter",
        nil)
    }
    if route.parts.contains(.literal([UInt8(ascii: ":")])) {
      add(.warning, "':' without a name in the route key '\(route.key)' is compared as text", nil)
    }
    let names = route.placeholderNames
    for (index, name) in names.enumerated() where names[..<index].contains(name) {
      add(.warning, "the placeholder ':\(text(name))' stands twice in '\(route.key)'; the last value counts", nil)
    }
  }

  private func lintParameters(of route: Route, add: Add) {
    let names = route.placeholderNames
    for parameter in route.parameters {
      if let expression = parameter.expression, expression.acceptsSingleCharactersOnly {
        add(
          .warning,
          "'\(expression.pattern)' accepts one character only; '\(expression.pattern)+' may be meant for '\(text(parameter.name))'",
          parameter.place)
      }
      if names.contains(parameter.name) {
        add(
          .info, "a query parameter '\(text(parameter.name))' replaces the value of the placeholder of that name",
          parameter.place)
      }
    }
  }

  private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
}

extension Route {
  /// The names of the placeholders in the order of the key.
  var placeholderNames: [[UInt8]] {
    parts.compactMap { part in
      if case .placeholder(let name, _) = part { name } else { nil }
    }
  }

  /// Equal for two routes that take the same links; nil where the query decides too. Expressions count as text.
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

  /// Whether no query parameter decides about the route.
  private var isUnconditional: Bool {
    let names = placeholderNames
    return parameters.allSatisfy { names.contains($0.name) || (!$0.isRequired && $0.expression == nil) }
  }
}
