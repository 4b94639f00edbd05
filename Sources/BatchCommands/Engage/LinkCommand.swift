import ArgumentParser
import BatchFoundation
import BatchReport
import EngageRules
import FoundationEssentials

struct LinkCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "link",
    abstract:
      "Print which route matches a link, why the others do not, and which parameters the campaign rules receive.",
    discussion: """
      Without --routes, only the query string is read. Findings in the route file are printed on stderr; the exit code is 78 \
      if the file is invalid.
      """)

  @Argument(help: "The link as recorded.")
  var url: String

  @Option(help: "A MobileDeepLinkingConfig.json.")
  var routes: String?

  @Option(help: "The precedence among matching routes: literal-first, or file for their order in the file.")
  var routeOrder: RouteOrderPolicy = .literalFirst

  @Option(help: "A host whose http(s) links are treated as links to the app; '*.' covers all subdomains. Repeatable.")
  var ownDomain: [String] = []

  @OptionGroup var answer: AnswerOption

  func run() throws {
    let file = try routes.map(readRoutes)
    for note in file?.notes ?? [] where note.severity != .note { Streams.note(note.description) }
    let options = LinkOptions(routeOrder: routeOrder, ownDomains: ownDomain)
    answer.format.show(LinkReport(url, router: DeepLinkRouter(routes: file, options: options)).facts)
  }

  private func readRoutes(_ path: String) throws -> RouteFile {
    let bytes: [UInt8]
    do {
      bytes = try RegularFile.read(path)
    } catch {
      let exit: RunExit = if case .system = error { .noInput } else { .configuration }
      throw CommandError(exit, "\(path.printable): error: \(error.reason)")
    }
    return try RouteFile.read(bytes, name: path)
  }
}

extension RouteOrderPolicy: ExpressibleByArgument {}

/// The output of `engage-batch link`: the matching route, why the others do not match, and the link's parameters.
struct LinkReport {
  private let url: String
  private let file: RouteFile?
  private let reading: LinkReading
  private let explanation: LinkExplanation
  /// Keeps the texts in ``reading`` alive.
  private let arena: Arena

  init(_ url: String, router: DeepLinkRouter) {
    self.url = url
    file = router.file
    arena = Arena()
    (reading, explanation) = router.explain(arena.text(url), into: arena)
  }

  var facts: Facts {
    let (outcome, route, handlers): (String, Route?, [RouteHandler]?) =
      switch reading.outcome {
      case .matched(let index, _): ("matched", file?.routes[index], file?.routes[index].handlers)
      case .fallback: ("default", nil, file?.defaultHandlers)
      case .none: ("none", nil, nil)
      }
    var facts: Facts = ["url": .text(url)]
    facts.add("outcome", .text(outcome), "outcome: \(outcome)")
    let place = route?.place.map { " (\(file?.name ?? ""):\($0.line):\($0.column))" }
    facts.add("route", .text(route?.key), route.flatMap { route in place.map { ["route: \(route.key)\($0)"] } } ?? [])
    facts.add("trimmed", .number(reading.outcome.trimmed), "trimmed: \(reading.outcome.trimmed)")
    facts.add(
      "handlers", .array((handlers ?? []).map { ["name": .text($0.name), "run": .flag($0.isEngage)] }),
      (handlers ?? []).map { "handler: \($0.name)\($0.isEngage ? "" : " (unknown, skipped)")" })
    add("routeParameters", "route parameters", reading.routeParameters, to: &facts)
    let areLost = route != nil && !reading.deliversRouteParameters && !reading.routeParameters.isEmpty
    facts.add(
      "delivered", .flag(reading.deliversRouteParameters),
      areLost ? ["  not passed on: the route lists neither postSilverpop nor engageDefaultHandler"] : [])
    add("parameters", "passed to campaign rules", reading.parameters, to: &facts)
    add("tracking", "tracking", reading.tracking, to: &facts)
    facts.add(
      "warnings",
      .array(reading.warnings.map { ["code": .text($0.kind.rawValue), "subject": .text($0.subject.description)] }),
      reading.warnings.map { "warning: \($0.kind.rawValue)\($0.subject.isEmpty ? "" : " '\($0.subject)'")" })
    let levels = explanation.levels.map { ($0, routes: $0.verdicts.map { answer($0.verdict, of: key($0.route)) }) }
    facts.add(
      "levels",
      .array(
        levels.map { level, routes in
          ["trimmed": .number(level.trimmed), "link": .text(level.link), "routes": .array(routes.map(\.document))]
        }),
      levels.flatMap { level, routes in ["level \(level.trimmed): \(level.link)"] + routes.map(\.line) })
    facts.add(
      "truncated", .flag(explanation.isTruncated), explanation.isTruncated ? ["further levels are omitted"] : [])
    return facts
  }

  private func add(_ key: String, _ title: String, _ parameters: [Attribute], to facts: inout Facts) {
    facts.add(
      key, .object(parameters.map { ($0.name.description, .text($0.value.description)) }),
      parameters.isEmpty ? [] : ["\(title):"] + parameters.map { "  \($0.name) = \($0.value)" })
  }

  private func key(_ route: Int) -> String { file?.routes[route].key ?? "" }

  /// Returns the reason why a route matches or does not match a link, in words and as data.
  private func answer(_ verdict: RouteVerdict, of route: String) -> (line: String, document: JSONNode) {
    let (words, details): (String, KeyValuePairs<String, JSONNode?>) =
      switch verdict {
      case .passed: ("matches", [:])
      case .host(let wanted, let given):
        (
          "expects the host '\(text(wanted))', \(given.map { "not '\($0)'" } ?? "but there is none")",
          ["want": .text(text(wanted)), "got": .text(given?.description)]
        )
      case .count(let wanted, let given):
        (
          "expects \(wanted.counted("segment")) after the host, not \(given)",
          ["want": .number(wanted), "got": .number(given)]
        )
      case .literal(let index, let wanted, let given):
        (
          "expects '\(text(wanted))' as segment \(index + 1), not '\(given)'",
          ["index": .number(index), "want": .text(text(wanted)), "got": .text(given.description)]
        )
      case .expression(let parameter, let pattern, let given):
        (
          "expects '\(text(parameter))' to match '\(pattern)', which '\(given)' does not",
          ["parameter": .text(text(parameter)), "pattern": .text(pattern), "got": .text(given.description)]
        )
      case .missing(let parameter):
        ("requires '\(text(parameter))', which is missing", ["parameter": .text(text(parameter))])
      case .tooLong(let parameter):
        (
          "the value of '\(text(parameter))' is too long for its regular expression; no route is chosen",
          ["parameter": .text(text(parameter))]
        )
      case .shadowed(let other): ("matches too, but '\(key(other))' comes first", ["by": .text(key(other))])
      }
    let document: JSONNode = ["route": .text(route), "verdict": .text(verdict.code)]
    return ("  \(route): \(words)", document.adding(details))
  }

  private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
}
