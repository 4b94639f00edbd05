import BatchFoundation
import TestSupport
import Testing

@testable import BatchConfiguration

@Suite("Windows and paths that move with the time of the run") struct RelativeWindowTests {
  static let night = "2026-07-02T01:15:00Z"

  /// The job's window and events, or its faults.
  static func read(
    _ window: String, events: String = "e", asOf: String? = nil, at now: String = night,
    _ changes: CommandLineChanges = .init(),
    environment: [String: String] = [:]
  ) throws -> [String] {
    let asOf = asOf.map { ", \"asOf\": \"\($0)\"" } ?? ""
    let folder = try TemporaryFolder([
      "j.json": "{\"name\": \"j\", \"inputs\": {\"events\": [\"\(events)\"]}\(asOf),\n\"window\": \(window)}"
    ])
    do {
      let instant = try #require(Instant.parse(rfc3339: now))
      let job = try folder.loader(environment, now: instant).load(job: "j.json", changes).job
      let ends = [job.window.from, job.window.to].map { $0?.rfc3339 ?? "open" }
      return ends
        + (events == "e" ? [] : job.inputs.events.flatMap(\.patterns).map { PathText.shown($0, from: folder.path) })
    } catch let error as ConfigurationErrors {
      return error.faults.map(\.description)
    }
  }

  @Test(
    "Words and durations count from the run, by the calendar of the zone",
    arguments: [
      (#"{"from": "yesterday", "to": "today"}"#, "2026-07-01T00:00:00.000Z", "2026-07-02T00:00:00.000Z"),
      // In London it is 02:15, in New York still the evening before.
      (
        #"{"from": "yesterday", "to": "today", "zone": "Europe/London"}"#, "2026-06-30T23:00:00.000Z",
        "2026-07-01T23:00:00.000Z"
      ),
      (
        #"{"from": "yesterday", "to": "today", "zone": "America/New_York"}"#, "2026-06-30T04:00:00.000Z",
        "2026-07-01T04:00:00.000Z"
      ),
      (#"{"from": "-P1D", "to": "now"}"#, "2026-07-01T01:15:00.000Z", "2026-07-02T01:15:00.000Z"),
      (#"{"from": "today-P7D", "to": "tomorrow"}"#, "2026-06-25T00:00:00.000Z", "2026-07-03T00:00:00.000Z"),
      (#"{"from": "-PT36H"}"#, "2026-06-30T13:15:00.000Z", "open"),
      (
        #"{"from": "2026-01-01T00:00:00Z", "to": "yesterday+PT6H"}"#, "2026-01-01T00:00:00.000Z",
        "2026-07-01T06:00:00.000Z"
      ),
      (#"{"from": "2026-01-01T00:00:00Z", "zone": "Europe/London"}"#, "2026-01-01T00:00:00.000Z", "open"),
      (#"{"from": "2026-03-29", "to": "2026-03-30"}"#, "2026-03-29T00:00:00.000Z", "2026-03-30T00:00:00.000Z"),
      (
        #"{"from": "2026-03-29", "to": "2026-03-30", "zone": "Europe/London"}"#, "2026-03-29T00:00:00.000Z",
        "2026-03-29T23:00:00.000Z"
      ),
      (
        #"{"from": "2026-07-01", "to": "today", "zone": "Europe/London"}"#, "2026-06-30T23:00:00.000Z",
        "2026-07-01T23:00:00.000Z"
      ),
    ])
  func resolves(window: String, from: String, to: String) throws { #expect(try Self.read(window) == [from, to]) }

  @Test("They count from asOf where it is given")
  func asOf() throws {
    let window = #"{"from": "yesterday", "to": "today", "zone": "Europe/London"}"#
    #expect(
      try Self.read(window, asOf: "2026-03-30T00:00:00Z") == ["2026-03-29T00:00:00.000Z", "2026-03-29T23:00:00.000Z"])
    let changed = CommandLineChanges(asOf: Instant.parse(rfc3339: "2026-10-26T02:00:00Z"))
    #expect(
      try Self.read(window, asOf: "2026-03-30T00:00:00Z", changed) == [
        "2026-10-24T23:00:00.000Z", "2026-10-26T00:00:00.000Z",
      ])
  }

  @Test("What a window is called is what holds, ends of the command line included")
  func words() throws {
    let folder = try TemporaryFolder([
      "j.json": #"{"name": "j", "inputs": {"events": ["e"]}, "window": {"from": "yesterday", "to": "today"}}"#
    ])
    let from = try #require(Instant.parse(rfc3339: "2026-06-30T00:00:00Z"))
    func words(_ changes: CommandLineChanges) throws -> String? {
      let now = try #require(Instant.parse(rfc3339: Self.night))
      return try folder.loader(now: now).load(job: "j.json", changes).job.relativeWindow?.text
    }
    #expect(try words(CommandLineChanges()) == "yesterday to today, UTC")
    #expect(try words(CommandLineChanges(from: from)) == "2026-06-30T00:00:00.000Z to today, UTC")
    #expect(try words(CommandLineChanges(from: from, to: from + Milliseconds(1))) == nil)
  }

  @Test("Ends of the command line win, and paths follow them")
  func commandLine() throws {
    let changes = CommandLineChanges(
      from: Instant.parse(rfc3339: "2026-01-30T00:00:00Z"), to: Instant.parse(rfc3339: "2026-02-02T00:00:00Z"))
    #expect(
      try Self.read(#"{"from": "yesterday", "to": "today"}"#, events: "x/{yyyy}/{MM}-{dd}/*.gz", changes) == [
        "2026-01-30T00:00:00.000Z", "2026-02-02T00:00:00.000Z", "x/2026/01-30/*.gz", "x/2026/01-31/*.gz",
        "x/2026/02-01/*.gz",
      ])
  }

  @Test(
    "A path stands once for each day that the window touches",
    arguments: [
      (#"{"from": "yesterday", "to": "today"}"#, "{yyyy}{MM}{dd}", ["20260701"]),
      // The hour over midnight belongs to the day before as well.
      (#"{"from": "-PT2H", "to": "now"}"#, "{dd}", ["01", "02"]),
      (#"{"from": "-P40D", "to": "today"}"#, "m-{MM}", ["m-05", "m-06", "m-07"]),
      (
        #"{"from": "2026-03-28T12:00:00Z", "to": "2026-03-29T23:00:00Z", "zone": "Europe/London"}"#, "{dd}",
        ["28", "29"]
      ),
      (#"{"from": "yesterday", "to": "today"}"#, "{0}/{}-{{dd}}", ["{0}/{}-{01}"]),
    ])
  func dated(window: String, path: String, paths: [String]) throws {
    #expect(Array(try Self.read(window, events: path).dropFirst(2)) == paths)
  }

  @Test(
    "What cannot be meant is refused with its place",
    arguments: [
      (
        #"{"from": "yesterdays"}"#, "e",
        "j.json:2: error: 'window.from' is 'yesterdays', which is not an RFC 3339 time or a relative one; write a time such as '2026-01-31T00:00:00Z', '2026-01-31', 'today', 'yesterday', '-P7D' or 'today-P7D'"
      ),
      (
        #"{"from": "2026-02-30"}"#, "e",
        "j.json:2: error: 'window.from' is '2026-02-30', which is not a valid date; write a time such as '2026-01-31T00:00:00Z', '2026-01-31', 'today', 'yesterday', '-P7D' or 'today-P7D'"
      ),
      (
        #"{"from": "P1D"}"#, "e",
        "j.json:2: error: 'window.from' is 'P1D', which is not an RFC 3339 time or a relative one; write a time such as '2026-01-31T00:00:00Z', '2026-01-31', 'today', 'yesterday', '-P7D' or 'today-P7D'"
      ),
      (
        #"{"from": "today", "zone": "Europe/Lodnon"}"#, "e",
        "j.json:2: error: 'window.zone' is 'Europe/Lodnon', which is not a time zone in /usr/share/zoneinfo; write a name such as 'Europe/London', or 'UTC'"
      ),
      (
        #"{"from": "today", "zone": "../zoneinfo/UTC"}"#, "e",
        "j.json:2: error: 'window.zone' is '../zoneinfo/UTC', which is not a time zone in /usr/share/zoneinfo; write a name such as 'Europe/London', or 'UTC'"
      ),
      (
        #"{"from": "today", "to": "yesterday"}"#, "e",
        "j.json:2: error: 'window' (today to yesterday, UTC) is empty for a run at 2026-07-02T01:15:00.000Z; 'to' must be later than 'from'"
      ),
      (
        #"{"from": "today"}"#, "{yyyy}",
        "j.json:1: error: 'inputs.events[0]' contains a date pattern, but the window lacks a start or an end, so its days are unknown; set both 'from' and 'to' in 'window'"
      ),
      (
        #"{"from": "1970-01-01T00:00:00Z", "to": "2026-01-01T00:00:00Z"}"#, "{dd}",
        "j.json:1: error: 'inputs.events[0]' contains a date pattern, but the window spans 20454 days, which exceeds the limit of 4000; use * instead of the date pattern"
      ),
      (
        #"{"from": "yesterday", "to": "today"}"#, "{yyyy}/{mm}",
        "j.json:1: error: 'inputs.events[0]' contains '{mm}', which is not a date pattern; known patterns are {yyyy}, {MM}, {dd}; for a brace in a name, write ?"
      ),
    ])
  func refuses(window: String, events: String, fault: String) throws {
    #expect(try Self.read(window, events: events) == [fault])
  }

  @Test("Inputs of each day of a window that ends before it begins are a fault of the window, and no crash")
  func refusesDaysOfAWindowThatIsTheWrongWayRound() throws {
    #expect(
      try Self.read(#"{"from": "2026-01-03", "to": "2026-01-01"}"#, events: "{yyyy}-{MM}-{dd}") == [
        "j.json:2: error: 'window.to' is not later than 'window.from'"
      ])
  }

  @Test("A machine without time zones knows UTC, and says what is missing")
  func noDatabase() throws {
    let none = ["TZDIR": "/nonexistent/zoneinfo"]
    let window = { (zone: String) in #"{"from": "yesterday", "to": "today", "zone": "\#(zone)"}"# }
    #expect(
      try Self.read(window("UTC"), environment: none) == ["2026-07-01T00:00:00.000Z", "2026-07-02T00:00:00.000Z"])
    #expect(
      try Self.read(window("Europe/London"), environment: none) == [
        "j.json:2: error: 'window.zone' is 'Europe/London', but this machine has no time zones in /nonexistent/zoneinfo; install the time zone database (Debian: tzdata)"
      ])
  }
}
