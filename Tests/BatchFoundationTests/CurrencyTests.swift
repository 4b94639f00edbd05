import BatchFoundation
import Testing

@Suite struct CurrencyTests {
  @Test(
    arguments: [
      ("1.23", 2, 123), ("1.235", 2, 123), ("0", 2, 0), ("0.29", 2, 29), ("-0.009", 2, 0), ("-1.239", 2, -123),
      ("0.001", 3, 1), ("1200.9", 0, 1200), ("4.99e2", 2, 49900), ("499E-2", 2, 499), ("0.00499e3", 2, 499),
      ("1e-400", 2, 0), ("0e400", 2, 0), ("0.0000", 2, 0), ("92233720368547758.07", 2, .max),
      ("-92233720368547758.08", 2, .min), ("92233720368547758.0799999", 2, .max),
      ("1e16", 2, 1_000_000_000_000_000_000),
    ] as [(StaticString, Int, Int64)])
  func `a value becomes minor units without rounding`(value: StaticString, digits: Int, units: Int64) {
    #expect(Currency.minorUnits(Text(value), digits: digits) == units)
  }

  @Test(arguments: ["92233720368547758.08", "-92233720368547758.09", "1e17", "1e300"] as [StaticString])
  func `a result beyond 64 bits is none`(value: StaticString) {
    #expect(Currency.minorUnits(Text(value), digits: 2) == nil)
  }

  @Test func `codes have the digits of the list and of what came later`() {
    let known: [(Text, Int)] = [
      ("USD", 2), ("JPY", 0), ("BHD", 3), ("CLF", 4), ("XAU", 0), ("MRU", 2), ("UYW", 4), ("XCG", 2), ("ZWL", 2),
    ]
    for (code, digits) in known { #expect(Currency.digits(of: code) == digits) }
    for code: Text in ["usd", "ZZZ", "", "US", "USDX"] { #expect(Currency.digits(of: code) == nil) }
  }

  @Test func `numbers in texts follow the grammar of JSON`() {
    for text: Text in ["0", "-0", "1.5", "1e9", "1E+9", "-12.50e-3"] { #expect(text.isJSONNumber) }
    for text: Text in ["", "-", "01", "1.", ".5", "+1", "1e", " 1", "1 ", "0x1", "NaN", "1,5"] {
      #expect(!text.isJSONNumber)
    }
    for text: Text in [
      "0", "-0", "999999999999999999", "-1000000000000000000", "9223372036854775807", "-9223372036854775808",
    ] { #expect(text.isInteger64) }
    for text: Text in ["9223372036854775808", "1.0", "1e3", "007", "-07", "-", "1-", "١", ""] {
      #expect(!text.isInteger64)
    }
  }
}
