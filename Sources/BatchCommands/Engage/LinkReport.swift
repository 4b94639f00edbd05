import BatchFoundation
import EngageRules

/// The output of `engage-batch link`: the matching route, the reasons of the others, and the link's parameters.
struct LinkReport {
  private let url: String
  private let file: RouteFile?
  private let reading: LinkReading
  private let explanation: LinkExplanation
  /// Keeps the texts of the reading alive.
  private let arena: Arena

  init(_ url: String, router: DeepLinkRouter) {
    self.url = url
    file = router.file
    arena = Arena()
    (reading, explanation) = router.explain(arena.text(url), into: arena)
  }

  private var route: Route? {
    guard case .matched(let index, _) = reading.outcome else { return nil }
    return file?.routes[index]
  }

  private var outcome: String {
    switch reading.outcome {
    case .matched: "matched"
    case .fallback: "default"
    case .none: "none"
    }
  }

  private var handlers: [RouteHandler] {
    switch reading.outcome {
    case .matched: route?.handlers ?? []
    case .fallback: file?.defaultHandlers ?? []
    case .none: []
    }
  }

  // MARK: Text

  var text: String {
    var lines = ["outcome: \(outcome)"]
    if let route, let file, let place = route.place {
      lines.append("route: \(route.key) (\(file.name):\(place.line):\(place.column))")
    }
    lines.append("trimmed: \(reading.outcome.trimmed)")
    for handler in handlers { lines.append("handler: \(handler.name)\(handler.isEngage ? "" : " (unknown, skipped)")") }
    lines += Self.list("route parameters", reading.routeParameters)
    if route != nil, !reading.deliversRouteParameters, !reading.routeParameters.isEmpty {
      lines.append("  not passed on: the route lists neither postSilverpop nor engageDefaultHandler")
    }
    lines += Self.list("to campaign rules", reading.parameters)
    lines += Self.list("tracking", reading.tracking)
    for warning in reading.warnings {
      lines.append("warning: \(warning.kind.rawValue)\(warning.subject.isEmpty ? "" : " '\(warning.subject)'")")
    }
    for level in explanation.levels {
      lines.append("level \(level.trimmed): \(level.link)")
      for entry in level.verdicts {
        lines.append("  \(key(entry.route)): \(words(for: entry.verdict))")
      }
    }
    if explanation.isTruncated { lines.append("further levels are left out") }
    return lines.map(\.printable).joined(separator: "\n")
  }

  private static func list(_ title: String, _ parameters: [Attribute]) -> [String] {
    parameters.isEmpty ? [] : ["\(title):"] + parameters.map { "  \($0.name) = \($0.value)" }
  }

  private func key(_ route: Int) -> String { file?.routes[route].key ?? "" }

  private func words(for verdict: RouteVerdict) -> String {
    switch verdict {
    case .passed: "matches"
    case .host(let wanted, let given?): "wants the host '\(text(wanted))', not '\(given)'"
    case .host(let wanted, nil): "wants the host '\(text(wanted))', and there is none"
    case .count(let wanted, let given): "wants \(wanted) segments after the host, not \(given)"
    case .literal(let index, let wanted, let given): "wants '\(text(wanted))' as segment \(index + 1), not '\(given)'"
    case .expression(let parameter, let pattern, let given):
      "wants '\(text(parameter))' to match '\(pattern)', which '\(given)' does not"
    case .missing(let parameter): "requires '\(text(parameter))', which is missing"
    case .tooLong(let parameter): "the value of '\(text(parameter))' is too long for its expression; nothing is routed"
    case .shadowed(let other): "matches too, but '\(key(other))' comes first"
    }
  }

  private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

  // MARK: JSON

  var json: JSONNode {
    [
      "url": .text(url),
      "outcome": .text(outcome),
      "route": .text(route?.key),
      "trimmed": .number(reading.outcome.trimmed),
      "handlers": .array(handlers.map { ["name": .text($0.name), "run": .flag($0.isEngage)] }),
      "routeParameters": Self.map(reading.routeParameters),
      "delivered": .flag(reading.deliversRouteParameters),
      "parameters": Self.map(reading.parameters),
      "tracking": Self.map(reading.tracking),
      "warnings": .array(
        reading.warnings.map { ["code": .text($0.kind.rawValue), "subject": .text($0.subject.description)] }),
      "levels": .array(
        explanation.levels.map { level in
          [
            "trimmed": .number(level.trimmed), "link": .text(level.link),
            "routes": .array(level.verdicts.map { json(for: $0.verdict, of: $0.route) }),
          ]
        }),
      "truncated": .flag(explanation.isTruncated),
    ]
  }

  private static func map(_ parameters: [Attribute]) -> JSONNode {
    .object(parameters.map { ($0.name.description, .text($0.value.description)) })
  }

  private func json(for verdict: RouteVerdict, of route: Int) -> JSONNode {
    let details: KeyValuePairs<String, JSONNode?> =
      switch verdict {
      case .passed: [:]
      case .host(let wanted, let given): ["want": .text(text(wanted)), "got": .text(given?.description)]
      case .count(let wanted, let given): ["want": .number(wanted), "got": .number(given)]
      case .literal(let index, let wanted, let given):
        ["index": .number(index), "want": .text(text(wanted)), "got": .text(given.description)]
      case .expression(let parameter, let pattern, let given):
        ["parameter": .text(text(parameter)), "pattern": .text(pattern), "got": .text(given.description)]
      case .missing(let parameter), .tooLong(let parameter): ["parameter": .text(text(parameter))]
      case .shadowed(let other): ["by": .text(key(other))]
      }
    return (["route": .text(key(route)), "verdict": .text(verdict.code)] as JSONNode).adding(details)
  }
}
