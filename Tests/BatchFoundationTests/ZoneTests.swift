import FoundationEssentials
import TestSupport
import Testing

@testable import BatchFoundation

@Suite("Time zones") struct ZoneTests {
  /// A file of the form of RFC 9636, whose second block has these transitions.
  static func file(_ transitions: [(Int64, UInt8)], _ offsets: [Int32], footer: String, leapSeconds: UInt32 = 0)
    -> [UInt8]
  {
    func bytes(_ number: some FixedWidthInteger) -> [UInt8] { withUnsafeBytes(of: number.bigEndian, Array.init) }
    func block(_ transitions: [(Int64, UInt8)], _ offsets: [Int32], size: Int) -> [UInt8] {
      var block = Array("TZif2".utf8) + [UInt8](repeating: 0, count: 15)
      for count in [0, 0, leapSeconds, UInt32(transitions.count), UInt32(offsets.count), 4] { block += bytes(count) }
      for (second, _) in transitions { block += bytes(second) }
      block += transitions.map(\.1)
      for offset in offsets { block += bytes(offset) + [0, 0] }
      block += Array("LMT\0".utf8)
      block += [UInt8](repeating: 0, count: Int(leapSeconds) * (size + 4))
      return block
    }
    return block([], [0], size: 4) + block(transitions, offsets, size: 8) + Array("\n\(footer)\n".utf8)
  }

  /// London from 1972 on, by its rule alone.
  static let london = Zone(name: "L", tzif: file([], [0], footer: "GMT0BST,M3.5.0/1,M10.5.0"))

  static func instant(_ text: String) throws -> Instant { try #require(Instant.parse(rfc3339: text)) }

  @Test(
    "The day before and after a change of clocks",
    arguments: [
      // instant, begin of its day, begin of the next
      ("2026-03-28T12:00:00Z", "2026-03-28T00:00:00.000Z", "2026-03-29T00:00:00.000Z"),
      ("2026-03-29T12:00:00Z", "2026-03-29T00:00:00.000Z", "2026-03-29T23:00:00.000Z"),
      ("2026-03-29T23:30:00Z", "2026-03-29T23:00:00.000Z", "2026-03-30T23:00:00.000Z"),
      ("2026-10-25T12:00:00Z", "2026-10-24T23:00:00.000Z", "2026-10-26T00:00:00.000Z"),
      ("2026-10-26T00:00:00Z", "2026-10-26T00:00:00.000Z", "2026-10-27T00:00:00.000Z"),
    ])
  func days(instant: String, begin: String, next: String) throws {
    let zone = try #require(Self.london)
    let instant = try Self.instant(instant)
    #expect(zone.startOfDay(instant).rfc3339 == begin)
    #expect(zone.startOfDay(instant, plus: 1).rfc3339 == next)
  }

  @Test("A limited zone has the transitions of its span, and is the same after it was stored")
  func limited() throws {
    let times = try [2000, 2010, 2020, 2030].map { try Self.instant("\($0)-06-01T00:00:00Z").milliseconds / 1000 }
    let transitions = zip(times, [1, 2, 3, 0] as [UInt8]).map { ($0, $1) }
    let zone = try #require(
      Zone(name: "Z", tzif: Self.file(transitions, [0, 3600, 7200, 10800], footer: "GMT0BST,M3.5.0/1,M10.5.0")))
    let span = try Self.instant("2015-01-01T00:00:00Z")...Self.instant("2025-01-01T00:00:00Z")
    let limited = zone.limited(to: span)
    #expect(limited.transitions == [Zone.Transition(second: times[2], offset: 10800)])
    #expect(limited.name == "Z" && limited.firstOffset == 7200)
    for zone in [limited, try #require(Self.london).limited(to: span)] {
      #expect(try JSONDecoder().decode(Zone.self, from: JSONEncoder().encode(zone)) == zone)
    }
    for year in 2015..<2020 {
      let time = try Self.instant("\(year)-07-01T00:00:00Z")
      #expect(limited.civil(time).hour == 2 && Self.london?.limited(to: span).civil(time).hour == 1)
    }
  }

  @Test("A clock time that is skipped is the instant of the skip, one that comes twice the first")
  func skippedAndTwice() throws {
    let zone = try #require(Self.london)
    let skipped = try #require(CivilTime(year: 2026, month: 3, day: 29, hour: 1, minute: 30))
    #expect(zone.instant(skipped).rfc3339 == "2026-03-29T01:00:00.000Z")
    let twice = try #require(CivilTime(year: 2026, month: 10, day: 25, hour: 1, minute: 30))
    #expect(zone.instant(twice).rfc3339 == "2026-10-25T00:30:00.000Z")
  }

  @Test("A day that begins in the middle of a skip begins at its end; a day that does not exist is the next one")
  func skippedMidnights() throws {
    // Clocks go from 23:30 to 00:30.
    let half = try #require(
      Zone(name: "H", tzif: Self.file([(1_767_310_200, 1)], [0, 3600], footer: "<+01>-1")))
    #expect(half.startOfDay(try Self.instant("2026-01-02T12:00:00Z")).rfc3339 == "2026-01-01T23:30:00.000Z")
    // Samoa went over the date line at the end of 2011-12-29.
    let samoa = try #require(
      Zone(name: "S", tzif: Self.file([(1_325_239_200, 1)], [-36_000, 50_400], footer: "<+14>-14")))
    let before = try Self.instant("2011-12-30T09:00:00Z")
    #expect(samoa.startOfDay(before).rfc3339 == "2011-12-29T10:00:00.000Z")
    #expect(samoa.startOfDay(before, plus: 1).rfc3339 == "2011-12-30T10:00:00.000Z")
    #expect(samoa.startOfDay(before, plus: 2).rfc3339 == "2011-12-30T10:00:00.000Z")
    #expect(samoa.startOfDay(before, plus: 3).rfc3339 == "2011-12-31T10:00:00.000Z")
  }

  @Test(
    "Rules of every form",
    arguments: [
      ("EST5EDT,M3.2.0,M11.1.0", "2026-07-01T00:00:00Z", -14_400),
      ("EST5EDT,M3.2.0,M11.1.0", "2026-03-08T06:59:59Z", -18_000),
      ("EST5EDT,M3.2.0,M11.1.0", "2026-03-08T07:00:00Z", -14_400),
      ("EST5EDT,M3.2.0,M11.1.0", "2026-11-01T05:59:59Z", -14_400),
      ("EST5EDT,M3.2.0,M11.1.0", "2026-11-01T06:00:00Z", -18_000), ("<+0330>-3:30", "2026-07-01T00:00:00Z", 12_600),
      // South of the equator summer begins in one year and ends in the next.
      ("AEST-10AEDT,M10.1.0,M4.1.0/3", "2026-01-01T00:00:00Z", 39_600),
      ("AEST-10AEDT,M10.1.0,M4.1.0/3", "2026-07-01T00:00:00Z", 36_000),
      // Dublin's winter is what is set, by an hour less.
      ("IST-1GMT0,M10.5.0,M3.5.0/1", "2026-07-01T00:00:00Z", 3600),
      ("IST-1GMT0,M10.5.0,M3.5.0/1", "2026-01-01T00:00:00Z", 0),
      // Hours before and after the day itself, and days by number.
      ("<-02>2<-01>,M3.5.0/-1,M10.5.0/0", "2026-03-29T01:00:00Z", -3600),
      ("<-02>2<-01>,M3.5.0/-1,M10.5.0/0", "2026-03-29T00:59:59Z", -7200),
      ("AAA0BBB,J60/0,J300/0", "2024-03-01T00:00:00Z", 3600), ("AAA0BBB,J60/0,J300/0", "2024-02-29T23:59:59Z", 0),
      ("AAA0BBB,59/0,299/0", "2024-02-29T00:00:00Z", 3600), ("AAA0BBB,59/0,299/0", "2024-02-28T23:59:59Z", 0),
    ])
  func rules(rule: String, instant: String, offset: Int64) throws {
    let zone = try #require(Zone(name: "R", tzif: Self.file([], [0], footer: rule)))
    #expect(zone.offset(at: try Self.instant(instant).milliseconds / 1000) == offset)
  }

  @Test("Transitions count up to the last, and the rule from there on")
  func transitions() throws {
    let zone = try #require(
      Zone(name: "T", tzif: Self.file([(100, 1), (200, 2)], [0, 3600, 7200], footer: "<+03>-3")))
    #expect([99, 100, 199, 200, 1000].map(zone.offset(at:)) == [0, 3600, 3600, 10_800, 10_800])
    let ruleless = try #require(Zone(name: "T", tzif: Self.file([(100, 1), (200, 2)], [0, 3600, 7200], footer: "")))
    #expect([99, 200, 1000].map(ruleless.offset(at:)) == [0, 7200, 7200])
  }

  @Test("A file that is cut off, damaged, or counts leap seconds is not a zone")
  func damaged() throws {
    let file = Self.file([(100, 1), (200, 0)], [0, 3600], footer: "GMT0BST,M3.5.0/1,M10.5.0")
    #expect(Zone(name: "D", tzif: file) != nil)
    for count in 0..<file.count { #expect(Zone(name: "D", tzif: Array(file[..<count])) == nil, "\(count)") }
    let refused: [([(Int64, UInt8)], [Int32], String)] = [
      ([(100, 2)], [0], ""), ([(200, 0), (100, 0)], [0], ""), ([], [], ""),
      ([], [200_000], ""), ([], [0], "GMT"), ([], [0], "GMT0BST"), ([], [0], "GMT0BST,M13.5.0,M10.5.0"),
      ([], [0], "GMT0BST,M3.5.0/168,M10.5.0"), ([], [0], "GMT0 "),
    ]
    for (transitions, offsets, footer) in refused {
      #expect(Zone(name: "D", tzif: Self.file(transitions, offsets, footer: footer)) == nil, "\(footer)")
    }
    #expect(Zone(name: "D", tzif: Self.file([], [0], footer: "GMT0", leapSeconds: 1)) == nil)
  }

  @Test(
    "Signed ISO 8601 durations",
    arguments: [
      ("2026-01-31T10:00:00.250Z", "+P1M", "2026-02-28T10:00:00.250Z"),
      ("2026-03-28T00:00:00Z", "+P1D", "2026-03-29T00:00:00.000Z"),
      // The clock keeps its time, whatever the day's length.
      ("2026-03-29T00:00:00Z", "+P1D", "2026-03-29T23:00:00.000Z"),
      ("2026-03-29T00:00:00Z", "+PT24H", "2026-03-30T00:00:00.000Z"),
      ("2026-01-01T00:00:00Z", "-P1W2D", "2025-12-23T00:00:00.000Z"),
      ("2024-02-29T00:00:00Z", "-P1Y", "2023-02-28T00:00:00.000Z"),
      ("2026-01-01T00:00:00Z", "-P1Y2M3DT4H5M6S", "2024-10-28T19:54:54.000Z"),
    ])
  func spans(instant: String, span: String, result: String) throws {
    let zone = try #require(Self.london)
    let span = try #require(CalendarSpan(span))
    #expect(zone.instant(try Self.instant(instant), plus: span)?.rfc3339 == result)
  }

  @Test(
    "Durations that are refused",
    arguments: [
      "P1D", "-P", "+PT", "-P1", "-1D", "-P1H", "-PT1D", "-P1D1Y", "-P1.5D", "-P-1D", "-P1DT", "-P123456D", "-p1d",
    ])
  func refusedSpans(text: String) { #expect(CalendarSpan(text) == nil) }

  @Test("Nothing before 1970 and after 9999")
  func bounds() throws {
    #expect(Zone.utc.instant(try Self.instant("1970-01-02T00:00:00Z"), plus: try #require(CalendarSpan("-P2D"))) == nil)
    #expect(Zone.utc.instant(try Self.instant("1970-01-02T00:00:00Z"), plus: try #require(CalendarSpan("-P1M"))) == nil)
    #expect(Zone.utc.instant(.last, plus: try #require(CalendarSpan("+PT1S"))) == nil)
  }
}
