import BatchFoundation
import Testing

@testable import BatchReport

@Suite struct HTMLReportTests {
  @Test func isOneSelfContainedPage() throws {
    let text = try HTMLReport().text(.fixture())
    #expect(text.hasPrefix("<!doctype html>\n<html lang=\"en\">\n"))
    #expect(text.hasSuffix("</main>\n</body>\n</html>\n"))
    #expect(
      !text.contains("<script") && !text.contains("http://") && !text.contains("https://") && !text.contains("url("))
    #expect(!text.contains("{{") && !text.contains("Optional("))
    #expect(text.contains("prefers-color-scheme: dark"))
  }

  @Test func theSameReportGivesTheSameBytes() throws {
    #expect(try HTMLReport().text(.fixture()) == HTMLReport().text(.fixture()))
  }

  @Test(arguments: [
    "<h1>nightly</h1><span class=\"badge good\">done</span>",
    "<div class=\"tile\"><b class=\"plain\">1,240</b><span>records read</span></div>",
    "<div class=\"tile\"><b class=\"attention\">2</b><span>quarantined</span></div>",
    "<li>2 lines were quarantined. See why: engage-batch quarantine list --store var/nightly.sqlite</li>",
    "<tr><td><code>17</code> named event</td><td class=\"wide\"><div class=\"bar\" style=\"width:100%\"></div></td>"
      + "<td class=\"number\">1,200</td></tr>",
    "<tr><td>events possibly twice at the service</td><td class=\"number\">100</td></tr>",
    "<tr><td><code>a.ndjson:12</code></td><td class=\"number\">2,048</td><td><code>invalid-json</code></td>"
      + "<td>at byte 8 of the line</td></tr>",
    "<tr><td><code>n.ndjson:4</code></td><td><code>d6bcef664c227ce7</code></td><td>an expiration text was not understood</td></tr>",
    "<td class=\"number\">7</td><td>mark-merged</td><td class=\"good\">done</td>",
    "<dt>window</dt><dd>2026-01-15T00:00:00.000Z to open</dd>",
    "<li><code>configs/EngageConfig.plist</code></li>",
    "<li>no file matches &#39;x/*.ndjson&#39;</li>",
    "<footer>Ids of devices and recipients are hashed with a key of the store",
  ])
  func shows(fragment: String) throws { #expect(try HTMLReport().text(.fixture()).contains(fragment)) }

  @Test func leavesOutWhatIsEmpty() throws {
    let report = RunReport(job: "j", jobFile: "j", startedAt: Instant(milliseconds: 0), asOf: Instant(milliseconds: 0))
    let text = try HTMLReport().text(report)
    for title in ["To do", "Quarantine", "Warnings", "Identity plans", "Notes", "Time", "Events by type"] {
      #expect(!text.contains("<h2>\(title)</h2>"))
    }
  }

  @Test(arguments: [PersonalData.Policy.omit, .hash])
  func holdsNoIdsOrLines(policy: PersonalData.Policy) throws {
    let text = try HTMLReport().text(.fixture(policy))
    #expect(!text.contains("A1F0C9D2-0001") && !text.contains("rec-7") && !text.contains("&quot;a&quot;:1"))
  }

  @Test func showsLinesInClear() throws {
    #expect(
      try HTMLReport().text(.fixture(.clear)).contains(
        "<code>a.ndjson:12</code><br><code class=\"soft\">{&quot;a&quot;:1,}</code>"))
  }

  /// The library's own escape looks at whole characters and lets `"` with an accent pass.
  @Test func escapesMarkupByScalar() {
    #expect(HTMLText().escapeText("<b>\"\u{301}'\u{338}&\u{1B}") == "&lt;b&gt;&quot;\u{301}&#39;\u{338}&amp;\\u{1b}")
  }

  @Test func namesFromInputsStayText() throws {
    var report = RunReport.fixture()
    report.unknownFields = [UnknownInputField(name: "<img src=x onerror=alert(1)>{{job}}", records: 1)]
    #expect(
      try HTMLReport().text(report).contains(
        "<tr><td><code>&lt;img src=x onerror=alert(1)&gt;{{job}}</code></td><td class=\"number\">1</td></tr>"))
  }
}
