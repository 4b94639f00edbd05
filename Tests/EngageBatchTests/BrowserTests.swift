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
      for (const details of page.querySelectorAll('details')) details.open = true;
      const cut = [...page.querySelectorAll('svg text')].filter(text => {
        const box = text.getBoundingClientRect(), chart = text.ownerSVGElement.getBoundingClientRect();
        return box.right > chart.right + 1 || box.left < chart.left - 1;
      });
      const wide = [...page.querySelectorAll('body *')].filter(element => {
        const box = element.getBoundingClientRect();
        return box.width > 0 && box.right > width + 1 && !element.closest('svg') && !element.closest('thead');
      }).concat(cut).map(element => element.tagName + ' ' + element.className + ' ' + element.textContent.slice(0, 40));
      const narrow = [...page.querySelectorAll('caption:not(.heard), td code, th code, td:not(.month td), th[scope=row]')].filter(element => {
        const box = element.getBoundingClientRect();
        return element.textContent.length > 12 && box.width > 0 && box.width < 45;
      }).map(element => element.textContent.slice(0, 40));
      const bare = [...page.querySelectorAll('table')].filter(table => !table.caption).length
        + [...page.querySelectorAll('th')].filter(head => !head.scope).length
        + [...page.querySelectorAll('figure > svg')].filter(chart => !chart.querySelector('title')).length;
      // What assistive technology announces: without a name it is only "link" or "image".
      const nameless = [...page.querySelectorAll('a, nav, table, summary, svg[role=img], h1, h2, h3')].filter(element => !element.computedName);
      const levels = [...page.querySelectorAll('h1, h2, h3')].map(heading => +heading.tagName[1]);
      const jumps = levels.filter((level, place) => level > (place ? levels[place - 1] : 0) + 1 || (level === 1) !== (place === 0));
      // The lines of every text that is seen, with its element.
      const lines = [];
      const walker = page.createTreeWalker(page.body, 4);
      while (walker.nextNode()) {
        const text = walker.currentNode, element = text.parentElement, range = page.createRange();
        if (!text.data.trim() || element.closest('.heard, thead, title, desc') || !element.checkVisibility() || getComputedStyle(element).clipPath !== 'none') continue;
        range.selectNodeContents(text);
        for (const box of range.getClientRects()) if (box.width > 1) lines.push({element, box, text: text.data.trim().slice(0, 40)});
      }
      const over = [];
      for (let one = 0; one < lines.length; one++) for (let two = one + 1; two < lines.length; two++) {
        const {box: a} = lines[one], {box: b} = lines[two];
        if (a.right > b.left + 1 && b.right > a.left + 1 && a.bottom > b.top + a.height / 3 && b.bottom > a.top + a.height / 3)
          over.push(lines[one].text + ' / ' + lines[two].text);
      }
      // Contrast by WCAG 2.2 AA: 4.5, or 3 for large text.
      const rgb = color => color.match(/[0-9.]+/g).map(Number);
      const light = color => rgb(color).slice(0, 3).map(part => part / 255).map(part => part <= .04045 ? part / 12.92 : ((part + .055) / 1.055) ** 2.4)
        .reduce((sum, part, place) => sum + part * [.2126, .7152, .0722][place], 0);
      const faint = lines.filter(({element}) => {
        const style = getComputedStyle(element), size = parseFloat(style.fontSize);
        let ground = element;
        while (ground && rgb(getComputedStyle(ground).backgroundColor)[3] === 0) ground = ground.parentElement;
        const [a, b] = [light(element.closest('svg') ? style.fill : style.color), light(ground ? getComputedStyle(ground).backgroundColor : 'rgb(255, 255, 255)')];
        return (Math.max(a, b) + .05) / (Math.min(a, b) + .05) < (size >= 24 || size >= 18.66 && style.fontWeight >= 700 ? 3 : 4.5);
      }).map(line => line.text);
      document.getElementById('r').textContent = 'beyond the edge: ' + wide.length + ', squeezed: ' + narrow.length + ', over each other: ' + over.length
        + ', unnamed: ' + (bare + nameless.length) + ', faint: ' + faint.length + ', headings out of order: ' + jumps.length
        + ', charts: ' + page.querySelectorAll('figure > svg').length
        + (wide.length + narrow.length + over.length + faint.length + nameless.length
          ? ' ' + JSON.stringify([wide, narrow, over, faint, nameless.map(element => element.outerHTML)].map(all => all.slice(0, 5))) : '');
    };
    </script>
    """
  }

  /// Starts the browser without a window, in a profile of its own.
  private func browse(_ workspace: Workspace, _ arguments: String...) throws -> Finished {
    try workspace.start(
      program: try #require(Tool.browser.command),
      [
        "--headless", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files",
        "--enable-blink-features=ComputedAccessibilityInfo", "--virtual-time-budget=5000",
        "--user-data-dir=\(workspace.path)/browser/profile", "--window-size=1600,1200", "--enable-logging=stderr",
      ] + arguments,
      // Its socket lies there, whose path may not be longer than a hundred characters.
      environment: ["TMPDIR": "/tmp", "HOME": "\(workspace.path)/browser"]
    ).finish()
  }

  private func measure(_ workspace: Workspace, _ page: String, width: Int, dark: Bool = false) throws -> String {
    try workspace.write("browser/report.html", page)
    try workspace.write("browser/frame.html", Self.frame(width))
    let finished = try browse(
      workspace, "--blink-settings=preferredColorScheme=\(dark ? 0 : 1)", "--dump-dom",
      "file://\(workspace.path)/browser/frame.html")
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
          measured
            == "beyond the edge: 0, squeezed: 0, over each other: 0, unnamed: 0, faint: 0, headings out of order: 0, charts: \(charts)",
          "\(width) px\(dark ? ", dark" : ""): \(measured)")
      }
    }
  }

  @Test(
    "The report of the sample job shows its charts, nothing is cut or squeezed, and it prints on three sheets",
    .needs(.browser))
  func nightly() throws {
    let workspace = try Workspace()
    #expect(try workspace.run("run", "jobs/nightly.json", "--sandbox").code == 0)
    // With the paths of a job, not of a test, which are long.
    let first = try page(workspace, "var/nightly.sandbox.sqlite").replacing(workspace.path, with: "/srv/engage-batch")
    try check(workspace, first, charts: 4)
    let printed = try browse(
      workspace, "--no-pdf-header-footer", "--print-to-pdf=\(workspace.path)/browser/report.pdf",
      "file://\(workspace.path)/browser/report.html")
    #expect(printed.code == 0, "\(printed.messages)")
    let pdf = try Data(contentsOf: URL(filePath: "\(workspace.path)/browser/report.pdf"))
    #expect(
      pdf.split(separator: UInt8(ascii: "\n")).count { String(decoding: $0, as: UTF8.self).hasSuffix("/Type /Page") }
        == 3)
    #expect(try workspace.run("run", "jobs/nightly.json", "--sandbox").code == 0)
    try check(workspace, page(workspace, "var/nightly.sandbox.sqlite"), charts: 0)
  }

  @Test("The page over all runs", .needs(.browser))
  func index() throws {
    let workspace = try Workspace([])
    try workspace.write("in.ndjson", "")
    try workspace.write(
      "job.json",
      """
      {"name": "nights", "inputs": {"events": ["in.ndjson"]}, "store": "s.sqlite", "reports": "reports",
       "window": {"from": "yesterday", "to": "today", "zone": "America/New_York"}}
      """)
    for day in 11...17 where day != 14 {
      let lines = (0..<20).map {
        #"{"deviceId":"d\#($0)","timestamp":"2026-01-\#(day - 1)T\#(10 + $0 % 10):00:00Z","type":"namedEvent","name":"n"}"#
          + "\n"
      }
      try workspace.write("in.ndjson", lines.joined() + (day % 2 == 0 ? "{\n" : ""))
      let night = try workspace.run("run", "job.json", "--no-upload", "--as-of", "2026-01-\(day)T12:00:00Z")
      #expect(night.code == 0, "\(night.messages)")
    }
    try workspace.remove("in.ndjson")
    #expect(try workspace.run("run", "job.json", "--no-upload", "--as-of", "2026-01-18T12:00:00Z").code == 66)
    try check(workspace, workspace.read("reports/index.html"), charts: 1)
    try check(workspace, page(workspace, "s.sqlite"), charts: 0)
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
