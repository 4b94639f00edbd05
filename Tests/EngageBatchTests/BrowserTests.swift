import FoundationEssentials
import Testing

/// Reports in a real browser, where one is installed (`make setup-browser`).
@Suite("Reports in a browser") struct BrowserTests {
  /// Measures a page in a frame, for the page itself runs no scripts.
  private static func frame(_ width: Int) -> String {
    """
    <!doctype html><meta charset="utf-8"><body><iframe id="f" src="report.html" style="border:0;width:\(width)px;height:4000px"></iframe>
    <pre id="r">never measured</pre><script>
    document.getElementById('f').onload = () => {
      const page = document.getElementById('f').contentDocument, width = page.documentElement.clientWidth;
      const wide = [...page.querySelectorAll('body *')].filter(element => {
        const box = element.getBoundingClientRect();
        return box.width > 0 && box.right > width + 1 && !element.closest('svg') && !element.closest('thead');
      }).map(element => element.tagName + ' ' + element.className + ' ' + element.textContent.slice(0, 40));
      const narrow = [...page.querySelectorAll('caption:not(.heard), td code, th code, td, th[scope=row]')].filter(element => {
        const box = element.getBoundingClientRect();
        return element.textContent.length > 12 && box.width > 0 && box.width < 45;
      }).map(element => element.textContent.slice(0, 40));
      const bare = [...page.querySelectorAll('table')].filter(table => !table.caption).length
        + [...page.querySelectorAll('th')].filter(head => !head.scope).length
        + [...page.querySelectorAll('figure > svg')].filter(chart => !chart.querySelector('title')).length;
      // Texts of one chart that stand on each other cannot be read.
      const over = [...page.querySelectorAll('figure > svg')].flatMap(chart => {
        const boxes = [...chart.querySelectorAll('text')].map(text => text.getBoundingClientRect());
        return boxes.filter((one, place) => boxes.slice(place + 1).some(other =>
          one.right > other.left + 1 && other.right > one.left + 1 && one.bottom > other.top + one.height / 3 && other.bottom > one.top + one.height / 3));
      }).length;
      document.getElementById('r').textContent = 'beyond the edge: ' + wide.length + ', squeezed: ' + narrow.length + ', over each other: ' + over
        + ', unnamed: ' + bare + ', charts: ' + page.querySelectorAll('figure > svg').length
        + (wide.length + narrow.length ? ' ' + JSON.stringify([wide.slice(0, 5), narrow.slice(0, 5)]) : '');
    };
    </script>
    """
  }

  private func measure(_ workspace: Workspace, _ page: String, width: Int, dark: Bool = false) throws -> String {
    try workspace.write("browser/report.html", page)
    try workspace.write("browser/frame.html", Self.frame(width))
    let browser = try #require(Tool.browser.command)
    let finished = try workspace.start(
      program: browser,
      [
        "--headless", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files", "--virtual-time-budget=5000",
        "--user-data-dir=\(workspace.path)/browser/profile", "--window-size=1600,1200", "--enable-logging=stderr",
        "--dump-dom",
      ] + (dark ? ["--blink-settings=preferredColorScheme=0"] : []) + ["file://\(workspace.path)/browser/frame.html"],
      // Its socket lies there, whose path may not be longer than a hundred characters.
      environment: ["TMPDIR": "/tmp", "HOME": "\(workspace.path)/browser"]
    ).finish()
    #expect(!finished.messages.contains("CONSOLE"), "\(finished.messages)")
    let begin = try #require(finished.output.firstRange(of: "<pre id=\"r\">")).upperBound
    let end = try #require(finished.output[begin...].firstRange(of: "</pre>")).lowerBound
    return String(finished.output[begin..<end])
  }

  private func page(_ workspace: Workspace, _ store: String) throws -> String {
    try workspace.run("report", "--store", store, "--format", "html").output
  }

  private func check(_ workspace: Workspace, _ page: String, charts: Int) throws {
    #expect(page.utf8.count < 1_000_000)
    for width in [360, 1440] {
      for dark in [false, true] {
        let measured = try measure(workspace, page, width: width, dark: dark)
        #expect(
          measured == "beyond the edge: 0, squeezed: 0, over each other: 0, unnamed: 0, charts: \(charts)",
          "\(width) px")
      }
    }
  }

  @Test("The report of the sample job shows its charts, and nothing is cut or squeezed", .needs(.browser))
  func nightly() throws {
    let workspace = try Workspace()
    #expect(try workspace.run("run", "jobs/nightly.json", "--sandbox").code == 0)
    try check(workspace, page(workspace, "var/nightly.sandbox.sqlite"), charts: 4)
  }

  @Test("The report of a game, of a failed upload and a comparison stay in their place", .needs(.browser))
  func others() throws {
    let workspace = try Workspace()
    #expect(try workspace.run("run", "jobs/game.json", "--sandbox").code == 0)
    try check(workspace, page(workspace, "var/game.sandbox.sqlite"), charts: 3)
    var environment = try Service().environment
    environment["ENGAGE_BASE_URL"] = "http://127.0.0.1:1"
    let failed = try workspace.run(
      ["run", "jobs/nightly.json", "--set", "Recipient.enableAutoAnonymousTracking=false"] + ServiceExitCodeTests.hasty,
      environment: environment)
    #expect(failed.code == 69, "\(failed.messages)")
    try check(workspace, page(workspace, "var/nightly.sqlite"), charts: 4)
    let compared = try workspace.run(
      "compare", "jobs/nightly.json", "--with", "Session.sessionLifecycleExpiration=1 minute", "--html", "-")
    #expect(compared.code == 0)
    try check(workspace, compared.output, charts: 0)
  }

  @Test("A week of many devices and campaigns", .needs(.browser))
  func week() throws {
    let workspace = try Workspace([])
    var records: [String] = []
    for device in 0..<60 {
      for day in 12...18 {
        func add(_ minute: Int, _ more: String) {
          records.append(
            #"{"deviceId":"W-\#(device)","timestamp":"2026-01-\#(day)T\#(10 + device % 12):\#(10 + minute):00Z","mobileUserId":"u-\#(device)","#
              + more + "}")
        }
        add(0, #""type":"launch""#)
        add(
          1,
          #""type":"pushReceived","payload":{"CurrentCampaign":"Campaign \#(device % 9)","CampaignValidFor":"2 days"}"#)
        for minute in 2...6 { add(minute, #""type":"namedEvent","name":"search""#) }
        add(7, #""type":"nammedEvent","name":"search""#)
        add(8, #""type":"background""#)
      }
    }
    try workspace.write("in.ndjson", records.joined(separator: "\n"))
    try workspace.write(
      "job.json",
      #"{"name": "week", "inputs": {"events": ["in.ndjson"]}, "asOf": "2026-01-20T00:00:00Z", "store": "s.sqlite"}"#)
    #expect(try workspace.run("run", "job.json", "--no-upload").code == 0)
    try check(workspace, page(workspace, "s.sqlite"), charts: 4)
  }

  @Test("Long names of files, campaigns and fields from outside stay in their place", .needs(.browser))
  func hostile() throws {
    let workspace = try Workspace([])
    let long = String(repeating: "a-very-long-name-", count: 12)
    let campaign = String(repeating: "Kampagne", count: 30)
    try workspace.write(
      "\(long)/in.ndjson",
      (0..<40).map { number in
        #"{"deviceId":"<b>d\#(number)","timestamp":"2026-01-\#(10 + number % 20)T08:00:00Z","type":"pushReceived","mobileUserId":"u","#
          + #""payload":{"CurrentCampaign":"\#(campaign)\#(number)"},"\#(long)":1,"params":{"\#(long)":[1]}}"#
      }.joined(separator: "\n") + "\n{\"\n[1]\n")
    try workspace.write(
      "job.json",
      #"{"name": "\#(long)", "inputs": {"events": ["*/in.ndjson"]}, "asOf": "2026-03-01T00:00:00Z", "store": "s.sqlite"}"#
    )
    #expect(try workspace.run("run", "job.json", "--no-upload").code == 0)
    try check(workspace, page(workspace, "s.sqlite"), charts: 4)
  }
}
