import BatchFoundation
import FoundationEssentials
import Testing

@testable import BatchReport

@Suite struct HTMLReportTests {
  @Test func isOneSelfContainedPage() throws {
    let text = HTMLReport.text(.fixture())
    #expect(text.hasPrefix("<!doctype html>\n<html lang=\"en\">\n"))
    #expect(text.hasSuffix("</main>\n</body>\n</html>\n"))
    #expect(
      !text.contains("<script") && !text.contains("http://") && !text.contains("https://") && !text.contains("url("))
    #expect(!text.contains("{{") && !text.contains("Optional("))
    #expect(text.contains("prefers-color-scheme: dark"))
  }

  @Test func theSameReportGivesTheSameBytes() throws {
    #expect(HTMLReport.text(.fixture()) == HTMLReport.text(.fixture()))
  }

  @Test(arguments: [
    // Two of its lines are quarantined.
    "<h1>nightly</h1><span class=\"badge attention\"><span aria-hidden=\"true\">! </span>done with findings</span>",
    "<div class=\"tile\"><b class=\"plain\">1,240</b><span>records read</span></div>",
    "<div class=\"tile\"><b class=\"attention\">2</b><span>quarantined</span></div>",
    "<li>2 lines were quarantined. See why: engage-batch quarantine list <span class=\"word\">--store</span> var/nightly.sqlite</li>",
    "<tr><th scope=\"row\"><code>17</code> named event</th><td class=\"wide\"><svg class=\"bar\" viewBox=\"0 0 100 8\" "
      + "preserveAspectRatio=\"none\" aria-hidden=\"true\"><rect width=\"100\" height=\"8\"/></svg></td>"
      + "<td class=\"number\">1,200</td></tr>",
    "<tr><th scope=\"row\">events that the service may have twice</th><td class=\"number\">100</td></tr>",
    "<tr><th scope=\"row\"><code>a.ndjson:12</code><br><code class=\"soft\">{&quot;a&quot;:9,}</code></th>"
      + "<td class=\"number\" data-label=\"offset\">2,048</td><td data-label=\"reason\"><code>invalid-json</code></td>"
      + "<td data-label=\"detail\">at byte 8 of the line</td></tr>",
    "<tr><th scope=\"row\"><code>n.ndjson:4</code></th><td data-label=\"device\"><code>d6bcef664c227ce7</code></td>"
      + "<td data-label=\"detail\">an expiration text was not understood</td></tr>",
    "<th scope=\"row\" class=\"number\">7</th><td data-label=\"scenario\">merged<br><code class=\"soft\">mark-merged</code></td><td class=\"good\" data-label=\"state\">done</td>",
    "<tr><th scope=\"row\">a reason</th><td class=\"number\" data-label=\"events\">1,200</td><td data-label=\"status\"><code>HOLD</code></td>"
      + "<td data-label=\"setting\">Section.key</td><td data-label=\"ends with\">an end</td></tr>",
    "<p>1,240 records were read and 1,235 accepted. They became 1,205 events: 3 sessions began, 2 ended, and a campaign was set 4 times. "
      + "1,205 events were sent. 1,200 events in the store have not been sent. 2 unusable lines were quarantined.</p>",
    "<dt>window</dt><dd>from 2026-01-15T00:00:00.000Z onwards</dd>",
    "<li><code>configs/EngageConfig.plist</code></li>",
    // Contents, and the sections that they name.
    "<nav aria-label=\"Contents\"><a href=\"#s1\">", "<h2 id=\"s1\">",
    "<p class=\"soft\">What it means: <code>engage-batch explain unreadable-expiration</code></p>",
    "<li>no file matches &#39;x/*.ndjson&#39;</li>",
    "<footer>Ids of devices and recipients are hashed; an id has the same hash",
  ])
  func shows(fragment: String) throws { #expect(HTMLReport.text(.fixture()).contains(fragment)) }

  @Test("Lines break before a time or an option of a command, and not inside")
  func keepsWordsWhole() {
    #expect(
      Markup.words("engage-batch post a-b.json --as-of 2026-01-19T02:15:00Z --set A=1").text
        == "engage-batch post a-b.json <span class=\"word\">--as-of</span> "
        + "<span class=\"word\">2026-01-19T02:15:00Z</span> <span class=\"word\">--set</span> A=1")
    #expect(Markup.words("").text.isEmpty)
  }

  @Test func leavesOutWhatIsEmpty() throws {
    let report = RunReport(
      job: "j", jobFile: "j", destination: "engage", startedAt: Instant(milliseconds: 0), asOf: Instant(milliseconds: 0)
    )
    let text = HTMLReport.text(report)
    for title in ["To do", "Quarantine", "Warnings", "Identity plans", "Notes", "Time", "Events by type"] {
      #expect(!text.contains(">\(title)</h2>"))
    }
    #expect(text.contains("<h1>j</h1><span class=\"badge good\"><span aria-hidden=\"true\">✓ </span>done</span>"))
  }

  @Test("A run that accepted nothing says what it found, and shows no zeros")
  func nothingNew() throws {
    var report = RunReport.fixture()
    report.summary = RunSummary()
    (report.summary.records.read, report.summary.records.duplicates) = (36, 30)
    (report.summary.records.outOfWindow, report.summary.records.quarantined) = (4, 2)
    report.platform.lines = [.init("campaigns", "0 set, 0 expired")]
    report.activity = Activity()
    (report.ledger, report.unsent, report.stages) = (UploadLedger(), [], [])
    let page = HTMLReport.text(report)
    #expect(
      page.contains(
        "<p>36 records were read, none accepted: 30 were read before, 4 are outside the window. Nothing was sent. Nothing is pending. "
          + "2 unusable lines were quarantined.</p>"), "\(page)")
    #expect(
      !page.contains("<b class=\"plain\">0</b>") && !page.contains("0 set")
        && !page.contains(">Sessions and campaigns<"))
    report.summary.records = RunSummary.Records()
    (report.summary.records.read, report.summary.records.quarantined) = (2, 2)
    #expect(HTMLReport.text(report).contains("<p>2 records were read, none accepted. "))
  }

  @Test("A run that failed before it read anything says why and what to do, and has no figures")
  func failed() throws {
    var report = RunReport.fixture()
    report.summary = RunSummary()
    (report.exit, report.failure) = (.configuration, "job.json:3: error: unknown key 'x'")
    report.activity = Activity()
    (report.ledger, report.unsent, report.stages, report.quarantine) = (UploadLedger(), [], [], [])
    (report.warnings, report.merges, report.platform) = ([], [], PlatformReport())
    let page = HTMLReport.text(report)
    #expect(page.contains("<p class=\"bad\">job.json:3: error: unknown key &#39;x&#39;</p>"))
    #expect(page.contains("<li>Correct the job or its configuration, and check it: engage-batch validate "), "\(page)")
    #expect(!page.contains("class=\"tile\"") && !page.contains(">0<") && !page.contains(">Upload<"))
  }

  @Test("Times are those of the job's zone, which is named once; this run has UTC")
  func zone() throws {
    var report = RunReport.fixture()
    report.zone = try JSONDecoder().decode(
      Zone.self, from: Data(#"{"name": "America/New_York", "firstOffset": -18000, "transitions": []}"#.utf8))
    report.from = Instant.parse(rfc3339: "2026-01-15T05:00:00Z")
    report.to = Instant.parse(rfc3339: "2026-01-16T05:00:00Z")
    report.activity.events.change("17") { $0.add(2, at: Instant.parse(rfc3339: "2026-01-15T06:00:00Z")?.hour ?? 0) }
    let page = HTMLReport.text(report)
    #expect(page.contains("<title>nightly, 2026-01-15 - engage-batch</title>"))
    #expect(page.contains("<span class=\"soft\">2026-01-15, times in America/New_York</span></header>"))
    #expect(page.components(separatedBy: "America/New_York").count == 2 && !page.contains("UTC"))
    #expect(page.contains("<dd>2026-01-15T05:00:00.000Z to <span class=\"whole\">2026-01-16T05:00:00.000Z</span></dd>"))
  }

  @Test("Figures from a sandbox say so at the top, and what was sent to it")
  func sandbox() {
    var report = RunReport.fixture()
    report.usesSandbox = true
    let page = HTMLReport.text(report)
    #expect(
      page.contains(
        "done with findings</span><span class=\"badge attention\">sandbox, not the service</span><span class=\"soft\">as of "
      ),
      "\(page)")
    #expect(page.contains(" 1,205 events were sent to the sandbox. "))
  }

  @Test("A share has only devices that also have the step before")
  func shares() throws {
    var report = RunReport.fixture()
    report.summary.people = People()
    report.summary.people?.newDevices = 8
    // The last two received it on an earlier night.
    let devices: [[CampaignStep]] = [
      [.received], [.received, .received], [.received, .opened], [.received, .sessions], [.opened, .sessions, .goals],
      [.goals],
    ]
    for device in devices {
      var steps = CampaignSteps()
      for step in device { steps[step].events += 1 }
      report.activity.campaign("spring") { $0.add(steps.ofOneDevice) }
    }
    let cells = [
      ("received", "4 devices,", "5 events"), ("opened", "2 devices (1 of 4, 25%),", "2 events"),
      ("sessions", "2 devices (1 of 2, 50%),", "2 events"), ("goals", "2 devices (1 of 2, 50%),", "2 events"),
    ]
    // A line breaks only between devices and events.
    let row = cells.map {
      "<td class=\"number\" data-label=\"\($0)\"><span class=\"whole\">\($1)</span> <span class=\"whole\">\($2)</span></td>"
    }.joined()
    #expect(HTMLReport.text(report).contains("<tr><th scope=\"row\">spring</th>\(row)</tr>"))
  }

  /// It divided by the devices of a step that there were none of.
  @Test("A rewind that only takes an event of a campaign away leaves a step without devices")
  func withdrawnStep() throws {
    var report = RunReport.fixture()
    report.summary.people = People()
    report.summary.people?.returningDevices = 1
    var steps = CampaignSteps()
    steps[.received].events = -1
    report.activity.campaign("spring") { $0.add(steps.ofOneDevice) }
    let page = HTMLReport.text(report)
    #expect(page.contains(">0 devices,</span> <span class=\"whole\">1 fewer event</span></td>"), "\(page)")
  }

  @Test(arguments: [PersonalDataPolicy.omit, .hash])
  func holdsNoIdsOrLines(policy: PersonalDataPolicy) throws {
    let text = HTMLReport.text(.fixture(policy))
    #expect(!text.contains("A1F0C9D2-0001") && !text.contains("rec-7") && !text.contains("&quot;a&quot;:1"))
  }

  @Test func showsLinesInClear() throws {
    #expect(
      HTMLReport.text(.fixture(.clear)).contains(
        "<code>a.ndjson:12</code><br><code class=\"soft\">{&quot;a&quot;:1,}</code>"))
  }

  /// As a character, `"` with an accent is another one than `"`.
  @Test func escapesMarkupByScalar() {
    #expect(Markup.escaped("<b>\"\u{301}'\u{338}&\u{1B}") == "&lt;b&gt;&quot;\u{301}&#39;\u{338}&amp;\\u{1b}")
  }

  @Test func namesFromInputsStayText() throws {
    var report = RunReport.fixture()
    report.unknownFields = [UnknownField(name: "<img src=x onerror=alert(1)>{{job}}", records: 1)]
    #expect(
      HTMLReport.text(report).contains(
        "<tr><th scope=\"row\"><code>&lt;img src=x onerror=alert(1)&gt;{{job}}</code></th><td class=\"number\">1</td></tr>"
      ))
  }
}
