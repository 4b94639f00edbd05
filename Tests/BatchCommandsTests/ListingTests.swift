import BatchFoundation
import BatchReport
import Testing

@testable import BatchCommands

@Suite struct ListingTests {
  private final class Lines {
    var all: [String] = []
  }

  private func lines(_ format: OutputFormat, _ rows: [[JSONNode]], isAligned: Bool = false) -> [String] {
    let lines = Lines()
    var listing = Listing(format, columns: ["name", "count"], isAligned: isAligned) { lines.all.append($0) }
    for row in rows { listing.add(row) }
    listing.end()
    return lines.all
  }

  @Test func writesTabsBelowTheNames() {
    #expect(
      lines(.text, [[.text("a\tb"), .number(1)], [.text(nil), .array([.flag(true), .text("\"")])]]) == [
        "name\tcount", "a\\u{9}b\t1", "\t[true,\"\\\"\"]",
      ])
    #expect(lines(.text, []) == ["name\tcount"])
  }

  @Test func putsColumnsBelowEachOtherOnATerminal() {
    #expect(
      lines(.text, [[.text("ä"), .number(1)], [.text("longer"), .text(nil)]], isAligned: true) == [
        "name    count", "ä       1", "longer",
      ])
    #expect(lines(.text, [], isAligned: true) == ["name  count"])
    let many = (0..<150).map { [JSONNode.text($0 == 149 ? "very long" : "a"), .number($0)] }
    let shown = lines(.text, many, isAligned: true).joined(separator: "\n").split(separator: "\n")
    #expect(shown.count == 151)
    #expect(shown[1] == "a     0")
    #expect(shown[150] == "very long  149")
  }

  @Test func writesTheFirstRowsAtOnceAndLaterOnesTogether() {
    let pieces = lines(.text, (0..<1000).map { [.text("row"), .number($0)] })
    #expect(pieces.prefix(65).allSatisfy { !$0.contains("\n") })
    #expect(pieces.count < 70)
    #expect(pieces.joined(separator: "\n").split(separator: "\n").count == 1001)
  }

  @Test func writesOneArray() throws {
    let text = lines(.json, [[.text("a"), .number(1)], [.text(nil), .number(2)]]).joined(separator: "\n")
    #expect(
      text == """
        [
          {
            "name": "a",
            "count": 1
          },
          {
            "name": null,
            "count": 2
          }
        ]
        """)
    #expect(lines(.json, []) == ["[]"])
  }

  @Test("On a terminal a run has the cells that people read: times to the minute, and how it ended in words")
  func shortHistory() {
    func short(_ night: String?, _ ending: JSONNode, to: String? = nil) -> [String] {
      let cells: [JSONNode] = HistoryRow.columns.map { name in
        switch name {
        case "started", "windowFrom": .text("2026-01-02T03:04:05.678Z")
        case "night": .text(night)
        case "ending": ending
        case "mode": .text("run")
        case "windowTo": .text(to)
        case "reason": .text("it was so")
        default: .number(7)
        }
      }
      return HistoryRow.short(cells).map { $0.string ?? $0.compactText }
    }
    let (begin, figures) = (
      ["7", "2026-01-02 03:04", "from 2026-01-02 03:04"], ["7", "7", "7", "it was so"]
    )
    #expect(short("done with findings", .number(0)) == begin + ["done with findings"] + figures)
    #expect(short("no input", .number(66)) == begin + ["no input (66)"] + figures)
    #expect(short(nil, .number(78)) == begin + ["failed (78)"] + figures)
    #expect(short(nil, .number(0)) == begin + ["done"] + figures)
    #expect(short(nil, .text("unfinished")) == begin + ["unfinished"] + figures)
    #expect(short(nil, .number(0), to: "2026-01-03T00:00:00.000Z")[2] == "from 2026-01-02 03:04 to 2026-01-03 00:00")
    #expect(HistoryRow.shortColumns.filter { !HistoryRow.columns.contains($0) } == ["window"])
  }

  @Test("Ids are shown as the policy says, and those of a row stay until the next, however few are kept")
  func shownIDs() {
    let personal = PersonalData(.hash, key: [7])
    var ids = ShownIDs(personal, atMost: 1)
    for row in ["a", "b", "a", ""] {
      ids.beginRow()
      let shown = [row, "user of \(row)", row].map { id in id.withText { ids.shown($0) } }
      #expect(shown.map { $0?.description } == [row, "user of \(row)", row].map { personal.id($0).text })
    }
    var none = ShownIDs(PersonalData(.omit, key: []), atMost: 1)
    #expect(none.shown("a") == nil)
  }
}
