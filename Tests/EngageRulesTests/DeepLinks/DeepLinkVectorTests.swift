import BatchFoundation
import EngageRules
import TestSupport
import Testing

/// The published assertions of the libraries and the cases derived from them.
///
/// Left out on purpose: `execute_handlers`, because this program has no callbacks that apps could register.
@Suite struct DeepLinkVectorTests {
  @Test(arguments: try LinkVector.all("vectors", "match_path"))
  func matchesPaths(vector: LinkVector) throws {
    let routes = routeFile(key: vector["input", "route"]?.string ?? "", route: vector["input", "route_options"])
    try withReading(of: vector["input", "url"]?.string ?? "", routes: routes) { reading in
      let matches = reading.outcome == .matched(route: 0, trimmed: 0)
      #expect(matches == vector["expect", "matches"]?.bool)
      if matches, let expected = vector["expect", "params"] {
        #expect(LinkReading.texts(reading.routeParameters) == expected.texts)
      }
    }
  }

  @Test(arguments: try LinkVector.all("vectors", "match_query"))
  func matchesQueries(vector: LinkVector) throws {
    let routes = routeFile(key: "data", route: vector["input", "route_options"])
    try withReading(of: "app://data?" + (vector["input", "query"]?.string ?? ""), routes: routes) { reading in
      let matches = reading.outcome == .matched(route: 0, trimmed: 0)
      #expect(matches == vector["expect", "matches"]?.bool)
      if matches, let expected = vector["expect", "params"] {
        #expect(LinkReading.texts(reading.routeParameters) == expected.texts)
      }
    }
  }

  @Test(arguments: try LinkVector.all("vectors", "validate_param"))
  func validatesParameters(vector: LinkVector) throws {
    let name = vector["input", "name"]?.string ?? ""
    let routes = routeFile(key: "data", route: vector["input", "route_options"])
    try withReading(of: "app://data?\(name)=\(vector["input", "value"]?.string ?? "")", routes: routes) { reading in
      #expect((reading.outcome == .matched(route: 0, trimmed: 0)) == vector["expect", "valid"]?.bool)
    }
  }

  @Test(arguments: try LinkVector.all("vectors", "required_params"))
  func knowsRequiredParameters(vector: LinkVector) throws {
    let routes = routeFile(key: "data", route: vector["input", "route_options"])
    let file = try RouteFile.read(Array(routes.utf8), name: "routes.json")
    let required = file.routes[0].parameters.filter(\.isRequired).map { String(decoding: $0.name, as: UTF8.self) }
    #expect(required == vector["expect", "required"]?.array?.compactMap(\.string))
  }

  /// Android's tests compare scheme, path and query only.
  @Test(arguments: try LinkVector.all("vectors", "trim"))
  func trimsLinks(vector: LinkVector) throws {
    let arena = Arena()
    let times = Int(vector["input", "times"]?.integer ?? 0)
    let address = LinkAddress(arena.text(vector["input", "url"]?.string ?? ""))
    let trimmed = address.text(withoutLast: times)
    if let expected = vector["expect", "url"]?.string { #expect(trimmed == expected) }
    if let path = vector["expect", "path"]?.string {
      let again = LinkAddress(arena.text(trimmed))
      #expect(again.scheme?.description == vector["expect", "scheme"]?.string)
      #expect(again.segments.map { "/\($0)" }.joined() == path)
      #expect(again.query?.description == vector["expect", "query"]?.string)
    }
  }

  @Test(arguments: try LinkVector.all("vectors", "engage_parse"))
  func readsEngageParameters(vector: LinkVector) throws {
    try withReading(of: vector["input", "url"]?.string ?? "", routes: nil) { reading in
      #expect(LinkReading.texts(reading.parameters) == vector["expect", "params"]?.texts)
    }
  }

  @Test(arguments: try LinkVector.all("derived", "route"))
  func choosesTheIntendedRoute(vector: LinkVector) throws {
    let expected = vector["expect_intended"]
    let routes = vector["input", "config"]?.compactText
    if expected?["outcome"]?.string == "config_error" {
      #expect(throws: FileError.self) { try RouteFile.read(Array((routes ?? "").utf8), name: "routes.json") }
      return
    }
    let file = try RouteFile.read(Array((routes ?? "").utf8), name: "routes.json")
    try withReading(of: vector["input", "url"]?.string ?? "", routes: routes) { reading in
      switch reading.outcome {
      case .matched(let route, _):
        #expect(expected?["outcome"]?.string == "matched")
        #expect(file.routes[route].key == expected?["route"]?.string)
      case .fallback: #expect(expected?["outcome"]?.string == "default")
      case .none: #expect(expected?["outcome"]?.string == "none")
      }
      #expect(reading.outcome.trimmed == Int(expected?["trimmed"]?.integer ?? -1))
      #expect(LinkReading.texts(reading.routeParameters) == expected?["params"]?.texts)
      if let engage = vector["expect_engage", "params"] {
        #expect(LinkReading.texts(reading.parameters) == engage.texts)
      }
    }
  }

  @Test(arguments: try LinkVector.all("derived", "engage_parse_sequence"))
  func forgetsEarlierLinks(vector: LinkVector) throws {
    var file: RouteFile?
    if let config = vector["input", "config"], config.members != nil {
      file = try RouteFile.read(Array(config.compactText.utf8), name: "routes.json")
    }
    let router = DeepLinkRouter(routes: file)
    let arena = Arena()
    let urls = vector["input", "urls"]?.array ?? []
    for (url, expected) in zip(urls, vector["expect_intended"]?.array ?? []) {
      let reading = router.read(arena.text(url.string ?? ""), into: arena)
      #expect(LinkReading.texts(reading.parameters) == expected.texts)
    }
  }

  @Test(arguments: try LinkVector.all("regex_table", "regex_table"))
  func acceptsWhatFullyMatches(vector: LinkVector) throws {
    let pattern = vector["pattern"]?.string ?? ""
    let routes = routeFile(
      key: "data",
      route: JSONNode(
        .object([
          JSONMember(
            key: "routeParameters",
            value: JSONNode(
              .object([
                JSONMember(
                  key: "n",
                  value: JSONNode(.object([JSONMember(key: "regex", value: JSONNode(.string(pattern)))])))
              ])))
        ])))
    guard let intended = vector["intended"]?.bool else {
      #expect(throws: FileError.self) { try RouteFile.read(Array(routes.utf8), name: "routes.json") }
      return
    }
    try withReading(of: "app://data?n=" + (vector["value"]?.string ?? ""), routes: routes) { reading in
      #expect((reading.outcome == .matched(route: 0, trimmed: 0)) == intended)
    }
  }

  @Test(arguments: try LinkVector.all("config", "config"))
  func readsOrRefusesRouteFiles(vector: LinkVector) throws {
    let bytes = Array((vector["text"]?.string ?? "").utf8)
    let intended = vector["intended"]?.string ?? ""
    if intended.contains("error"), !intended.contains("accept") {
      #expect(throws: FileError.self) { try RouteFile.read(bytes, name: "routes.json") }
    } else {
      let file = try RouteFile.read(bytes, name: "routes.json")
      if intended.contains("warning") { #expect(file.notes.contains { $0.severity == .warning }) }
    }
  }

  /// `dl-q1` expects that `a=b=c` is dropped; here `a` is `b=c` (reference decisions 17).
  @Test(arguments: try EngageLinkVector.all().filter { $0.id != "dl-q1" })
  func readsTheEngageCases(vector: EngageLinkVector) throws {
    try withReading(of: vector.url, routes: vector.routes) { reading in
      #expect(LinkReading.texts(reading.parameters) == vector.parameters)
    }
  }

  private func routeFile(key: String, route: JSONNode?) -> String {
    "{\"logging\":\"false\",\"routes\":{\"\(key)\":\(route?.compactText ?? "{}")}}"
  }
}

/// One case of `deep_link` in `engage-events.json`.
struct EngageLinkVector: Sendable, CustomTestStringConvertible {
  var id: String
  var url: String
  var routes: String?
  var parameters: [String]

  var testDescription: String { id }

  static func all() throws -> [EngageLinkVector] {
    let routers = try Vectors.node("engage-events", ["deep_link", "routers"])
    let cases = try Vectors.cases("engage-events", "deep_link", "vectors") { $0["url"] != nil && $0["params"] != nil }
    return cases.map { test in
      EngageLinkVector(
        id: test.id, url: test["url"]?.string ?? "",
        routes: test["router"]?.string.flatMap { routers[$0]?.compactText },
        parameters: test["params"]?.texts ?? [])
    }
  }
}
