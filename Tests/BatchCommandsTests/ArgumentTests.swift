import ArgumentParser
import BatchCommands
import BatchFoundation
import Testing

@Suite struct ArgumentTests {
  @Test func parsesTheArgumentsOfLinkAndExpiration() throws {
    #expect(throws: Never.self) {
      try LinkCommand.parse([
        "app://a?b=1", "--routes", "f.json", "--route-order", "file", "--own-domain", "*.shop.example", "--format",
        "json",
      ])
    }
    #expect(throws: Never.self) {
      try ExpirationCommand.parse(["1 day", "--from", "2014-01-01T01:00:00+01:00", "--compat", "--format", "json"])
    }
    #expect(throws: (any Error).self) { try ExpirationCommand.parse(["1 day", "--from", "2014-01-01"]) }
    #expect(throws: (any Error).self) { try LinkCommand.parse(["app://a", "--route-order", "random"]) }
  }

  @Test func readsInstantsInRFC3339Only() {
    #expect(Instant(argument: "2014-01-01T01:00:00+01:00") == Instant(milliseconds: 1_388_534_400_000))
    #expect(Instant(argument: "2014-01-01 00:00:00") == nil)
  }
}
