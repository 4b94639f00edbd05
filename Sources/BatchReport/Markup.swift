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
