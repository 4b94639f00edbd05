import BatchFoundation
import Testing

@Suite struct DatePatternTests {
  /// 2026-03-02T15:04:05.067Z
  static let instant = Instant(milliseconds: 1_772_463_845_067)

  @Test(arguments: [
    ("yyyy'-'MM'-'dd", "2026-03-02"), ("MM'-'dd'-'yyyy", "03-02-2026"), ("MM-dd-yyyy", "03-02-2026"),
    ("MM'/'dd'/'yyyy HH':'mm':'ss", "03/02/2026 15:04:05"), ("MM/dd/yyyy HH:mm:ss zzz", "03/02/2026 15:04:05 GMT"),
    ("M/d/yy h:mm a", "3/2/26 3:04 PM"), ("yyyy-MM-dd'T'HH:mm:ss.SSS'Z'", "2026-03-02T15:04:05.067Z"),
    ("''yy''", "'26'"), ("'it''s' d", "it's 2"), ("HHmm Z X", "1504 +0000 Z"), ("yyyy年", "2026年"),
  ])
  func writes(pattern: String, expected: String) throws {
    #expect(try DatePattern(pattern).format(Self.instant) == expected)
  }

  @Test func writesMidnightAndNoon() throws {
    let pattern = try DatePattern("yyyy-MM-dd hh a")
    #expect(pattern.format(Instant(milliseconds: 0)) == "1970-01-01 12 AM")
    #expect(pattern.format(Instant(milliseconds: 43_200_000)) == "1970-01-01 12 PM")
    #expect(pattern.format(.last) == "9999-12-31 11 PM")
  }

  @Test(arguments: [
    ("", DatePattern.Refusal.empty), ("MMM", .unknownField("MMM")), ("yyy", .unknownField("yyy")),
    ("'x", .unclosedQuote),
    ("dd of MM", .unknownField("o")), ("YYYY", .unknownField("YYYY")),
  ])
  func refuses(pattern: String, expected: DatePattern.Refusal) {
    #expect(throws: expected) { try DatePattern(pattern) }
  }
}
