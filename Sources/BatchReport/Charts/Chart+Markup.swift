extension Markup {
  mutating func add(_ charts: [Chart]) {
    guard !charts.isEmpty else { return }
    line(#"<div class="columns charts">"#)
    for chart in charts { add(chart) }
    line("</div>")
  }

  /// Adds a section with the drawing of a chart and, for readers who cannot see it, its numbers.
  private mutating func add(_ chart: Chart) {
    line(
      #"""
      <section><h2>\#(chart.title)</h2>
      <figure>
      <svg viewBox="0 0 360 \#(chart.height)" role="img" aria-labelledby="\#(chart.id)-title \#(chart.id)-text">
      <title id="\#(chart.id)-title">\#(chart.title)</title><desc id="\#(chart.id)-text">\#(chart.summary)</desc>
      """#)
    lines(chart.lines) { #"<line x1="34" x2="356" y1="\#($0)" y2="\#($0)"/>"# }
    lines(chart.boxes) {
      #"<rect x="\#($0.x)" y="\#($0.y)" width="\#($0.width)" height="\#($0.height)" class="\#($0.tone)"><title>\#($0.words)</title></rect>"#
    }
    lines(chart.labels) {
      #"<text x="\#($0.x)" y="\#($0.y)" text-anchor="\#($0.anchor)"\#(Self.styled($0.size))>\#($0.text)</text>"#
    }
    line("</svg>")
    if !chart.keys.isEmpty {
      line(#"<ul class="keys">"#)
      lines(chart.keys) {
        #"<li><svg viewBox="0 0 10 10" aria-hidden="true"><rect width="10" height="10" class="\#($0.tone)"/></svg>\#($0.name)</li>"#
      }
      line("</ul>")
    }
    line(
      """
      <figcaption>\(chart.summary)</figcaption>
      </figure>
      """)
    if !chart.rows.isEmpty { addNumbers(chart) }
    line("</section>")
  }

  private mutating func addNumbers(_ chart: Chart) {
    let heads: Markup = .joined(chart.columns) { #"<th scope="col">\#($0)</th>"# }
    line(
      #"""
      <details\#(Self.styled(chart.numbers))><summary>The numbers</summary>
      <table class="stack"><caption>\#(chart.title)</caption><thead><tr>\#(heads)</tr></thead><tbody>
      """#)
    lines(chart.rows) { row in
      let cells: Markup = .joined(zip(chart.columns, row).dropFirst()) { head, figure in
        #"<td data-label="\#(head)">\#(figure)</td>"#
      }
      return #"<tr><th scope="row">\#(row[0])</th>\#(cells)</tr>"#
    }
    line("</tbody></table></details>")
  }
}
