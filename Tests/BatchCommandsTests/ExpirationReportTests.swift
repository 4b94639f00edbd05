import BatchFoundation
import BatchReport
import Testing

@testable import BatchCommands

extension ExpirationReport {
  fileprivate var notes: [String] { facts.lines.filter(\.isNote).map(\.text) }
}

@Suite struct ExpirationReportTests {
  private let start = Instant(milliseconds: 1_388_534_400_000)

  @Test(
    arguments: [
      (
        "1 day 15m", "2014-01-02T00:15:00.000Z", "duration",
        ["note: a duration of 87300 s from 2014-01-01T00:00:00.000Z"]
      ),
      ("2014/12/25 11:12:13", "2014-12-25T11:12:13.000Z", "absolute", ["note: a date in UTC"]),
      (
        "1 month", nil, "refused",
        [
          "error: '1 month' is not an expiration: it has a unit other than days, hours, minutes and seconds"
        ]
      ),
      ("", nil, "refused", ["error: '' is not an expiration: it is empty"]),
    ] as [(String, String?, String, [String])])
  func reportsTheStrictReading(text: String, expiry: String?, kind: String, notes: [String]) {
    let report = ExpirationReport(text, from: start, comparesSDKs: false)
    #expect(report.expiry?.rfc3339 == expiry)
    #expect(report.facts.document["kind"]?.string == kind)
    #expect(report.notes == notes)
  }

  @Test func reportsTheReadingsOfTheSDKs() {
    let report = ExpirationReport("2014/12/25 11:12:13 MST", from: start, comparesSDKs: true)
    #expect(report.expiry?.rfc3339 == "2014-01-01T00:13:00.000Z")
    #expect(
      report.notes == [
        "warning: '2014/12/25 11:12:13 MST' is not an expiration: it contains text other than numbers with units or a date "
          + "'YYYY/MM/DD HH:MM:SS'",
        "note: iOS read a duration of 780 s: 2014-01-01T00:13:00.000Z",
        "note: Android recognized nothing, so the text expired immediately: 2014-01-01T00:00:00.000Z",
      ])
    #expect(
      report.facts.document.members?.map(\.key) == ["text", "from", "kind", "expires", "warnings", "ios", "android"])
    #expect(report.facts.document["warnings"]?.array?.first?["code"]?.string == "unexpected-text")
    #expect(report.facts.document["android"]?["kind"]?.string == "none")
  }
}
