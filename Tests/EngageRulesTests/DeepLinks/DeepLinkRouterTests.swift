import BatchFoundation
import EngageRules
import Testing

@Suite struct DeepLinkRouterTests {
  @Test(
    arguments: [
      ("app://data/5?a=b=c", ["a=b=c"], ["extra_equals a"]),
      ("app://data/5?=v&&b=1", ["b=1"], ["empty_name"]),
      ("app://data/5?a&b=", ["b="], ["bare_name a"]),
      ("app://data/5?a=1&b=2&a=3", ["a=3", "b=2"], ["duplicate_name a"]),
      ("app://data/5?a=1+2", ["a=1+2"], ["plus_sign a"]),
      ("app://data/5?a=100%&b=%zz", ["a=100%", "b=%zz"], ["bad_percent a", "bad_percent b"]),
      ("app://data/5?a=%ff", ["a=%ff"], ["bad_utf8 a"]),
      ("app://data/5?%C3%A9=%E2%82%AC#x?y=1", ["é=€"], []),
      ("data/5?a=1", ["a=1"], ["no_scheme"]),
      ("app:data/5?a=1", ["a=1"], ["opaque"]),
      ("", [], ["no_scheme"]),
      ("app://x?ParamCampaignValidFor=4h", ["ParamCampaignValidFor=4h"], ["campaign_alias ParamCampaignValidFor"]),
    ] as [(String, [String], [String])])
  func readsTheQuery(url: String, parameters: [String], warnings: [String]) throws {
    try withReading(of: url, routes: nil) { reading in
      #expect(LinkReading.texts(reading.parameters) == parameters)
      #expect(reading.warningCodes == warnings)
      #expect(reading.outcome == .none(trimmed: 0))
    }
  }

  @Test(arguments: [
    // The host is compared as it is written, and any scheme will do.
    ("x://data/5", LinkReading.Outcome.matched(route: 0, trimmed: 0)),
    ("x://d%61ta/5", .fallback(trimmed: 2)),
    ("x://user:pw@data:80/5", .matched(route: 0, trimmed: 0)),
    ("x://data/5/6/7", .matched(route: 0, trimmed: 2)),
    ("x:///data/5", .fallback(trimmed: 2)),
    // `/` is for links with an empty path, before anything is trimmed.
    ("x://home", .matched(route: 1, trimmed: 0)),
    ("x://home/", .matched(route: 1, trimmed: 0)),
    ("x://", .matched(route: 1, trimmed: 0)),
    ("x://other/path", .fallback(trimmed: 2)),
    ("home", .fallback(trimmed: 0)),
    ("x:home", .fallback(trimmed: 0)),
    // A key that begins with `/` is for any host.
    ("x://anything/shop/7", .matched(route: 2, trimmed: 0)),
    ("x:/shop/7/8", .matched(route: 2, trimmed: 1)),
  ])
  func routes(url: String, outcome: LinkReading.Outcome) throws {
    let routes = #"{"logging":"false","defaultRoute":{},"routes":{"data/:id":{},"/":{},"/shop/:id":{}}}"#
    try withReading(of: url, routes: routes) { #expect($0.outcome == outcome) }
  }

  @Test func choosesLiteralsFirstOrTheOrderOfTheFile() throws {
    let routes = """
      {"routes":{"a/:x/:y":{},"/:p/:q":{},"a/:n/c":{"routeParameters":{"n":{"regex":"[0-9]+"}}},"a/1/:z":{},"a/:x/c":{}}}
      """
    func chosen(_ url: String, _ order: RouteOrderPolicy) throws -> LinkReading.Outcome {
      try withReading(of: url, routes: routes, options: LinkOptions(routeOrder: order, ownDomains: [])) { $0.outcome }
    }
    #expect(try chosen("x://a/1/c", .literalFirst) == .matched(route: 3, trimmed: 0))
    #expect(try chosen("x://a/2/c", .literalFirst) == .matched(route: 2, trimmed: 0))
    #expect(try chosen("x://a/b/c", .literalFirst) == .matched(route: 4, trimmed: 0))
    #expect(try chosen("x://a/b/d", .literalFirst) == .matched(route: 0, trimmed: 0))
    #expect(try chosen("x://b/b/d", .literalFirst) == .matched(route: 1, trimmed: 0))
    #expect(try chosen("x://a/1/c", .file) == .matched(route: 0, trimmed: 0))
  }

  @Test(arguments: [
    ("https://www.shop.example/product/5", LinkReading.Outcome.matched(route: 0, trimmed: 0)),
    ("HTTPS://WWW.Shop.Example:443/product/5/more", .matched(route: 0, trimmed: 1)),
    ("app://product/5", .matched(route: 0, trimmed: 0)),
    ("https://m.eu.shop.example/product/5", .matched(route: 0, trimmed: 0)),
    ("https://shop.example/product/5", .fallback(trimmed: 3)),
    ("https://evilshop.example/product/5", .fallback(trimmed: 3)),
    ("app://www.shop.example/product/5", .fallback(trimmed: 3)),
    ("https://www.shop.example/", .fallback(trimmed: 0)),
  ])
  func readsLinksToOwnDomainsLikeLinksToTheApp(url: String, outcome: LinkReading.Outcome) throws {
    let options = LinkOptions(routeOrder: .literalFirst, ownDomains: ["www.shop.example", "*.eu.shop.example"])
    let routes = #"{"defaultRoute":{},"routes":{"product/:id":{}}}"#
    try withReading(of: url, routes: routes, options: options) { #expect($0.outcome == outcome) }
  }

  @Test func deliversRouteParametersWhereAnEngageHandlerIsListed() throws {
    let routes =
      #"{"routes":{"with/:id":{"handlers":["other","engageDefaultHandler"]},"without/:id":{"handlers":["other"]}}}"#
    try withReading(of: "x://with/5?q=1", routes: routes) { reading in
      #expect(reading.deliversRouteParameters)
      #expect(LinkReading.texts(reading.parameters) == ["id=5", "q=1"])
      #expect(reading.warningCodes == ["unknown_handler other"])
    }
    try withReading(of: "x://without/5?q=1", routes: routes) { reading in
      #expect(!reading.deliversRouteParameters)
      #expect(LinkReading.texts(reading.routeParameters) == ["id=5"])
      #expect(LinkReading.texts(reading.parameters) == ["q=1"])
    }
  }

  @Test func theQueryReplacesAPlaceholder() throws {
    let routes = #"{"routes":{"promo/:CurrentCampaign":{"routeParameters":{"CurrentCampaign":{}}},"free/:a":{}}}"#
    try withReading(of: "x://promo/A?CurrentCampaign=B", routes: routes) { reading in
      #expect(LinkReading.texts(reading.routeParameters) == ["CurrentCampaign=B"])
      #expect(reading.warningCodes == ["path_query_collision CurrentCampaign"])
    }
    try withReading(of: "x://free/A?a=B", routes: routes) { reading in
      #expect(LinkReading.texts(reading.routeParameters) == ["a=A"])
      #expect(LinkReading.texts(reading.parameters) == ["a=B"])
    }
  }

  @Test func everyOccurrenceOfADeclaredNameHasToMatch() throws {
    let routes = #"{"routes":{"data":{"routeParameters":{"n":{"regex":"[0-9]+"}}}}}"#
    try withReading(of: "x://data?n=a&n=1", routes: routes) { #expect($0.outcome == .none(trimmed: 1)) }
    try withReading(of: "x://data?n=2&n=1", routes: routes) { #expect($0.outcome == .matched(route: 0, trimmed: 0)) }
  }

  @Test func aValueTooLongForAnExpressionIsNoMismatch() throws {
    let routes = #"{"defaultRoute":{},"routes":{"data":{},"data/:n":{"routeParameters":{"n":{"regex":"a+"}}}}}"#
    let url = "x://data/" + String(repeating: "a", count: LinearRegex.longestValue)
    try withReading(of: url, routes: routes) { #expect($0.outcome == .matched(route: 1, trimmed: 0)) }
    try withReading(of: url + "a", routes: routes) { reading in
      #expect(reading.outcome == .fallback(trimmed: 2))
      #expect(reading.warningCodes == ["too_long n"])
    }
  }

  @Test func capturesTrackingWithoutDeclaration() throws {
    let url = "x://a?utm_source=mail&gclid=G&spUserID=me&spJobID=7&other=1"
    try withReading(of: url, routes: nil) { reading in
      #expect(LinkReading.texts(reading.tracking) == ["gclid=G", "spJobID=7", "utm_source=mail"])
      #expect(reading.parameters.count == 5)
    }
  }

  @Test func comparesBytesAndNotCharacters() throws {
    let routes = "{\"routes\":{\"data/\u{E9}\":{}}}"
    try withReading(of: "x://data/%C3%A9", routes: routes) { #expect($0.outcome == .matched(route: 0, trimmed: 0)) }
    try withReading(of: "x://data/e%CC%81", routes: routes) { #expect($0.outcome == .none(trimmed: 2)) }
  }

  @Test func explainsEveryRouteAtEveryLevel() throws {
    let routes = """
      {"routes":{"data/:id":{"routeParameters":{"id":{"regex":"[0-9]"}}},"data/new":{},"data/:any":{},"other":{},
      "data":{"routeParameters":{"n":{"required":"true"}}}}}
      """
    let router = DeepLinkRouter(routes: try RouteFile.read(Array(routes.utf8), name: "routes.json"))
    let arena = Arena()
    let first = router.explain(arena.text("x://data/new"), into: arena)
    #expect(first.reading.outcome == .matched(route: 1, trimmed: 0))
    #expect(first.explanation.levels.count == 1)
    #expect(
      first.explanation.levels[0].verdicts.map(\.verdict) == [
        .expression(parameter: Array("id".utf8), pattern: "[0-9]", given: "new"),
        .passed,
        .shadowed(by: 1),
        .host(wanted: Array("other".utf8), given: "data"),
        .count(wanted: 0, given: 1),
      ])
    let second = router.explain(arena.text("x://data/a/b?q=1"), into: arena)
    #expect(second.reading.outcome == .matched(route: 2, trimmed: 1))
    #expect(second.explanation.levels.map(\.link) == ["x://data/a/b?q=1", "x://data/a?q=1"])
    #expect(
      second.explanation.levels[1].verdicts[1].verdict
        == .literal(index: 0, wanted: Array("new".utf8), given: "a"))
    let third = router.explain(arena.text("x://data"), into: arena)
    #expect(third.explanation.levels[0].verdicts[4].verdict == .missing(parameter: Array("n".utf8)))
    withExtendedLifetime(arena) {}
  }

  @Test func aMillionPartsTakeNoQuadraticTime() throws {
    let routes = #"{"defaultRoute":{},"routes":{"a/:x":{},"/:x":{"routeParameters":{"x":{"regex":"b"}}}}}"#
    let url = "x://b" + String(repeating: "/a", count: 100_000) + "?" + String(repeating: "a&a=1&b%=&", count: 100_000)
    try withReading(of: url, routes: routes) { reading in
      #expect(reading.outcome == .fallback(trimmed: 100_001))
      #expect(LinkReading.texts(reading.parameters) == ["a=1", "b%="])
    }
  }
}
