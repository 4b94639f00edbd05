import BatchFoundation

/// The drawing of a chart: rectangles and labels in the units of a view that is 360 wide and scales with the page.
///
/// The style sheet assigns colors by class, so the same drawing serves light, dark and print.
struct Chart {
  struct Box {
    var x: Double
    var y: Double
    var width: Double
    var height: Double
    /// The class of the color.
    var tone: String
    /// The text for readers who point at the box or cannot see it.
    var words: String
  }

  struct Label {
    var x: Double
    var y: Double
    /// `start`, `middle` or `end`.
    var anchor: String
    var text: String
    /// The class of the text size; empty for the default.
    var size = ""
  }

  struct Key {
    var tone: String
    var name: String
  }

  var id: String
  var title: String
  var summary: String
  var height: Int
  var boxes: [Box] = []
  var labels: [Label] = []
  /// The positions of horizontal lines, from the top.
  var lines: [Double] = []
  var keys: [Key] = []
  /// The chart's numbers: heads, and rows with one cell per head.
  var columns: [String] = []
  var rows: [[String]] = []
  /// The class of the table of numbers: `printed` if the drawing does not show them.
  var numbers = ""

  static let width = 360.0
  /// The number of bytes to which names in a chart and its table are truncated.
  static let longestName = 100
  private static let left = 34.0
  private static let plotHeight = 120.0
  private static let top = 14.0
  /// The size of the letters above bars (8 units high) relative to other letters (11 units high).
  private static let smallLetters = 8.0 / 11

  /// Returns an upper estimate of the width of a string in letters 11 units high.
  static func textWidth(_ text: String) -> Double {
    text.unicodeScalars.reduce(0) { width, scalar in
      switch scalar {
      case "i", "j", "l", "I", "t", "f", " ", ".", ",", ":", "'", "|": width + 4
      case "m", "w", "M", "W", "@", "%": width + 11
      case "A"..."Z": width + 8.5
      case "\u{0}"..<"\u{1100}": width + 7
      // East Asian letters and emoji fill a square.
      default: width + 12
      }
    }
  }

  static func clipped(_ text: String, toWidth room: Double) -> String {
    guard textWidth(text) > room else { return text }
    var text = Substring(text)
    while !text.isEmpty, textWidth(String(text) + "…") > room { text.removeLast() }
    return String(text) + "…"
  }

  /// Returns bars over time, stacked or side by side, the largest series first. A count that is negative, because a
  /// rewind withdrew events of an earlier run, is shown in the table but has no bar.
  static func overTime(
    id: String, title: String, summary: String, _ axis: TimeAxis, _ series: [(name: String, sums: [Int])], stacked: Bool
  ) -> Chart {
    var chart = Chart(id: id, title: title, summary: summary, height: 162)
    let tallest =
      stacked
      ? (0..<axis.count).map { step in series.reduce(0) { $0 + max(0, $1.sums[step]) } }.max() ?? 0
      : series.flatMap(\.sums).max() ?? 0
    let most = Self.ceiling(tallest)
    chart.addScale(most)
    let slot = (width - left - 4) / Double(axis.count)
    for step in 0..<axis.count {
      var base = top + plotHeight
      for (number, one) in series.enumerated() where one.sums[step] > 0 {
        let height = plotHeight * Double(one.sums[step]) / Double(most)
        let share = stacked ? 1.0 : 1.0 / Double(series.count)
        let x = left + slot * (Double(step) + 0.1 + (stacked ? 0 : 0.8 * share * Double(number)))
        chart.boxes.append(
          Box(
            x: x, y: (stacked ? base : top + plotHeight) - height, width: slot * 0.8 * share,
            height: height, tone: "c\(number)",
            words: "\(axis.name(step)): \((one.sums[step]).grouped) \(one.name)"))
        base -= height
      }
    }
    chart.addFigures(axis.count, slot, most, series.map(\.sums), stacked: stacked)
    let every = max(1, (axis.count + 5) / 6)
    for step in stride(from: 0, to: axis.count, by: every) {
      let (text, middle) = (axis.tick(step), left + slot * (Double(step) + 0.5))
      // The last label ends at the edge if it would be cut off.
      let isCut = middle + textWidth(text) / 2 > width
      chart.labels.append(
        Label(
          x: isCut ? width : middle, y: top + plotHeight + 14, anchor: isCut ? "end" : "middle", text: text))
    }
    chart.keys = series.enumerated().map {
      Key(tone: "c\($0)", name: "\($1.name): \($1.sums.reduce(0, +).grouped)")
    }
    chart.columns = [axis.step.rawValue] + series.map(\.name)
    chart.rows = (0..<axis.count).filter { step in series.contains { $0.sums[step] != 0 } }.map { step in
      [axis.name(step)] + series.map { $0.sums[step].grouped }
    }
    return chart
  }

  /// Labels each bar with its count. If bars are too narrow for labels, the table of numbers is printed as well.
  private mutating func addFigures(_ steps: Int, _ slot: Double, _ most: Int, _ series: [[Int]], stacked: Bool) {
    let bars = stacked ? [(0..<steps).map { step in series.reduce(0) { $0 + max(0, $1[step]) } }] : series
    let room = slot / Double(bars.count)
    func width(_ figure: Int) -> Double { Self.textWidth(Self.compact(figure)) * Self.smallLetters }
    // Neighboring bars of a step are four fifths of `room` apart, and their labels must not touch.
    guard bars.joined().allSatisfy({ width($0) + (bars.count > 1 ? 2 : 0) <= room * (bars.count > 1 ? 0.8 : 1) }) else {
      numbers = "printed"
      return
    }
    for (number, figures) in bars.enumerated() {
      for (step, figure) in figures.enumerated() where figure > 0 {
        let share = 1 / Double(bars.count)
        let x = Self.left + slot * (Double(step) + 0.1 + 0.8 * share * (Double(number) + 0.5))
        let y = Self.top + Self.plotHeight * (1 - Double(figure) / Double(most)) - 3
        labels.append(Label(x: x, y: y, anchor: "middle", text: Self.compact(figure), size: "small"))
      }
    }
  }

  /// Returns one horizontal bar for each class.
  static func classes(id: String, title: String, summary: String, _ classes: [(name: String, count: Int)]) -> Chart {
    var chart = Chart(id: id, title: title, summary: summary, height: 18 * classes.count + 8)
    let most = Double(max(1, classes.map(\.count).max() ?? 1))
    for (number, one) in classes.enumerated() {
      let y = 4 + 18.0 * Double(number)
      chart.labels.append(Label(x: 92, y: y + 11, anchor: "end", text: one.name))
      if one.count > 0 {
        chart.boxes.append(
          Box(
            x: 98, y: y + 1, width: max(1, 210 * Double(one.count) / most), height: 13, tone: "c0",
            words: "\(one.name): \(one.count.grouped)"))
      }
      chart.labels.append(
        Label(
          x: 102 + 210 * Double(max(0, one.count)) / most, y: y + 11, anchor: "start",
          text: one.count.grouped))
    }
    chart.columns = ["class", "count"]
    chart.rows = classes.map { [$0.name, $0.count.grouped] }
    return chart
  }

  private mutating func addScale(_ most: Int) {
    for part in 0...2 {
      let y = Self.top + Self.plotHeight * (1 - Double(part) / 2)
      lines.append(y)
      labels.append(Label(x: Self.left - 4, y: y + 3.5, anchor: "end", text: Self.compact(most * part / 2)))
    }
  }

  /// Returns the smallest round even number that is not below the given one.
  static func ceiling(_ number: Int) -> Int {
    var unit = 1
    while true {
      for step in [2, 4, 6, 8, 10] where step * unit >= number { return step * unit }
      unit *= 10
    }
  }

  /// Shortens `1,500` to `1.5k`.
  static func compact(_ number: Int) -> String {
    func rounded(_ value: Double, _ letter: String) -> String {
      let tenths = Int((value * 10).rounded())
      return tenths % 10 == 0 ? "\(tenths / 10)\(letter)" : "\(tenths / 10).\(tenths % 10)\(letter)"
    }
    if number >= 1_000_000 { return rounded(Double(number) / 1_000_000, "M") }
    return number >= 1000 ? rounded(Double(number) / 1000, "k") : "\(number)"
  }

  /// Rounds to two decimals, which are finer than the pixels of a screen.
  static func short(_ value: Double) -> String {
    let hundredths = Int((value * 100).rounded())
    let rest = abs(hundredths) % 100
    let digits = rest == 0 ? "" : "." + (rest < 10 ? "0" : "") + "\(rest)"
    return (hundredths < 0 && hundredths > -100 ? "-" : "") + "\(hundredths / 100)" + digits
  }
}

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
    let columns = chart.columns.indices.map { place in Column<[String]>.text(chart.columns[place]) { $0[place] } }
    line("<details\(Self.styled(chart.numbers))><summary>The numbers</summary>")
    line("\(.table(chart.title, chart.rows, columns))</details>")
  }
}
