import TestSupport

/// A page of the checkout by its headings and links; blocks of code have neither.
struct MarkdownPage {
  let path: String
  /// The places that a link can name, as GitHub makes them from headings.
  private(set) var anchors: Set<String> = []
  /// What the headings begin with: `3.2` of `### 3.2 Timestamps`, `D1` of `### D1 Automatic events`.
  private(set) var numbers: Set<String> = []
  private(set) var repeatedNumbers: [String] = []
  private(set) var links: [(line: Int, target: String)] = []

  init(_ path: String) throws {
    self.path = path
    var isCode = false
    for (index, line) in try Checkout.text(path).split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
      if line.hasPrefix("```") {
        isCode.toggle()
      } else if isCode {
        continue
      } else if line.hasPrefix("#") {
        add(heading: line.drop { $0 == "#" }.dropFirst())
      } else {
        let prose = line.replacing(/`[^`]*`/, with: "")
        links += prose.matches(of: /\]\(([^)\s]+)\)/).map { (index + 1, String($0.output.1)) }
      }
    }
  }

  private mutating func add(heading: Substring) {
    let anchor = String(
      heading.lowercased().replacing(" ", with: "-").unicodeScalars.filter {
        $0 == "-" || $0 == "_" || $0.properties.isAlphabetic || $0.properties.numericType != nil
      }.map(Character.init))
    anchors.insert(anchors.contains(anchor) ? "\(anchor)-1" : anchor)
    guard let number = heading.prefixMatch(of: #/([A-Z]?\d+(?:\.\d+)*) /#)?.output.1 else { return }
    if !numbers.insert(String(number)).inserted { repeatedNumbers.append(String(number)) }
  }

  /// The paths of the pages below `docs`.
  static func documents() throws -> [String] { try Checkout.files(below: "docs").filter { $0.hasSuffix(".md") } }

  /// Every page of the checkout.
  static func all() throws -> [MarkdownPage] {
    let inner = try ["docs", "configs", "samples", "deploy", "jobs", "Tests", "Benchmarks"].flatMap { folder in
      try Checkout.files(below: folder)
    }
    let paths = try Checkout.names(in: ".") + inner
    return try Vectors.wanted(paths.filter { $0.hasSuffix(".md") }.map(MarkdownPage.init), "pages")
  }
}
