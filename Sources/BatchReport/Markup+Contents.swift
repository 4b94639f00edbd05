extension Markup {
  private static let leastSections = 6

  private static let navigation = #"<nav aria-label="Reports">"#

  /// Returns the page with these links instead of those that it has; nil if the page is not a report.
  static func page(_ page: String, linkedTo links: ReportLinks) -> String? {
    guard let main = page.firstRange(of: "<main>\n") else { return nil }
    var rest = page[main.upperBound...]
    if rest.hasPrefix(navigation), let end = rest.firstRange(of: "</nav>\n") { rest = rest[end.upperBound...] }
    var added: Markup = ""
    added.addNavigation(links)
    return page[..<main.upperBound] + added.text + rest
  }

  /// Adds links to the other pages of the folder.
  mutating func addNavigation(_ links: ReportLinks) {
    let pages: [(page: String?, name: String)] = [
      (links.index, "all runs"), (links.before, "the night before"), (links.after, "the night after"),
    ]
    let present = pages.compactMap { page, name in page.map { (page: $0, name: name) } }
    let items: Markup = .joined(present) { #"<a href="\#($0.page)">\#($0.name)</a>"# }
    let finisher: Markup =
      links.finisher.map { finisher in
        let words = "finished by run \(finisher.run)"
        let linked: Markup = finisher.page.map { #"<a href="\#($0)">\#(words)</a>"# } ?? "\(words)"
        return #"<span class="badge good"><span aria-hidden="true">✓ </span>\#(linked)</span>"#
      } ?? ""
    line("\(Markup(stringLiteral: Self.navigation))\(items)\(finisher)</nav>")
  }

  /// Adds a table of contents if there are many sections.
  mutating func addContents(_ contents: [(anchor: Int, title: Markup)]) {
    guard contents.count >= Self.leastSections else { return }
    let items: Markup = .joined(contents) { ##"<a href="#s\##($0.anchor)">\##($0.title)</a>"## }
    line(#"<nav aria-label="Contents">\#(items)</nav>"#)
  }

  /// Returns the titles of the sections, and the markup with an anchor at each. Recorded text is escaped, so only section
  /// titles follow `<h2>`.
  func withAnchors() -> (contents: [(anchor: Int, title: Markup)], text: Markup) {
    let pieces = text.split(separator: "<h2>", omittingEmptySubsequences: false)
    var contents: [(anchor: Int, title: Markup)] = []
    var all = String(pieces[0])
    for (number, piece) in pieces.dropFirst().enumerated() {
      let title = piece.firstRange(of: "</h2>").map { piece[..<$0.lowerBound] } ?? piece[...]
      contents.append((number + 1, Markup(stringLiteral: String(title))))
      all += #"<h2 id="s\#(number + 1)">"# + piece
    }
    return (contents, Markup(stringLiteral: all))
  }
}
