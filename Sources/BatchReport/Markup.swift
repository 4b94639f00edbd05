import BatchFoundation

/// Markup whose literals are used unchanged and whose interpolated text is escaped, so that no recorded data becomes
/// markup.
struct Markup: ExpressibleByStringInterpolation {
  struct StringInterpolation: StringInterpolationProtocol {
    fileprivate var text = ""

    init(literalCapacity: Int, interpolationCount: Int) {
      text.reserveCapacity(literalCapacity + 16 * interpolationCount)
    }

    mutating func appendLiteral(_ markup: String) { text += markup }
    mutating func appendInterpolation(_ words: String) { text += Markup.escaped(words) }
    mutating func appendInterpolation(_ number: Int) { text += String(number) }
    mutating func appendInterpolation(_ place: Double) { text += Chart.short(place) }
    mutating func appendInterpolation(_ markup: Markup) { text += markup.text }
  }

  private(set) var text = ""

  init(stringLiteral markup: String) { text = markup }
  init(stringInterpolation: StringInterpolation) { text = stringInterpolation.text }

  mutating func line(_ markup: Markup) {
    text += markup.text
    text += "\n"
  }

  mutating func lines<Element>(_ elements: [Element], _ line: (Element) -> Markup) {
    for element in elements { self.line(line(element)) }
  }

  /// Joins the pieces without line breaks.
  static func joined<Element>(_ elements: some Sequence<Element>, _ piece: (Element) -> Markup) -> Markup {
    elements.reduce(into: "") { $0.text += piece($1).text }
  }

  /// Returns text in which times and options stay together: a line breaks before them rather than at a hyphen inside.
  static func words(_ text: String) -> Markup {
    let words: [Markup] = text.split(separator: " ", omittingEmptySubsequences: false).map { word in
      let breaks = word.hasPrefix("--") || word.contains("-") && word.first?.isNumber ?? false
      return breaks ? #"<span class="word">\#(String(word))</span>"# : "\(String(word))"
    }
    return words.dropFirst().reduce(words[0]) { "\($0) \($1)" }
  }

  /// Escapes text for elements and quoted attributes of HTML and XML.
  ///
  /// It works on bytes: a quotation mark ends an attribute even if a combining accent makes it another `Character`.
  static func escaped(_ text: String) -> String {
    let text = text.printable
    guard text.utf8.contains(where: { entity($0) != nil }) else { return text }
    var escaped: [UInt8] = []
    escaped.reserveCapacity(text.utf8.count + 32)
    for byte in text.utf8 {
      if let entity = entity(byte) { escaped += entity.utf8 } else { escaped.append(byte) }
    }
    return String(decoding: escaped, as: UTF8.self)
  }

  private static func entity(_ byte: UInt8) -> String? {
    switch byte {
    case UInt8(ascii: "<"): "&lt;"
    case UInt8(ascii: ">"): "&gt;"
    case UInt8(ascii: "&"): "&amp;"
    case UInt8(ascii: "\""): "&quot;"
    case UInt8(ascii: "'"): "&#39;"
    default: nil
    }
  }
}

extension Markup {
  /// Returns a page without scripts or external resources; `head` contains further elements for its head.
  static func page(title: String, head: Markup = "", _ add: (inout Markup) -> Void) -> String {
    var html: Markup = ""
    html.line(
      #"""
      <!doctype html>
      <html lang="en">
      <head>
      <meta charset="utf-8">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">
      <meta name="generator" content="engage-batch">
      <title>\#(title) - engage-batch</title>
      <style>
      \#(HTMLReport.style)</style>\#(head)
      </head>
      <body>
      <main>
      """#)
    add(&html)
    html.line(
      """
      </main>
      </body>
      </html>
      """)
    return html.text
  }
}

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
