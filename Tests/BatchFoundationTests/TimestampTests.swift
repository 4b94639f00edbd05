import BatchFoundation
import Testing

@Suite struct TimestampTests {
  @Test(arguments: [
    ("2026-01-01T00:00:00Z", 1_767_225_600_000), ("2026-01-01T00:00:00.9999Z", 1_767_225_600_999),
    ("2024-02-29T23:59:59.5+23:59", 1_709_164_859_500), ("1970-01-01T00:00:00-00:01", 60_000),
    ("9999-12-31T23:59:59.999Z", 253_402_300_799_999), ("2000-03-01T00:00:00Z", 951_868_800_000),
  ])
  func readsRFC3339(text: String, milliseconds: Int64) throws {
    let instant = try #require(Instant.parse(rfc3339: text))
    #expect(instant.milliseconds == milliseconds)
  }

  @Test(arguments: [
    "2026-02-30T00:00:00Z", "2023-02-29T00:00:00Z", "2026-01-01T24:00:00Z", "2026-01-01T00:00:60Z",
    "2026-01-01t00:00:00Z", "2026-01-01T00:00:00z", "2026-01-01T00:00:00", "2026-01-01T00:00:00.Z",
    "2026-01-01T00:00:00+24:00", "2026-01-01T00:00:00+1:00", "1970-01-01T00:00:00+00:01", "2026-13-01T00:00:00Z",
    "2026-00-10T00:00:00Z", "9999-12-31T23:59:59-00:01", "2026-01-01T00:00:00Z ", "",
  ])
  func refusesWhatIsNoInstant(text: String) { #expect(Instant.parse(rfc3339: text) == nil) }

  @Test func readsPlainTextAsUTC() {
    #expect(Instant(plain: "2026-01-01 00:00:00")?.milliseconds == 1_767_225_600_000)
    #expect(Instant(plain: "2026-01-01 00:00:00.120")?.milliseconds == 1_767_225_600_120)
    #expect(Instant(plain: "2026-01-01 00:00:00.12") == nil)
    #expect(Instant(plain: "2026-01-01 00:00:00.") == nil)
    #expect(Instant(plain: "2026-01-01 00:00:00.1234") == nil)
    #expect(Instant(plain: "2026-01-01 00:00:00Z") == nil)
  }

  @Test func everyByteAtEveryPlaceIsADigitOrTheSeparatorThere() {
    let text = Array("2011-11-11 11:11:11".utf8)
    let fields = [0..<4, 5..<7, 8..<10, 11..<13, 14..<16, 17..<19]
    for place in text.indices {
      for byte in UInt8.min ... .max {
        var bytes = text
        bytes[place] = byte
        let isSeparator = !fields.contains { $0.contains(place) }
        let isDigit = (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
        let values = fields.map { $0.reduce(0) { $0 * 10 + Int(bytes[$1]) - 48 } }
        let time = CivilTime(
          year: values[0], month: values[1], day: values[2], hour: values[3], minute: values[4], second: values[5])
        let isRead = isSeparator ? byte == text[place] : isDigit && time != nil && values[0] >= 1970
        let instant = bytes.withUnsafeBufferPointer { Instant(plain: Text($0)) }
        #expect((instant?.milliseconds == time?.milliseconds && instant != nil) == isRead, "\(byte) at \(place)")
      }
    }
  }

  @Test func readsEpochNumbersAsDecimalText() {
    let cases: [(Text, Int64?)] = [
      ("0", 0), ("-0", 0), ("1767225600", 1_767_225_600_000), ("1767225600.0019", 1_767_225_600_001),
      ("99999999999.999", 99_999_999_999_999), ("100000000000", 100_000_000_000),
      ("1767225600123.9", 1_767_225_600_123), ("1.7672256e9", 1_767_225_600_000), ("253402300800000", nil),
      ("-1", nil), ("1e-5", 0), ("1.5e-1", 150), ("1e400", nil), ("0.29", 290),
    ]
    for (text, expected) in cases { #expect(Instant(epoch: text)?.milliseconds == expected, "\(text)") }
  }

  @Test func writesTheFormOfTheWire() {
    #expect(Instant(milliseconds: 1_709_164_859_500).rfc3339 == "2024-02-29T00:00:59.500Z")
    #expect(Instant(milliseconds: 0).rfc3339 == "1970-01-01T00:00:00.000Z")
    #expect(Instant(milliseconds: -1).rfc3339 == "1969-12-31T23:59:59.999Z")
    // The digits of a negative year ended the program with a trap.
    #expect(Instant(milliseconds: -1_000_000_000_000_000).rfc3339 == "0000-04-05T22:13:20.000Z")
    #expect(Instant(milliseconds: -62_167_219_200_000).rfc3339 == "0000-01-01T00:00:00.000Z")
    #expect(Instant(milliseconds: -86_400_000).rfc3339 == "1969-12-31T00:00:00.000Z")
    #expect(Instant.last.rfc3339 == "9999-12-31T23:59:59.999Z")
  }

  @Test func everyDayOfTheCalendarReadsBackAsItself() {
    var day: Int64 = 0
    while day <= Instant.last.milliseconds {
      let instant = Instant(milliseconds: day)
      #expect(Instant.parse(rfc3339: instant.rfc3339) == instant)
      day += 86_400_000 * 97 + 1
    }
  }
}
