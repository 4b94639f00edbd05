import ArgumentParser
import BatchFoundation
import Testing

@testable import BatchCommands

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
    #expect(throws: Never.self) { try ExpirationCommand.parse(["1 day", "--from", "2014-01-01"]) }
    #expect(throws: (any Error).self) { try ExpirationCommand.parse(["1 day", "--from", "2014-13-01"]) }
    #expect(throws: (any Error).self) { try LinkCommand.parse(["app://a", "--route-order", "random"]) }
  }

  @Test(
    "A time is RFC 3339, a day, or a word of windows",
    arguments: [
      ("2014-01-01T01:00:00+01:00", "2014-01-01T00:00:00.000Z"), ("2014-01-01", "2014-01-01T00:00:00.000Z"),
      ("now", "2026-03-02T01:15:00.000Z"), ("today", "2026-03-02T00:00:00.000Z"),
      ("yesterday", "2026-03-01T00:00:00.000Z"), ("today-P7D", "2026-02-23T00:00:00.000Z"),
      ("-PT1H", "2026-03-02T00:15:00.000Z"), ("2014-01-01 00:00:00", nil), ("2014-02-30", nil), ("2014-1-1", nil),
      ("Yesterday", nil), ("", nil),
    ])
  func instants(text: String, instant: String?) throws {
    let now = try #require(Instant.parse(rfc3339: "2026-03-02T01:15:00Z"))
    #expect((try? Instant.argument(text, at: now))?.rfc3339 == instant)
  }

  @Test(
    "A time that is none says what to write, and which is not a valid date that there is none",
    arguments: [
      ("2026-02-30", "there is no such date"), ("2026-02-29T08:00:00Z", "there is no such date"),
      ("2026-13-01", "there is no such date"), ("2026-2-1", "write a time as 2026-01-31T08:00:00Z"),
      ("Feb 28", "write a time as"),
    ])
  func noInstants(text: String, words: String) throws {
    do {
      _ = try ExpirationCommand.parse(["1 day", "--from", text])
      Issue.record("taken")
    } catch {
      #expect(ExpirationCommand.message(for: error).contains(words), "\(ExpirationCommand.message(for: error))")
    }
  }
}
