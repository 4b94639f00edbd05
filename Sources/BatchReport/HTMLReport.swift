/// The report of a run for people: one HTML file without scripts and without anything loaded from elsewhere.
package enum HTMLReport {
  /// The same report gives the same bytes.
  package static func text(_ report: RunReport) -> String {
    let page = HTMLPage(report)
    return Markup.page(title: "\(page.job), \(page.period)") { $0.add(page) }
  }
}
