import BatchFoundation
import Testing

@Suite struct KeyedRowsTests {
  private func texts(_ rows: KeyedRows, _ key: String) -> [String] {
    var texts: [String] = []
    var key = key
    key.withUTF8 { key in
      rows.forEachText(of: Text(base: key.baseAddress ?? Text.empty.base, count: key.count)) {
        texts.append("\($0)=\($1)")
      }
    }
    return texts
  }

  @Test func findsEachOfManyRowsByItsBytes() {
    var rows = KeyedRows(columns: 2)
    #expect(texts(rows, "key 1") == [])
    for number in 0..<5000 {
      let isNew = rows.insert("key \(number)", ["\(number)", number.isMultiple(of: 3) ? "" : "third"])
      #expect(isNew)
    }
    #expect(rows.count == 5000)
    for number in 0..<5000 {
      #expect(
        texts(rows, "key \(number)") == ["0=\(number)"] + (number.isMultiple(of: 3) ? [] : ["1=third"]), "\(number)")
    }
    #expect(texts(rows, "key 5000") == [])
    #expect(texts(rows, "") == [])
  }

  @Test func theFirstOfTwoRowsWithOneKeyStays() {
    var rows = KeyedRows(columns: 1)
    let isNew = [("caf\u{E9}", "one"), ("cafe\u{301}", "other bytes"), ("caf\u{E9}", "two")].map {
      rows.insert($0, [$1])
    }
    #expect(isNew == [true, true, false])
    #expect(texts(rows, "caf\u{E9}") == ["0=one"])
    #expect(rows.count == 2)
  }

  @Test func takesTextsOfAnyLength() {
    var rows = KeyedRows(columns: 3)
    let lengths = [0, 1, 127, 128, 16_383, 16_384, 200_000]
    for length in lengths { _ = rows.insert("k\(length)", [String(repeating: "a", count: length), "", "z"]) }
    for length in lengths {
      let first = length == 0 ? [] : ["0=" + String(repeating: "a", count: length)]
      #expect(texts(rows, "k\(length)") == first + ["2=z"])
    }
  }
}
