import BatchFoundation
import BatchIngest
import TestSupport
import Testing

@testable import BatchMaps

/// Tables as exporters write them (reference decisions 67).
@Suite("Dialects of tables") struct TableTests {
  /// What becomes of a table that comes in pieces: a row as its line and object, with its warnings; else the line and why it is none.
  static func cut(_ table: some Sequence<UInt8>, _ map: String, piece: Int = 7, longest: Int = 1 << 20) throws
    -> [String]
  {
    let (map, faults) = try read("{\(map)}")
    #expect(faults == [])
    let options = IngestOptions(maxLineBytes: longest, memoryLimit: 1 << 26, workers: 1)
    let cutter = try #require(map.makeCutter(of: FilePath(""), options))
    var found: [String] = []
    let take: (CutRecord) -> Void = { record in
      let text = unsafe String(decoding: record.bytes, as: UTF8.self)
      if let fault = record.fault {
        found.append("\(record.number) \(fault.rawValue): \(record.detail)")
      } else {
        found.append("\(record.number) \(text)" + record.warnings.map { " [\($0.kind)]" }.joined())
      }
    }
    let bytes = Array(table)
    for start in stride(from: 0, to: bytes.count, by: piece) {
      unsafe bytes[start..<min(start + piece, bytes.count)].withUnsafeBufferPointer { unsafe cutter.take($0, take) }
    }
    cutter.finish(isDamaged: false, take)
    return found
  }

  private static func rows(_ table: String, _ map: String) throws -> [String] {
    // However it comes.
    let all = try [1, 2, 3, 1 << 16].map { try cut(table.utf8, map, piece: $0) }
    #expect(Set(all).count == 1, "\(all)")
    return all[0]
  }

  private static let escape =
    #"; if backslashes escape quotes, write "escape": "\\" in the map, or for Spark "escape": "\\\"""#
  private static let none = #"; if quotes have no special meaning in the table, write "quotes": "none" in the map"#

  private static let standard =
    #"; if fields contain line breaks, write "quotes": "standard" in the map; if quotes have no special meaning, "quotes": "none""#

  @Test func aColumnWithoutANameHasItsNumber() throws {
    #expect(
      try Self.rows("a,,column2,\n1,,2,\n1,x,2,y\n", #""form": "csv", "fields": {}"#)
        == [#"2 {"a":"1","column2":"2"}"#, #"3 {"a":"1","column2":"2","column4":"y"}"#])
    #expect(
      try Self.rows("a,\n1,\n2,x\n", #""form": "csv", "fields": {}"#) == [
        #"2 {"a":"1"}"#, #"3 {"a":"2","column2":"x"}"#,
      ])
  }

  @Test func behindAClosingQuoteComesASeparatorOrTheEndOfTheLine() throws {
    let table = """
      a,b
      1,"say \\"hi\\", you"
      2,"best" offer
      3,"fine"
      4,"\\"x\\""
      5,"two
      lines"
      6,"first
      second" more
      7,"end"
      """
    #expect(
      try Self.rows(table, #""form": "csv", "fields": {}"#) == [
        "2 invalid-row: text after a closing quote" + Self.escape,
        "3 invalid-row: text after a closing quote" + Self.none, #"4 {"a":"3","b":"fine"}"#,
        "5 invalid-row: text after a closing quote" + Self.escape, #"6 {"a":"5","b":"two\nlines"}"#,
        "8 invalid-row: text after a closing quote" + Self.none, #"9 {"a":"second\" more"} [short-row]"#,
        #"10 {"a":"7","b":"end"}"#,
      ])
  }

  /// Each had become a text of the first.
  @Test func linesLikeRowsInATextHaveAFinding() throws {
    let rows = "a,b,c\n1,2,\"never\n\n3,4,x\n5,6,y\"\n7,8,\"two\nlines, of text\"\n9,\"d\n1,2,e\",z\n"
    #expect(
      try Self.rows(rows, #""form": "csv", "fields": {}"#) == [
        #"2 {"a":"1","b":"2","c":"never\n\n3,4,x\n5,6,y"} [rows-in-field]"#,
        #"6 {"a":"7","b":"8","c":"two\nlines, of text"}"#, #"8 {"a":"9","b":"d\n1,2,e","c":"z"}"#,
      ])
  }

  @Test func anEscapeHoldsInAndOutsideOfQuotes() throws {
    let table = #"""
      a,b,c
      1,"say \"hi\", you","\\\" end"
      2,"x\ty\nz\r\b\f\v",back\slash
      3,\,x,a\\b\
      c
      4,\N,"\N"
      5,"C:\1",""
      """#
    #expect(
      try Self.rows(table, #""form": "csv", "escape": "\\", "fields": {}"#) == [
        #"2 {"a":"1","b":"say \"hi\", you","c":"\\\" end"}"#,
        #"3 {"a":"2","b":"x\ty\nz\r\b\f\u000b","c":"back\\slash"}"#, #"4 {"a":"3","b":",x","c":"a\\b\nc"}"#,
        #"6 {"a":"4","c":"\\N"}"#, #"7 {"a":"5","b":"C:\\1"}"#,
      ])
    // Another one makes each character mean itself.
    #expect(
      try Self.rows("a;b\n1^;n;^^\n", #""form": "csv", "separator": ";", "escape": "^", "fields": {}"#)
        == [#"2 {"a":"1;n","b":"^"}"#])
    #expect(
      try Self.rows("a\n1\n2\\", #""form": "csv", "escape": "\\", "fields": {}"#)
        == [#"2 {"a":"1"}"#, "3 invalid-row: the file ends after an escape character"])
  }

  /// Spark 4.3.0 wrote the rows 1 to 3 and 5; outside of quotes backslashes are text.
  @Test func anEscapeMayHoldOfQuotesAlone() throws {
    let table = #"""
      a,b,c
      1,"a \"q\" C:\\temp, x",C:\temp\new
      2,"x\\\"y",ends with \
      3,"line
      break \\n",\N
      4,"\\N, x",\,
      5,"ends, \\",two\\slashes
      6,"C:\temp",x

      """#
    let lines = [
      #"2 {"a":"1","b":"a \"q\" C:\\temp, x","c":"C:\\temp\\new"}"#, #"3 {"a":"2","b":"x\\\"y","c":"ends with \\"}"#,
      #"4 {"a":"3","b":"line\nbreak \\n"}"#,
      "6 invalid-row: 4 fields, but the table has 3 columns; if quotes have no special meaning in the table, write \"quotes\": \"none\" in the map",
      #"7 {"a":"5","b":"ends, \\","c":"two\\\\slashes"} [unread-escape]"#, #"8 {"a":"6","b":"C:\\temp","c":"x"}"#,
    ]
    let map = #""form": "csv", "escape": "\\\"", "fields": {}"#
    #expect(try Self.rows(table, map) == lines)
    // Another writer's, which escapes letters or quotes outside of quotes.
    for row in [#"1,"C:\temp""#, #"1,say \"hi\""#, #"1,a\\b"#] {
      #expect(try Self.rows("a,b\n\(row)\n", map)[0].hasSuffix(" [unread-escape]"), "\(row)")
    }
    #expect(try Self.rows("a,b\n1,a\\tb\\c\n", map) == [#"2 {"a":"1","b":"a\\tb\\c"}"#])
    for word in [#"\\x"#, #"\""#, #"\\\"\""#] {
      let faults = try read(#"{"form": "csv", "escape": "\#(word)", "fields": {}}"#).faults
      #expect(
        faults.count == 1 && faults[0].contains("'escape' must be a visible ASCII character"), "\(word) \(faults)")
    }
  }

  @Test func quotesMayMeanNothing() throws {
    let table = "a\tb\n1\t\"best\" offer\n2\t\"open\n3\t5\" pipe\n"
    let kept = [#"2 {"a":"1","b":"\"best\" offer"}"#, #"3 {"a":"2","b":"\"open"}"#, #"4 {"a":"3","b":"5\" pipe"}"#]
    #expect(try Self.rows(table, #""form": "tsv", "quotes": "none", "fields": {}"#) == kept)
    #expect(try Self.rows(table, #""form": "tsv", "quotes": false, "fields": {}"#) == kept)
    #expect(
      try Self.rows(table, #""form": "tsv", "fields": {}"#) == [
        "2 invalid-row: text after a closing quote" + Self.none,
        "3 invalid-row: a quote is not closed on its line" + Self.standard, kept[2],
      ])
  }

  @Test func aFieldOfATSVMayBeQuotedInItsLineOrInSeveralIfTheMapSaysSo() throws {
    let table = "a\tb\r\n\"1\t2\"\t\"x \"\"y\"\"\"\r\n3\t\"p\r\nq\"\r\n4\t5"
    #expect(
      try Self.rows(table, #""form": "tsv", "fields": {}"#) == [
        #"2 {"a":"1\t2","b":"x \"y\""}"#, "3 invalid-row: a quote is not closed on its line" + Self.standard,
        #"4 {"a":"q\""} [short-row]"#, #"5 {"a":"4","b":"5"}"#,
      ])
    #expect(
      try Self.rows(table, #""form": "tsv", "quotes": "standard", "fields": {}"#) == [
        #"2 {"a":"1\t2","b":"x \"y\""}"#, #"3 {"a":"3","b":"p\r\nq"}"#, #"5 {"a":"4","b":"5"}"#,
      ])
  }

  @Test func textsOfNullAreAbsentWhereTheyAreNotQuoted() throws {
    let table = "a,b,c\n\\N,\"\\N\",NULL\nnull,NULL,x\n"
    #expect(
      try Self.rows(table, #""form": "csv", "fields": {}"#)
        == [#"2 {"b":"\\N","c":"NULL"}"#, #"3 {"a":"null","b":"NULL","c":"x"}"#])
    #expect(
      try Self.rows(table, #""form": "csv", "null": ["NULL", "null"], "fields": {}"#)
        == [#"2 {"a":"\\N","b":"\\N"}"#, #"3 {"c":"x"}"#])
    #expect(
      try Self.rows(table, #""form": "csv", "null": "", "fields": {}"#)
        == [#"2 {"a":"\\N","b":"\\N","c":"NULL"}"#, #"3 {"a":"null","b":"NULL","c":"x"}"#])
    // Before escapes are taken.
    #expect(
      try Self.rows("a\tb\n\\N\t\\\\N\n", #""form": "tsv", "escape": "\\", "fields": {}"#) == [#"2 {"b":"\\N"}"#])
  }

  @Test func aFileWithEscapesThatNobodyTakesIsToldOnce() throws {
    let told = #"2 {"a":"1","b":"x\\ny"} [unread-escape]"#
    for map in ["", #", "quotes": "none""#] {
      #expect(
        try Self.rows("a\tb\n1\tx\\ny\n2\tx\\ty\n", #""form": "tsv", "fields": {}\#(map)"#)
          == [told, #"3 {"a":"2","b":"x\\ty"}"#])
    }
    #expect(try Self.rows("a\n\\d\\N\n", #""form": "csv", "fields": {}"#) == [#"2 {"a":"\\d\\N"}"#])
    // Where JSON stands a backslash is its own; the map may say so of all.
    #expect(
      try Self.rows(
        "a\n\"{\"\"x\"\":\"\"\\n\"\"}\"\n", #""form": "csv", "jsonColumns": "a", "fields": {}"#)
        == [#"2 {"a":{"x":"\n"}}"#])
    #expect(try Self.rows("a\nx\\ny\n", #""form": "csv", "escape": "", "fields": {}"#) == [#"2 {"a":"x\\ny"}"#])
  }

  @Test func aRowHasAsManyFieldsAsTheTableHasColumns() throws {
    #expect(
      try Self.rows("a,b,c\n1\n1,2,3,4\n,,\n1,\"x\ny\"\n2,3\n", #""form": "csv", "fields": {}"#) == [
        #"2 {"a":"1"} [short-row]"#, "3 invalid-row: 4 fields, but the table has 3 columns", "4 {}",
        "5 invalid-row: 2 fields, but the table has 3 columns" + Self.none, #"6 {"a":"y\""} [short-row]"#,
        #"7 {"a":"2","b":"3"} [short-row]"#,
      ])
  }

  @Test func aQuoteAfterASpaceBeginsNoField() throws {
    #expect(
      try Self.rows("a,b\n1, \"x, y\"\n", #""form": "csv", "fields": {}"#) == [
        "2 invalid-row: 3 fields, but the table has 2 columns; a quote after a space does not begin a quoted field: remove the space"
      ])
  }

  @Test func noRowTakesTheLinesOfOthers() throws {
    // The quote of line 2 is closed by one of line 4, and what follows there would make the number of fields right.
    let table = "a,b,c\n1,\"x\",y\n2,\"open,y\n3,p,\",z\"\n4,5,6\n"
    #expect(
      try Self.rows(table, #""form": "csv", "fields": {}"#) == [
        #"2 {"a":"1","b":"x","c":"y"}"#,
        "3 invalid-row: a quote inside an unquoted field of a multi-line row" + Self.none,
        #"4 {"a":"3","b":"p","c":",z"}"#, #"5 {"a":"4","b":"5","c":"6"}"#,
      ])
    #expect(
      try Self.rows("a,b\n1,2\n3,\"open\n4,5\n6,7\n", #""form": "csv", "fields": {}"#) == [
        #"2 {"a":"1","b":"2"}"#,
        "3 invalid-row: a quote opened on line 3 is still open at the end of the file (line 5)" + Self.none,
        #"4 {"a":"4","b":"5"}"#, #"5 {"a":"6","b":"7"}"#,
      ])
  }

  @Test func namesThatCannotBeReadLoseTheFile() throws {
    #expect(
      try Self.rows("a,\"b\" c\n1,2\n", #""form": "csv", "fields": {}"#) == [
        "0 other-form: a table with unreadable column names: text after a closing quote" + Self.none
      ])
  }

  @Test func linesBeyondTheLimitAreNoneAndOthersFollow() throws {
    let long = String(repeating: "x", count: 40)
    #expect(
      try Self.cut("a,b\n1,\(long)\n2,\"\(long)\n\(long)\"\n3,4\n".utf8, #""form": "csv", "fields": {}"#, longest: 32)
        == [
          "2 line-too-long: ", "3 line-too-long: ", "4 line-too-long: ", #"5 {"a":"3","b":"4"}"#,
        ])
    #expect(
      try Self.cut("a,b\n2,\"x\ny\n\(long)z\n3,4\n".utf8, #""form": "csv", "fields": {}"#, longest: 32) == [
        "2 invalid-row: a quote opened on line 2 is not closed within 32 bytes" + Self.none,
        #"3 {"a":"y"} [short-row]"#, "4 line-too-long: ", #"5 {"a":"3","b":"4"}"#,
      ])
  }

  /// Each line opens a quote that the next one could close: what is looked at again stays little.
  @Test func hostileTablesAreReadInLinearTime() throws {
    for line in ["x\",\"\n", "\"x\n", "\"\"\"\n", "x,\"a\"\"\n", "\",\"\n"] {
      let table = "a,b\n" + String(repeating: line, count: 20_000)
      let rows = try Self.cut(table.utf8, #""form": "csv", "fields": {}"#, piece: 1 << 16)
      #expect(rows.count > 5000, "\(line): \(rows.count) rows")
    }
  }

  @Test func damageAtOnePlaceNeverMakesARowVanish() throws {
    var random = SplitMix64(seed: 67)
    let dialects: [(map: String, separator: String, write: (String) -> String)] = [
      (#""form": "csv""#, ",", { "\"" + $0.replacing("\"", with: "\"\"") + "\"" }),
      (
        #""form": "csv", "escape": "\\""#, ",",
        { "\"" + $0.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\"" }
      ),
      (
        #""form": "csv", "escape": "\\\"""#, ",",
        { "\"" + $0.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\"" }
      ),
      (
        #""form": "tsv", "quotes": "none", "escape": "\\""#, "\t",
        {
          // One by one: of the two of a line end that is written in Windows' way, characters see neither.
          let written: [Unicode.Scalar: String] = ["\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"]
          return $0.unicodeScalars.map { written[$0] ?? String($0) }.joined()
        }
      ),
      (
        #""form": "tsv""#, "\t",
        { "\"" + $0.unicodeScalars.map { $0 == "\"" ? "\"\"" : $0 == "\n" ? " " : String($0) }.joined() + "\"" }
      ),
    ]
    let pieces = ["a", "b c", ",", "\t", "\"", "\\", "\n", "ü", "\r", "'", "x\"y", "1,5"]
    for round in 0..<1500 {
      let dialect = dialects[round % dialects.count]
      let rows = (0..<6).map { row in
        ["r\(row)-\(round)"]
          + (0..<3).map { _ in (0..<random.below(4)).map { _ in pieces[random.below(pieces.count)] }.joined() }
      }
      let lines = rows.map { row in row.map(dialect.write).joined(separator: dialect.separator) + "\n" }
      let header = ["id", "p", "q", "s"].joined(separator: dialect.separator) + "\n"
      let expected = try Self.cut((header + lines.joined()).utf8, dialect.map + #", "fields": {}"#)
      #expect(expected.count == rows.count)
      let hit = random.below(rows.count)
      var line = Array(lines[hit].utf8)
      let place = random.below(line.count)
      switch random.below(3) {
      case 0: line.remove(at: place)
      case 1: line.insert(Array("\"\\,\t\nz".utf8)[random.below(6)], at: place)
      default: line[place] = Array("\"\\,\t\nz".utf8)[random.below(6)]
      }
      let before = lines[..<hit].joined().utf8
      let table = Array((header + String(before)).utf8) + line + Array(lines[(hit + 1)...].joined().utf8)
      let found = try Self.cut(table, dialect.map + #", "fields": {}"#)
      let others = found.map { $0.split(separator: " ", maxSplits: 1)[1] }
      for (number, text) in expected.enumerated() where number != hit {
        let object = text.split(separator: " ", maxSplits: 1)[1]
        // Without the line end between them a row is a part of the one before.
        let isJoined = number == hit + 1 && place == lines[hit].utf8.count - 1
        #expect(
          others.contains(object) || isJoined && others.contains { !$0.hasPrefix("{") || $0.hasSuffix("]") },
          "\(dialect.map) \(object) \(String(decoding: line, as: UTF8.self)) \(found)")
      }
    }
  }
}
