import BatchFoundation
import Testing

@Suite struct CSVTests {
  private func read(_ text: String, piece: Int) -> [RowReader.Row] {
    var reader = RowReader(.plain())
    var rows: [RowReader.Row] = []
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      reader.read(Array(rest.prefix(piece))) { rows.append($0) }
      rest = rest.dropFirst(piece)
    }
    reader.finish { rows.append($0) }
    return rows
  }

  private func text(_ row: RowReader.Row) -> String {
    let fields = row.fields.map { $0.map { String(decoding: $0, as: UTF8.self) } ?? "nil" }
    return "\(row.line) \(row.fault ?? fields.joined(separator: "|"))"
  }

  /// A file may be cut anywhere into pieces.
  @Test(
    arguments: [
      (
        "a,\"b \"\"c\"\", d\"\r\n\"\",x\n\n\"line\nbreak\",é\nlast",
        ["1 a|b \"c\", d", "2 |x", "4 line\nbreak|é", "6 last"]
      ),
      ("\u{FEFF}a\r\n\r\nb", ["1 a", "3 b"]), ("\u{FEFF}", []), ("", []), ("\n\n", []), (",", ["1 |"]),
      ("\"\"", ["1 "]), ("\\N,\\t", ["1 \\N|\\t"]),
      ("a\rb,c\r\r\nd\r", ["1 a\rb|c\r", "2 d"]), (" a , b ", ["1  a | b "]),
      ("a\n\"b\nc", ["1 a", "2 a quote opened on line 2 is still open at the end of the file (line 3)", "3 c"]),
      ("a\n\"b\"c\nd\n", ["1 a", "2 text after a closing quote", "3 d"]),
      ("a\nb,c\n", ["1 a", "2 2 fields, but the table has 1 column"]),
    ] as [(String, [String])])
  func readsPiecesOfAnySize(text: String, expected: [String]) {
    for piece in [1, 2, 3, 1000] { #expect(read(text, piece: piece).map(self.text) == expected) }
  }

  @Test func namesAQuoteInsideAField() {
    #expect(read("a\nb\"c\n\"d\"", piece: 1).map(\.hasInnerQuote) == [false, true, false])
  }

  @Test func writesWhatItReads() {
    let fields = ["a\"b", "", "c,d\r\n", "é"]
    #expect(CSVText.line(fields) == "\"a\"\"b\",\"\",\"c,d\r\n\",\"é\"\n")
    #expect(read(CSVText.line(fields), piece: 1).first?.fields == fields.map { Array($0.utf8) })
  }
}
