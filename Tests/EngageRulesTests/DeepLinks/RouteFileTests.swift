import BatchFoundation
import EngageRules
import Testing

@Suite struct RouteFileTests {
  @Test(
    arguments: [
      ("", ["f:1:1: error: not valid JSON"]),
      ("[]", ["f:1:1: error: the top level is an array, but must be an object"]),
      ("{\n \"routes\": [] }", ["f:2:12: error: 'routes' is an array, but must be an object"]),
      (
        "{\"routes\":{\"a\":1,\n\"b\":\"x\"}}",
        [
          "f:1:16: error: 'routes.a' is an integer, but must be an object",
          "f:2:5: error: 'routes.b' is a string, but must be an object",
        ]
      ),
      (
        "{\"routes\":{\"a\":{\"routeParameters\":{\"p\":{\"regex\":5}}}}}",
        [
          "f:1:49: error: 'routes.a.routeParameters.p.regex' is an integer, but must be a string"
        ]
      ),
      (
        "{\"routes\":{\"a\":{\"routeParameters\":{\"p\":{\"regex\":\"a[\"}}}}}",
        [
          "f:1:49: error: 'regex' of 'p' of the route 'a' is unusable: '[' is never closed, at character 2 of 'a['"
        ]
      ),
      (
        "{\"routes\":{\"a\":{\"routeParameters\":[]}},\"defaultRoute\":\"x\"}",
        [
          "f:1:35: error: 'routes.a.routeParameters' is an array, but must be an object",
          "f:1:55: error: 'defaultRoute' is a string, but must be an object",
        ]
      ),
    ] as [(String, [String])])
  func refusesWithThePlace(text: String, faults: [String]) {
    let error = #expect(throws: FileError.self) { try RouteFile.read(Array(text.utf8), name: "f") }
    #expect(error?.faults.map(\.description) == faults)
  }

  @Test func acceptsViewFieldsInSilence() throws {
    let text = """
      {"logging":"true","storyboard":{"iPhone":"Main"},"extra":[1],
       "defaultRoute":{"class":"A","storyboard":"Main","identifier":"x"},
       "routes":{"a/:b":{"class":"B","storyboard":"Main","handlers":["postSilverpop"],"unknown":null}}}
      """
    #expect(try notes(text) == [])
  }

  @Test(
    arguments: [
      (
        "{}",
        [
          "f:1:1: warning: 'logging' is missing; the Android library then stops reading the file",
          "f:1:1: warning: 'routes' is missing; every link goes to the default route",
          "f:1:1: warning: 'defaultRoute' is missing; the Android library crashes on a link that no route matches",
        ]
      ),
      (
        file("\"a\": /* c */ {}"),
        ["f:2:6: warning: comments are not JSON; the iOS library rejects the whole file"]
      ),
      (file("\"a\":{},\"a\":{}"), ["f:2:8: warning: the key 'a' is repeated; the last value counts"]),
      (
        file("\"a\":{\"handlers\":\"postSilverpop\"}"),
        ["f:2:17: warning: 'handlers' is a string; the libraries need an array"]
      ),
      (
        file("\"a\":{\"routeParameters\":{\"p\":{\"required\":\"True\"}}}"),
        [
          "f:2:41: warning: 'required' of 'p' of the route 'a' is 'True', which only Android reads as true; read here as true"
        ]
      ),
      (
        file("\"a\":{\"routeParameters\":{\"p\":{\"required\":true}}}"),
        [
          "f:2:41: warning: 'required' of 'p' of the route 'a' is a boolean, which the iOS library reads as false; read here as true"
        ]
      ),
      (file("\"\":{}"), ["f:2:1: warning: the route key is empty; it matches no link"]),
      (
        file("\":a/b\":{}"),
        [
          "f:2:1: warning: the host of route ':a/b' is compared as text; a host cannot be a placeholder"
        ]
      ),
      (
        file("\"a/b?c\":{}"),
        [
          "f:2:1: warning: '?' in the route key 'a/b?c' is compared with decoded text; it is not a delimiter"
        ]
      ),
      (file("\"a/:\":{}"), ["f:2:1: warning: ':' without a name in the route key 'a/:' is compared as text"]),
      (
        file("\"a/:b/:b\":{}"),
        [
          "f:2:1: warning: the placeholder ':b' is repeated in 'a/:b/:b'; the last value counts"
        ]
      ),
      (
        file("\"a/:b\":{},\"a/:c\":{}"),
        [
          "f:2:11: warning: the route 'a/:c' matches the same links as 'a/:b', which comes first and wins"
        ]
      ),
      (
        file("\"a\":{\"handlers\":[\"h\"]}"),
        [
          "f:2:1: warning: unknown handler 'h' in route 'a'; skipped"
        ]
      ),
      (
        file("\"a/:b\":{\"routeParameters\":{\"b\":{\"regex\":\"[0-9]\"}}}"),
        [
          "f:2:28: warning: '[0-9]' matches a single character; 'b' may need '[0-9]+'",
          "f:2:28: note: a query parameter 'b' overrides the placeholder of that name",
        ]
      ),
    ] as [(String, [String])])
  func notesWhatIsOdd(text: String, expected: [String]) throws {
    #expect(try notes(text) == expected)
  }

  @Test func theLastOfTwoEqualKeysCounts() throws {
    let text = Self.file("\"a\":{\"handlers\":[\"x\"]},\"b\":{},\"a\":{\"handlers\":[\"postSilverpop\"]}")
    let file = try RouteFile.read(Array(text.utf8), name: "f")
    #expect(file.routes.map(\.key) == ["a", "b"])
    #expect(file.routes[0].handlers.map(\.name) == ["postSilverpop"])
  }

  @Test func readsManyRoutesInLinearTime() throws {
    let routes = (0..<5000).map { "\"h\($0)/:a\":{\n\"routeParameters\":{\"a\":{}}}" }.joined(separator: ",\n")
    let file = try RouteFile.read(Array(Self.file(routes).utf8), name: "f")
    #expect(file.routes.count == 5000)
    #expect(file.routes[4999].place?.line == 10_000)
    #expect(file.notes.count == 5000)
  }

  private static func file(_ routes: String) -> String {
    "{\"logging\":\"false\",\"defaultRoute\":{},\"routes\":{\n\(routes)}}"
  }

  private func notes(_ text: String) throws -> [String] {
    try RouteFile.read(Array(text.utf8), name: "f").notes.map(\.description)
  }
}
