import BatchFoundation
import FoundationEssentials
import Glibc
import Testing

@testable import BatchReport

@Suite("The page over all runs") struct HTMLIndexTests {
  /// A run as of midnight after a day of January 2026.
  private static func run(_ number: Int64, day: Int64, exit: RunExit? = .done, accepted: Int = 1200) -> ListedRun {
    // 2026-01-01T00:00:00Z
    let asOf = Instant(milliseconds: 1_767_225_600_000 + day * 86_400_000)
    var run = ListedRun(number: number, job: "nightly", mode: "run", started: asOf, asOf: asOf, exit: exit)
    (run.accepted, run.events, run.posted, run.seconds) = (accepted, accepted, accepted, 1.5)
    return run
  }

  private static func runs() -> [ListedRun] {
    var (first, second, third) = (run(1, day: 1), run(2, day: 2, exit: .serviceUnavailable), run(3, day: 3))
    first.folder = "nightly-20260102T000000Z"
    second.stopped = "no <answer>\nno file"
    (first.unsent, second.unsent, third.pending) = (0, 1500, 1500)
    (first.quarantined, third.quarantined) = (12, 13)
    return [first, second, third]
  }

  @Test(arguments: [
    "<title>nightly, all runs - engage-batch</title>",
    "<meta name=\"store\" content=\"var/a&amp;b.sqlite\">",
    "<header><h1>nightly</h1><span class=\"soft\">all runs of var/a&amp;b.sqlite, times in UTC</span></header>",
    "<div class=\"tile\"><b class=\"plain\">3</b><span>runs</span></div>",
    "<div class=\"tile\"><b class=\"bad\">1</b><span>not done</span></div>",
    // 1 January 2026 was a Thursday.
    "<tr><td></td><td></td><td></td><td class=\"attention\" title=\"done with findings\"><a href=\"nightly-20260102T000000Z/report.html\">1</a>"
      + "<span>! 1.2k</span><i>findings</i></td><td class=\"bad\" title=\"failed: the service could not be reached or kept failing\">2"
      + "<span>✕ 1.2k</span><i>failed</i></td><td class=\"attention\" title=\"done with findings\">3<span>! 1.2k</span><i>findings</i></td>"
      + "<td class=\"soft\">4</td></tr>",
    "<td class=\"soft\">31</td><td></td></tr>",
    "<title>2026-01-02: 1,200 accepted</title>",
    "<tr><th scope=\"row\" class=\"number\">2</th><td class=\"whole\" data-label=\"as of\">2026-01-03 00:00</td>"
      + "<td class=\"bad\" data-label=\"ended\">✕ failed: the service could not be reached or kept failing</td><td data-label=\"why\">no &lt;answer&gt;; no file</td>"
      + "<td data-label=\"its report\"><code>engage-batch report --run 2 --store &#39;var/a&amp;b.sqlite&#39;</code></td></tr>",
    "<tr><th scope=\"row\" class=\"number\"><a href=\"nightly-20260102T000000Z/report.html\">1</a></th><td data-label=\"job\">nightly</td>"
      + "<td data-label=\"mode\">run</td><td class=\"whole\" data-label=\"as of\">2026-01-02 00:00</td><td class=\"attention\" data-label=\"ended\">! done with findings</td>"
      + "<td class=\"number\" data-label=\"accepted\">1,200</td><td class=\"number\" data-label=\"quarantined\">12</td>"
      + "<td class=\"number\" data-label=\"events\">1,200</td><td class=\"number\" data-label=\"posted\">1,200</td>"
      + "<td class=\"number\" data-label=\"failed\">0</td><td class=\"number\" data-label=\"not sent\">0</td>"
      + "<td class=\"number\" data-label=\"took\">1.500 s</td></tr>",
    // The last run did not get as far as counting.
    "<td class=\"number\" data-label=\"failed\">0</td><td class=\"number\" data-label=\"not sent\"></td>",
    "<div class=\"tile\"><b class=\"attention\">1,500</b><span>not sent yet</span></div>",
  ])
  func shows(fragment: String) {
    let page = HTMLIndex.text(Self.runs(), store: "var/a&b.sqlite")
    #expect(page.contains(fragment), "\(page.suffix(9000))")
    #expect(!page.contains("<script"))
  }

  @Test("A run that failed links its report where there is a page")
  func failedPage() {
    var run = Self.run(1, day: 1, exit: .noInput)
    run.folder = "nightly-20260102T000000Z"
    #expect(
      HTMLIndex.text([run], store: "a").contains(
        "<td data-label=\"its report\"><a href=\"nightly-20260102T000000Z/report.html\">report.html</a></td></tr>"))
  }

  @Test("A run after midnight stands on the day before, if it knows no more")
  func days() {
    var run = Self.run(1, day: 1)
    run.asOf = Instant(milliseconds: run.asOf.milliseconds + 8_100_000)
    #expect(HTMLIndex.text([run], store: "a").contains("<td class=\"good\" title=\"done\">1<span>"))
  }

  @Test("A window that was run several times counts once: what was refused is that of its last run")
  func repeated() {
    // Over more than two days the chart is by day.
    var runs = [Self.run(1, day: 2, accepted: 203), Self.run(2, day: 2, accepted: 3), Self.run(3, day: 4)]
    for place in runs.indices {
      let end = runs[place].asOf
      runs[place].window = TimeWindow(from: Instant(milliseconds: end.milliseconds - 86_400_000), to: end)
      runs[place].quarantined = [11, 8, 0][place]
    }
    runs[0].exit = .serviceUnavailable
    let page = HTMLIndex.text(runs, store: "a")
    #expect(page.contains("<b class=\"plain\">8</b><span>quarantined</span>"))
    #expect(page.contains("<b class=\"plain\">1,406</b><span>records accepted</span>"))
    #expect(page.contains("<title>2026-01-02: 206 accepted</title>"))
    #expect(page.contains("<title>2026-01-02: 8 quarantined</title>"), "\(page)")
    // A window that a later run read is done.
    #expect(!page.contains("did not succeed"))
    runs[2].exit = .serviceUnavailable
    #expect(HTMLIndex.text(runs, store: "a").contains("Runs that did not succeed and that no later run finished"))
  }

  @Test(
    "A repaired record counts on the day of the run that quarantined it, and the worst window gives a day its state")
  func repaired() throws {
    var runs = [
      Self.run(1, day: 2, accepted: 206), Self.run(2, day: 3, accepted: 209), Self.run(3, day: 4, accepted: 3),
    ]
    for place in 0..<2 {
      let end = runs[place].asOf
      runs[place].window = TimeWindow(from: Instant(milliseconds: end.milliseconds - 86_400_000), to: end)
    }
    runs[0].quarantined = 11
    (runs[2].mode, runs[2].repaired, runs[2].posted) = ("replay", [1: 3], 0)
    let page = HTMLIndex.text(runs, store: "a")
    #expect(
      page.contains("<title>2026-01-02: 209 accepted</title>")
        && page.contains("<title>2026-01-02: 8 quarantined</title>"))
    #expect(page.contains("<title>2026-01-03: 209 accepted</title>") && !page.contains("<title>2026-01-04"))
    #expect(page.contains("<b class=\"plain\">418</b><span>records accepted</span>"))
    // A run of one corrected line does not replace the page of its night.
    var (night, line) = (runs[1], runs[1])
    (night.folder, night.number, line.folder, line.number, line.accepted) = ("night", 8, "line", 9, 1)
    #expect(
      HTMLIndex.text([night, line], store: "a").contains("<a href=\"night/report.html\">3</a><span>✓ 210</span>"))
    #expect(
      HTMLIndex.text([line, night], store: "a").contains("<a href=\"night/report.html\">3</a><span>✓ 210</span>"))
    // Two windows of one day, of which one failed.
    var half = runs[1]
    (half.number, half.exit, half.accepted) = (4, .serviceUnavailable, 1)
    half.window.to = half.window.from.map { $0 + Milliseconds(43_200_000) }
    let words = "title=\"2 windows, the worst: failed: the service could not be reached or kept failing\""
    let day = HTMLIndex.text([runs[1], half], store: "a")
    #expect(day.contains("<td class=\"bad\" \(words)>3<span>✕ 210</span><i>failed</i></td>"), "\(day)")
    // Nothing was sent: no chart of zeros.
    for place in runs.indices { (runs[place].posted, runs[place].failed) = (0, 0) }
    #expect(!HTMLIndex.text(runs, store: "a").contains("id=\"posted-title\""))
  }

  @Test("A night that met an outage is done once a later run has sent everything", arguments: ["run", "post"])
  func finished(mode: String) {
    var runs = [Self.run(1, day: 1, exit: .serviceUnavailable), Self.run(2, day: 2), Self.run(3, day: 3)]
    runs[1].pending = 5
    (runs[2].mode, runs[0].night) = (mode, .failed)
    let page = HTMLIndex.text(runs, store: "a")
    #expect(page.contains("<td class=\"good\" title=\"done, finished by run 3\">1<span>✓ 1.2k</span>"), "\(page)")
    #expect(page.contains("<b class=\"plain\">0</b><span>not done</span>") && !page.contains("<h2>Not done"))
    // The list has each run as it ended.
    #expect(page.contains("✕ failed: the service could not be reached or kept failing"))
    runs[2].exit = .serviceUnavailable
    #expect(HTMLIndex.text(runs, store: "a").contains("<b class=\"bad\">2</b><span>not done</span>"))
  }

  @Test("Runs against a sandbox are marked")
  func sandbox() {
    let runs = [Self.run(1, day: 1), Self.run(2, day: 2)]
    let badge = "<span class=\"badge attention\">sandbox, not the service</span>"
    #expect(HTMLIndex.text(runs, store: "a", usesSandbox: true).contains("<h1>nightly</h1>\(badge)"))
    #expect(!HTMLIndex.text(runs, store: "a").contains(badge))
  }

  @Test("A day that no run has read says so, until one has")
  func missed() {
    var late = Self.run(2, day: 4)
    late.missed = [Instant(milliseconds: late.asOf.milliseconds - 86_400_000)]
    late.night = .findings
    let cell = "<td class=\"attention\" title=\"no run has read its window\">3<span>○</span><i>missed</i></td>"
    #expect(HTMLIndex.text([Self.run(1, day: 2), late], store: "a").contains(cell))
    #expect(!HTMLIndex.text([Self.run(1, day: 2), late, Self.run(3, day: 3)], store: "a").contains(cell))
  }

  private static func folder() throws -> String {
    let folder = FileManager.default.temporaryDirectory.path + "/index-\(UUID().uuidString)"
    try FileManager.default.createDirectory(
      atPath: folder + "/nightly-20260102T000000Z", withIntermediateDirectories: true)
    return folder
  }

  @Test("A pipe under the name of the page holds nobody up, and stays")
  func pipe() throws {
    let folder = try Self.folder()
    // What is left of the folder does no harm.
    defer { try? FileManager.default.removeItem(atPath: folder) }
    #expect(unsafe mkfifo(folder + "/index.html", 0o600) == 0)
    let page = try #require(ReportFolder.indexPath(store: "var/a.sqlite", isSandbox: false, below: folder))
    #expect(page == folder + "/index-a.html")
    try ReportFolder.writeIndex(page, [Self.run(1, day: 1)], store: "var/a.sqlite", in: .utc, isForGroup: false)
    var status = stat()
    #expect(unsafe stat(folder + "/index.html", &status) == 0 && status.st_mode & S_IFMT == S_IFIFO)
  }

  @Test("A report links to the nights before and after, in whatever order they were run, and they link to it")
  func links() throws {
    let folder = try Self.folder()
    // What is left of the folder does no harm.
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let index = try #require(ReportFolder.indexPath(store: "a", isSandbox: false, below: folder))
    // The night of day 2 runs last, and then again; the post of day 3 is no night, and sends what an outage kept.
    var (runs, paths): ([ListedRun], [String]) = ([], [])
    for (number, day) in [1, 3, 3, 2, 2].enumerated() {
      var run = Self.run(Int64(number + 1), day: Int64(day))
      run.window = TimeWindow(from: Instant(milliseconds: run.asOf.milliseconds - 86_400_000), to: run.asOf)
      run.started = Instant(milliseconds: run.asOf.milliseconds + Int64(number + 1) * 1000)
      if number == 1 { run.exit = .serviceUnavailable }
      if number == 2 { run.mode = "post" }
      runs.append(run)
      let links = ReportFolder.links(to: index, runs)
      #expect((links == nil) == (number == 0))
      paths.append(try ReportFolder.write(Self.fixture(run), below: folder, links: links))
      try ReportFolder.link(to: index, runs, isForGroup: false)
    }
    func page(_ place: Int) throws -> String {
      try String(contentsOfFile: paths[place] + "/report.html", encoding: .utf8)
    }
    func link(_ place: Int, _ words: String) -> String {
      "<a href=\"../\(paths[place].dropFirst(folder.count + 1))/report.html\">\(words)</a>"
    }
    let finished =
      "<span class=\"badge good\"><span aria-hidden=\"true\">✓ </span>\(link(2, "finished by run 3"))</span>"
    let wanted = [
      link(4, "the night after"), link(4, "the night before") + finished, link(1, "the night before"),
      link(0, "the night before") + link(1, "the night after"),
      link(0, "the night before") + link(1, "the night after"),
    ]
    for (place, links) in wanted.enumerated() {
      let nav = "<nav aria-label=\"Reports\"><a href=\"../index.html\">all runs</a>\(links)</nav>\n"
      #expect(
        try page(place) == HTMLReport.text(Self.fixture(runs[place])).replacing("<main>\n", with: "<main>\n" + nav),
        "\(place)")
    }
  }

  private static func fixture(_ run: ListedRun) -> RunReport {
    var report = RunReport.fixture()
    report.startedAt = run.started
    return report
  }

  @Test("A folder keeps the page of each store, and what is not one of ours")
  func pages() throws {
    let folder = try Self.folder()
    // What is left of the folder does no harm.
    defer { try? FileManager.default.removeItem(atPath: folder) }
    func write(_ store: String, isSandbox: Bool = false, isForGroup: Bool = false) throws -> String? {
      guard let path = ReportFolder.indexPath(store: store, isSandbox: isSandbox, below: folder) else { return nil }
      try ReportFolder.writeIndex(path, [Self.run(1, day: 1)], store: store, in: .utc, isForGroup: isForGroup)
      return String(path.dropFirst(folder.count + 1))
    }
    #expect(try write("var/a.sandbox.sqlite", isSandbox: true) == "index-a.sandbox.html")
    #expect(try write("var/a.sqlite") == "index.html")
    let page = folder + "/index.html"
    #expect(try FileManager.default.attributesOfItem(atPath: page)[.posixPermissions] as? Int == 0o600)
    #expect(try write("var/a.sqlite", isForGroup: true) == "index.html")
    #expect(try FileManager.default.attributesOfItem(atPath: page)[.posixPermissions] as? Int == 0o640)
    #expect(
      try String(contentsOfFile: page, encoding: .utf8).contains("<a href=\"nightly-20260102T000000Z/report.html\">"))
    #expect(try write("var/b.sqlite") == "index-b.html")
    try Data("mine".utf8).write(to: URL(filePath: folder + "/index-c.html"))
    #expect(try write("var/c.sqlite") == nil)
    #expect(try String(contentsOfFile: folder + "/index-c.html", encoding: .utf8) == "mine")
  }
}
