import BatchFoundation
import Testing

@Suite struct CountedTests {
  @Test(arguments: [(0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567"), (-1000, "-1,000")])
  func groupsDigits(number: Int, text: String) { #expect(number.grouped == text) }

  @Test func agreesWithItsNoun() {
    #expect(0.counted("line") == "0 lines")
    #expect(1.counted("line") == "1 line")
    #expect(1.counted("retry", "retries") == "1 retry")
    #expect(2000.counted("line was", "lines were") == "2,000 lines were")
  }

  @Test(arguments: [
    (0, "0 seconds"), (61, "1 minute and 1 second"), (7200, "2 hours"), (86_401, "1 day"),
    (25_860_431, "299 days and 7 hours"),
  ])
  func saysHowLongInTwoUnits(seconds: Int64, text: String) { #expect(Milliseconds(seconds * 1000).inWords == text) }
}
