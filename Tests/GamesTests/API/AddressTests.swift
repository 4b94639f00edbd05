import BatchFoundation
import BatchWire
import Foundation
import TestSupport
import Testing

@testable import Games

@Suite struct AddressTests {
  /// The SDKs leave plain `http` in an address that is built without being fixed first; this program never sends in the clear.
  private static func expected(_ text: String) -> String {
    text.replacingOccurrences(of: "http://", with: "https://")
  }

  @Test(arguments: try Vector.all("url", "buildUrl"))
  func addressesAreBuiltAsTheSDKsBuildThem(_ vector: Vector) throws {
    let given = try #require(vector["given"])
    let address = try EnvironmentAddress(
      endpoint: given["endpoint"]?.string ?? "", key: Secret(given["environmentKey"]?.string ?? ""),
      hashSecret: given["hashSecret"]?.string.map(Secret.init))
    let body = Array((given["payload"]?.string ?? "").utf8)
    let url = address.service.url(address.target(given["bulk"]?.bool == true ? "bulk" : nil, for: body))
    #expect(url == Self.expected(vector["expect"]?.string ?? ""))
  }

  @Test(arguments: try Vector.all("url", "fixUrl"))
  func endpointsBecomeSecure(_ vector: Vector) {
    #expect(EnvironmentAddress.secured(vector["given"]?["url"]?.string ?? "") == vector["expect"]?.string)
  }

  @Test(arguments: try Vector.all("url", "hash"))
  func hashesAreOfTheBytesAndTheSecret(_ vector: Vector) throws {
    let given = try #require(vector["given"])
    let body = try #require(given["bodyUtf8Base64"]?.string.flatMap { Data(base64Encoded: $0) })
    let hash = BodyHash(of: Array(body), secret: Secret(given["secret"]?.string ?? ""))
    #expect(hash.text == vector["expect"]?["lower"]?.string)
    #expect(hash.matches(vector["expect"]?["upper"]?.string ?? ""))
    #expect(!hash.matches("0" + hash.text.dropFirst(2) + "0"))
  }

  @Test func onlyTheLoopbackIsSpokenToInPlainText() throws {
    #expect(EnvironmentAddress.secured("HTTP://collect.example/collect/api") == "https://collect.example/collect/api")
    #expect(EnvironmentAddress.secured("http://127.0.0.1:8080/x") == "http://127.0.0.1:8080/x")
    #expect(EnvironmentAddress.secured("http://localhost:8080") == "http://localhost:8080")
    #expect(EnvironmentAddress.secured("http://[::1]:8080") == "http://[::1]:8080")
    #expect(EnvironmentAddress.secured("127.0.0.1:8080/x") == "https://127.0.0.1:8080/x")
    #expect(EnvironmentAddress.secured("http://127.0.0.1.example.org") == "https://127.0.0.1.example.org")
  }

  @Test func slashesAtTheEndOfAnEndpointAreNotDoubled() throws {
    let address = try EnvironmentAddress(
      endpoint: "collect.example/collect/api//", key: Secret("k"), hashSecret: Secret(""))
    #expect(address.service.url(address.target("bulk", for: [])) == "https://collect.example/collect/api/k/bulk")
  }

  @Test(arguments: ["", ".", "..", "a/b", "a b", "a?b", "a%20b", "schlüssel"])
  func aKeyThatCannotStandInAnAddressIsRefused(_ key: String) {
    #expect(throws: EnvironmentAddress.Fault.key) {
      try EnvironmentAddress(endpoint: "collect.example", key: Secret(key), hashSecret: nil)
    }
  }

  @Test func noFormOfAnAddressShowsTheKeyOrTheSecret() throws {
    let address = try EnvironmentAddress(
      endpoint: "collect.example/collect/api/k-12345/", key: Secret("k-12345"), hashSecret: Secret("s-67890"))
    #expect(address.shown == "https://collect.example/collect/api/<redacted>")
    let both = try EnvironmentAddress(
      endpoint: "collect.example/s-67890/k-12345", key: Secret("k-12345"), hashSecret: Secret("s-67890"))
    #expect(both.shown == "https://collect.example/<redacted>/<redacted>")
    var dumped = ""
    dump(
      try EnvironmentAddress(endpoint: "collect.example", key: Secret("k-12345"), hashSecret: Secret("s-67890")),
      to: &dumped)
    #expect(!dumped.contains("k-12345") && !dumped.contains("s-67890"))
  }
}
