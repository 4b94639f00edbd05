import BatchFoundation
import TestSupport
import Testing

@testable import BatchConfiguration

@Suite struct LookupTableTests {
  private func table(_ folder: TemporaryFolder, _ file: String) -> LookupTable {
    LookupTable(
      file: folder.path + "/" + file, keyAttribute: "Location Name", keyColumn: "place",
      columns: [
        LookupTable.Column(name: "sky", attribute: "Weather"),
        LookupTable.Column(name: "degrees", attribute: "Temperature"),
      ])
  }

  /// By column.
  private func texts(_ rows: KeyedRows, _ key: StaticString) -> [String] {
    var texts: [String] = []
    rows.forEachText(of: Text(key)) { texts.append("\($0): \($1)") }
    return texts
  }

  static let separated = "\u{FEFF}place,sky,degrees,other\r\nPier 39,\"rain, \"\"light\"\"\",11,x\r\n\r\nKöln,,7.5,\r\n"
  static let json = """
    [{"place": "Pier 39", "sky": "rain, \\"light\\"", "degrees": 11}, {"place": "Köln", "sky": null, "degrees": 7.5, "more": true}]
    """

  @Test(arguments: [separated, json])
  func readsEitherFormat(text: String) throws {
    let folder = try TemporaryFolder(["weather": text])
    let rows = try table(folder, "weather").rows(shownFrom: folder.path)
    #expect(rows.count == 2)
    #expect(texts(rows, "Pier 39") == ["0: rain, \"light\"", "1: 11"])
    #expect(texts(rows, "Köln") == ["1: 7.5"])
    #expect(texts(rows, "Ko\u{308}ln") == [])
  }

  /// As CSV it may be larger; as a document it takes many times its size.
  @Test func refusesALargeTableInJSON() throws {
    let folder = try TemporaryFolder(["weather": "[" + String(repeating: " ", count: 16 << 20) + "]"])
    let errors = #expect(throws: ConfigurationErrors.self) {
      _ = try table(folder, "weather").rows(shownFrom: folder.path)
    }
    #expect(
      errors?.description == "weather: error: it is larger than 16777216 bytes; use a CSV table, which may be larger")
    try folder.write("weather", "place,sky,degrees\n" + String(repeating: "\n", count: 16 << 20))
    #expect(try table(folder, "weather").rows(shownFrom: folder.path).count == 0)
  }

  @Test(arguments: [
    ("", "weather: error: the table is empty"),
    ("place,sky\n", "weather:1: error: the table has no column 'degrees'; its columns: place, sky"),
    ("place,skye,degrees\n", "weather:1: error: the table has no column 'sky'; did you mean 'skye'?"),
    ("place,sky,degrees\na,b\n", "weather:2: error: the row has 2 fields, but the header has 3"),
    ("place,sky,degrees\na,b,1\na,c,2\n", "weather:3: error: an earlier row has the same value in 'place'"),
    ("place,sky,degrees\n,b,1\n", "weather:2: error: the row has no value for 'place'"),
    ("place,sky,degrees\na,b,1,2\n", "weather:2: error: not readable as CSV: 4 fields, but the table has 3 columns"),
    (
      "place,sky,degrees\na,\"b,1\n",
      "weather:2: error: not readable as CSV: a quote opened on line 2 is still open at the end of the file (line 2)"
    ),
    ("place,sky,degrees\na,\"b\"c,1\n", "weather:2: error: not readable as CSV: text after a closing quote"),
    ("place,sky,degrees\na,b\"c,1\n", "weather:2: error: not readable as CSV: a quote inside an unquoted field"),
    ("[5]", "weather:1: error: the row is an integer, but must be an object"),
    ("[{\"sky\": \"b\"}]", "weather:1: error: the row has no value for 'place'"),
    ("[{\"place\": []}]", "weather:1: error: 'place' is an array, but must be a string, a number or a boolean"),
  ])
  func names(text: String, expected: String) throws {
    let folder = try TemporaryFolder(["weather": text])
    do {
      _ = try table(folder, "weather").rows(shownFrom: folder.path)
      Issue.record("accepted")
    } catch {
      #expect(error.description == expected)
    }
  }
}
