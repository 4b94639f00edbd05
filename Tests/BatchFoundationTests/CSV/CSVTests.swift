import BatchFoundation
import Testing

@Suite struct CSVTests {
  private func read(_ text: String, piece: Int) -> (rows: [CSVReader.Row], fault: CSVReader.Fault?) {
    var reader = CSVReader()
    var rows: [CSVReader.Row] = []
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      reader.read(rest.prefix(piece)) { rows.append($0) }
      rest = rest.dropFirst(piece)
    }
    reader.finish { rows.append($0) }
    return (rows, reader.fault)
  }

  @Test func anOpenQuoteHasALineAndAnEnd() {
    for (text, line, end) in [("a\n\"b\nc", 2, 3), ("a\n\"b\nc\n", 2, 3), ("\"b", 1, 1)] {
      var reader = CSVReader()
      reader.read(Array(text.utf8)) { _ in }
      #expect(reader.openQuote?.line == line && reader.openQuote?.end == end, "\(text)")
    }
    var closed = CSVReader()
    closed.read(Array("\"b\"".utf8)) { _ in }
    #expect(closed.openQuote == nil)
  }

  /// A file may be cut anywhere into pieces.
  @Test(
    arguments: [
      (
        "a,\"b \"\"c\"\", d\",\r\n\"\",x\n\n\"line\nbreak\",é\nlast",
        ["1 a|b \"c\", d|", "2 |x", "4 line\nbreak|é", "6 last"]
      ),
      ("\u{FEFF}a\r\n\r\nb", ["1 a", "3 b"]), ("\u{FEFF}", []), ("", []), ("\n\n", []), (",", ["1 |"]),
      ("\"\"", ["1 "]),
      ("a\rb,c\r\r\nd\r", ["1 a\rb|c\r", "2 d\r"]), (" a , b ", ["1  a | b "]),
    ] as [(String, [String])])
  func readsPiecesOfAnySize(text: String, expected: [String]) {
    for piece in [1, 2, 3, 1000] {
      let (rows, fault) = read(text, piece: piece)
      let shown = rows.map { row in
        "\(row.line) \(row.fields.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "|"))"
      }
      #expect(shown == expected)
      #expect(fault == nil)
    }
  }

  @Test(arguments: [
    ("a\nb\"c,d\n\"", 2, "a quote inside an unquoted field", "b\"c|d"),
    ("a\n\"b\"c,d\n", 2, "text after a closing quote", "bc|d"),
    ("a\n\"b\n,c", 2, "a quote that is never closed", "b\n,c"),
  ])
  func keepsTheFirstFaultAndReadsOn(text: String, line: Int, problem: String, row: String) {
    let (rows, fault) = read(text, piece: 1)
    #expect(fault?.line == line && fault?.problem == problem)
    #expect(rows[1].fields.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "|") == row)
  }

  @Test func writesWhatItReads() {
    let fields = ["a\"b", "", "c,d\r\n", "é"]
    #expect(CSVText.line(fields) == "\"a\"\"b\",\"\",\"c,d\r\n\",\"é\"\n")
    #expect(read(CSVText.line(fields), piece: 1).rows.first?.fields == fields.map { Array($0.utf8) })
  }
}
