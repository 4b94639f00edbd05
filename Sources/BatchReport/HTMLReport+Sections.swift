extension Markup {
  /// The sections of a report; what is empty is left out.
  mutating func add(_ page: HTMLPage) {
    addOverview(page)
    if !page.charts.isEmpty {
      line(#"<div class="columns charts">"#)
      for chart in page.charts { add(chart) }
      line("</div>")
    }
    line(#"<div class="columns">"#)
    addFigures(page)
    line("</div>")
    addTable(
      "Not sent yet", "Every event of the store that the service does not have, and what sends it",
      heads:
        #"<th scope="col">why</th><th scope="col" class="number">events</th><th scope="col">status</th><th scope="col">decided by</th><th scope="col">ends with</th>"#,
      page.unsent
    ) {
      #"<tr><th scope="row">\#($0.reason)</th><td class="number" data-label="events">\#($0.figure)</td><td data-label="status"><code>\#($0.status)</code></td><td data-label="decided by">\#($0.setting)</td><td data-label="ends with">\#($0.ends)</td></tr>"#
    }
    if !page.reasons.isEmpty { addQuarantine(page) }
    if !page.warnings.isEmpty { addWarnings(page.warnings) }
    addTable(
      "Identity plans", "Recipients that were merged or changed, those that wait for somebody first",
      heads:
        #"<th scope="col" class="number">plan</th><th scope="col">scenario</th><th scope="col">state</th><th scope="col">device</th><th scope="col">from</th><th scope="col">to</th><th scope="col">reason</th>"#,
      page.merges
    ) {
      #"<tr><th scope="row" class="number">\#($0.plan)</th><td data-label="scenario">\#($0.words)<br><code class="soft">\#($0.scenario)</code></td><td class="\#($0.tone)" data-label="state">\#($0.state)</td><td data-label="device"><code>\#($0.device)</code></td><td data-label="from"><code>\#($0.loser)</code></td><td data-label="to"><code>\#($0.winner)</code></td><td data-label="reason">\#($0.reason)</td></tr>"#
    }
    for section in page.sections { add(section) }
    addShortTable(
      "Fields that the format does not know", "Ignored, with the number of records that have them", page.fields
    ) { #"<tr><th scope="row"><code>\#($0.name)</code></th><td class="number">\#($0.figure)</td></tr>"# }
    if !page.notes.isEmpty {
      line("<section><h2>Notes</h2><ul>")
      lines(page.notes) { "<li>\($0)</li>" }
      line("</ul></section>")
    }
    addRun(page)
    if !page.questions.isEmpty {
      line(#"<section class="long"><h2>Next questions</h2><dl>"#)
      lines(page.questions) { "<dt>\($0.name)</dt><dd><code>\(.words($0.value))</code></dd>" }
      line("</dl></section>")
    }
    line("<footer>\(page.privacy)</footer>")
  }

  private mutating func addOverview(_ page: HTMLPage) {
    line(
      #"<header><h1>\#(page.job)</h1><span class="badge \#(page.tone)">\#(page.ending)</span><span class="soft">\#(page.period)</span></header>"#
    )
    lines(page.failure) { #"<p class="bad">\#($0)</p>"# }
    line("<p>\(page.story)</p>")
    line(#"<div class="tiles">"#)
    lines(page.tiles) { #"<div class="tile"><b class="\#($0.tone)">\#($0.figure)</b><span>\#($0.label)</span></div>"# }
    line("</div>")
    lines(page.unusual) { #"<p class="attention">Unusual: \#($0).</p>"# }
    if !page.steps.isEmpty {
      line(#"<section class="todo"><h2>To do</h2><ul>"#)
      lines(page.steps) { "<li>\(.words($0))</li>" }
      line("</ul></section>")
    }
  }

  private mutating func addFigures(_ page: HTMLPage) {
    addShortTable("Events by type", "Events that the records of this run became", page.events) {
      #"<tr><th scope="row"><code>\#($0.name)</code> \#($0.note)</th>\#(Self.bar($0))<td class="number">\#($0.figure)</td></tr>"#
    }
    addShortTable("Events in the store", "All events of the store by status", page.store) {
      #"<tr><th scope="row"><code>\#($0.name)</code></th>\#(Self.bar($0))<td class="number">\#($0.figure)</td></tr>"#
    }
    addFigures("Upload", "What was sent, and how it was answered", page.uploads, inWords: page.uploadInWords)
    addFigures(
      "Sessions and campaigns", "Counted by the rules of this run", page.others, inWords: page.otherInWords)
    addShortTable("Identity", "What became of identity checks", page.identities, Self.row)
    addShortTable("Time", "How long each part took", page.stages) {
      #"<tr><th scope="row">\#($0.name)</th>\#(Self.bar($0))<td class="number">\#($0.figure)</td></tr>"#
    }
  }

  private mutating func addFigures(
    _ title: String, _ caption: String, _ figures: [HTMLPage.Figure], inWords: [HTMLPage.Figure]
  ) {
    line("<section><h2>\(title)</h2><table><caption>\(caption)</caption>")
    lines(figures, Self.row)
    line("</table>")
    if !inWords.isEmpty {
      line("<dl>")
      lines(inWords) { "<dt>\($0.name)</dt><dd>\($0.figure)</dd>" }
      line("</dl>")
    }
    line("</section>")
  }

  private static func row(_ figure: HTMLPage.Figure) -> Markup {
    #"<tr><th scope="row">\#(figure.name)</th><td class="number">\#(figure.figure)</td></tr>"#
  }

  private static func bar(_ bar: HTMLPage.Bar) -> Markup {
    #"<td class="wide"><svg class="bar" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true"><rect width="\#(bar.share)" height="8"/></svg></td>"#
  }

  private mutating func addQuarantine(_ page: HTMLPage) {
    line(
      #"""
      <section class="long"><h2>Quarantine</h2><table class="stack"><caption>What was quarantined, by reason</caption>
      <thead><tr><th scope="col">reason</th><th scope="col"></th><th scope="col" class="number">lines</th><th scope="col">what to do</th></tr></thead><tbody>
      """#)
    lines(page.reasons) {
      #"<tr><th scope="row"><code>\#($0.name)</code></th>\#(Self.bar($0))<td class="number" data-label="lines">\#($0.figure)</td><td data-label="what to do">\#($0.note)</td></tr>"#
    }
    line("</tbody></table>")
    if !page.quarantine.isEmpty {
      line(
        #"""
        <table class="stack"><caption>\#(page.quarantineTitle)</caption>
        <thead><tr><th scope="col">place</th><th scope="col" class="number">offset</th><th scope="col">reason</th><th scope="col">detail</th></tr></thead><tbody>
        """#)
      lines(page.quarantine) {
        let content: Markup = .joined($0.content) { #"<br><code class="soft">\#($0)</code>"# }
        return
          #"<tr><th scope="row"><code>\#($0.place)</code>\#(content)</th><td class="number" data-label="offset">\#($0.offset)</td><td data-label="reason"><code>\#($0.reason)</code></td><td data-label="detail">\#($0.detail)</td></tr>"#
      }
      line("</tbody></table>")
    }
    line("</section>")
  }

  private mutating func addWarnings(_ warnings: [HTMLPage.Warning]) {
    line(#"<section class="long"><h2>Warnings</h2>"#)
    for warning in warnings {
      line(
        #"""
        <h3><code>\#(warning.kind)</code> \#(warning.figure)</h3>
        <table class="stack"><caption>The first places</caption>
        <thead><tr><th scope="col">place</th><th scope="col">device</th><th scope="col">detail</th></tr></thead><tbody>
        """#)
      lines(warning.places) {
        #"<tr><th scope="row"><code>\#($0.place)</code></th><td data-label="device"><code>\#($0.device)</code></td><td data-label="detail">\#($0.detail)</td></tr>"#
      }
      line("</tbody></table>")
    }
    line("</section>")
  }

  private mutating func add(_ section: HTMLPage.Section) {
    let heads: Markup = .joined(section.heads) { #"<th scope="col" class="\#($0.kind)">\#($0.text)</th>"# }
    line(
      #"""
      <section class="long"><h2>\#(section.title)</h2><table class="\#(section.kind)"><caption class="heard">\#(section.title)</caption>
      <thead><tr>\#(heads)</tr></thead><tbody>
      """#)
    lines(section.rows) { row in
      let cells: Markup = .joined(row.cells) {
        #"<td class="\#($0.kind)" data-label="\#($0.label)">\#($0.text)</td>"#
      }
      return "<tr>\(cells)</tr>"
    }
    line("</tbody></table></section>")
  }

  private mutating func addRun(_ page: HTMLPage) {
    line(#"<section class="long"><h2>This run</h2><dl>"#)
    lines(page.facts) { fact in
      // No time is broken at its hyphens.
      let ends = fact.value.split(separator: " to ", maxSplits: 1).map(String.init)
      let value: Markup = ends.count == 2 ? #"\#(ends[0]) to <span class="whole">\#(ends[1])</span>"# : "\(fact.value)"
      return "<dt>\(fact.name)</dt><dd>\(value)</dd>"
    }
    line("</dl>")
    if !page.layers.isEmpty {
      line("<h3>Configuration, later layers win</h3><ol>")
      lines(page.layers) { "<li><code>\($0)</code></li>" }
      line("</ol>")
    }
    if !page.settings.isEmpty {
      line(
        #"""
        <table class="stack"><caption>Settings that are not the built-in default; secrets are left out</caption>
        <thead><tr><th scope="col">setting</th><th scope="col">value</th><th scope="col">from</th></tr></thead><tbody>
        """#)
      lines(page.settings) {
        #"<tr><th scope="row"><code>\#($0.name)</code></th><td data-label="value"><code>\#($0.value)</code></td><td data-label="from">\#($0.origin)</td></tr>"#
      }
      line("</tbody></table>")
    }
    line("</section>")
  }

  /// A section with a table of names and figures.
  private mutating func addShortTable<Row>(
    _ title: String, _ caption: String, _ rows: [Row], _ row: (Row) -> Markup
  ) {
    guard !rows.isEmpty else { return }
    line("<section><h2>\(title)</h2><table><caption>\(caption)</caption>")
    lines(rows, row)
    line("</table></section>")
  }

  /// A section as wide as the page, with a table whose cells stand below each other where it is narrow.
  mutating func addTable<Row>(
    _ title: String, _ caption: String, heads: Markup, _ rows: [Row], _ row: (Row) -> Markup
  ) {
    guard !rows.isEmpty else { return }
    line(
      #"""
      <section class="long"><h2>\#(title)</h2><table class="stack"><caption>\#(caption)</caption>
      <thead><tr>\#(heads)</tr></thead><tbody>
      """#)
    lines(rows, row)
    line("</tbody></table></section>")
  }
}
