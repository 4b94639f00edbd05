import BatchFoundation
import BatchReport
import EngageRules
import Testing

@testable import BatchCommands

extension LinkReport {
  fileprivate var text: String { facts.lines.map(\.text).joined(separator: "\n") }
}

@Suite struct LinkReportTests {
  private static let options = LinkOptions(routeOrder: .literalFirst, ownDomains: [])
  private let router: DeepLinkRouter

  init() throws {
    let routes = """
      {"logging":"false","defaultRoute":{"handlers":["postSilverpop"]},"routes":{
      "test/:testId":{"handlers":["postSilverpop","log"],"routeParameters":{"testId":{"required":"true","regex":"[0-9]+"}}},
      "test/new":{},
      "test/:any":{}}}
      """
    router = DeepLinkRouter(routes: try RouteFile.read(Array(routes.utf8), name: "routes.json"), options: Self.options)
  }

  @Test func explainsInWords() {
    let report = LinkReport("app://test/5/more?utm_source=mail&b", router: router)
    #expect(
      report.text == """
        outcome: matched
        route: test/:testId (routes.json:2:1)
        trimmed: 1
        handler: postSilverpop
        handler: log (unknown, skipped)
        route parameters:
          testId = 5
        passed to campaign rules:
          testId = 5
          utm_source = mail
        tracking:
          utm_source = mail
        warning: bare_name 'b'
        warning: ambiguous 'test/:testId'
        warning: unknown_handler 'log'
        level 0: app://test/5/more?utm_source=mail&b
          test/:testId: expects 1 segment after the host, not 2
          test/new: expects 1 segment after the host, not 2
          test/:any: expects 1 segment after the host, not 2
        level 1: app://test/5?utm_source=mail&b
          test/:testId: matches
          test/new: expects 'new' as segment 1, not '5'
          test/:any: matches too, but 'test/:testId' comes first
        """)
  }

  @Test func saysWhenParametersAreNotPassedOn() {
    let report = LinkReport("app://test/x", router: router)
    #expect(report.text.contains("route: test/:any (routes.json:4:1)\n"))
    #expect(report.text.contains("\n  not passed on: the route lists neither postSilverpop nor engageDefaultHandler\n"))
    #expect(report.text.contains("\n  test/:testId: expects 'testId' to match '[0-9]+', which 'x' does not\n"))
  }

  @Test func reportsTheSameAsJSON() {
    let json = LinkReport("app://other?a=1", router: router).facts.document
    #expect(json["outcome"]?.string == "default")
    #expect(json["trimmed"]?.integer == 1)
    #expect(json["handlers"]?.array?.first?["name"]?.string == "postSilverpop")
    #expect(json["parameters"]?["a"]?.string == "1")
    #expect(json["levels"]?.array?.count == 1)
    #expect(json["levels"]?.array?[0]["routes"]?.array?[0]["verdict"]?.string == "host")
    #expect(json["levels"]?.array?[0]["routes"]?.array?[0]["want"]?.string == "test")
  }

  @Test func readsTheQueryWithoutRoutes() {
    let report = LinkReport("app://x?a=1", router: DeepLinkRouter(routes: nil, options: Self.options))
    #expect(report.text == "outcome: none\ntrimmed: 0\npassed to campaign rules:\n  a = 1")
  }

  @Test func spellsControlCharactersOut() {
    let report = LinkReport("app://x?a=%1b[2J%0A%E2%80%AEb", router: DeepLinkRouter(routes: nil, options: Self.options))
    #expect(report.text.contains("  a = \\u{1b}[2J\\u{a}\\u{202e}b"))
    #expect(report.facts.document["parameters"]?["a"]?.string == "\u{1B}[2J\n\u{202E}b")
  }
}
