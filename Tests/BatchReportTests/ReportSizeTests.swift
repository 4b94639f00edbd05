import BatchFoundation
import Testing

@testable import BatchReport

/// A report is for people and monitors: whatever an export has in it, it stays below a megabyte.
@Suite("Reports of much stay small") struct ReportSizeTests {
  private static let limit = 1_000_000
  private static let hours: Int64 = 3 * 365 * 24

  /// Names that are long and grow sixfold where they are written.
  private static let tail = String(repeating: "\u{1}<\"", count: 100)
  private static func name(_ number: Int) -> String { "\(number)" + tail }

  private static func much(_ policy: PersonalDataPolicy) -> RunReport {
    var report = RunReport.fixture(policy)
    var types = NameTable<Int>(atMost: RunSummary.typeLimit)
    for number in 0..<1300 {
      let name = ByteText(name(number))
      types.add(number, to: name)
      for step in 0..<(number < 50 ? 40 : 2) {
        let hour = Self.hours / 40 * Int64(step)
        if number < 100 { report.activity.events.change(name) { $0.add(number, at: hour) } }
        report.activity.campaign(name) {
          $0.wasSet(at: Instant(milliseconds: hour * 3_600_000), until: Instant(milliseconds: (hour + 9) * 3_600_000))
          $0.events.add(number, at: hour)
          $0.expired.add(1, at: hour + 9)
        }
      }
    }
    report.summary.setEvents(types)
    for hour in 0..<Self.hours {
      report.activity.sessionsStarted.add(1000, at: hour)
      report.activity.sessionsEnded.add(1000, at: hour)
    }
    let personal = PersonalData.fixture(policy)
    let line = Array(#"{"a":""#.utf8) + [UInt8](repeating: 1, count: 5000)
    report.quarantine = (0..<200).map { number in
      QuarantineSample(
        QuarantinedLine(
          file: name(number), line: 3, offset: 120, reason: .missingField, detail: name(number), raw: line),
        personal)
    }
    report.warnings = (0..<40).map { kind in
      WarningTally(
        kind: "kind-\(kind)", occurrences: 5,
        first: (0..<5).map { place in
          WarningTally.Place(device: personal.id(name(place)), file: name(place), line: 4, detail: name(place))
        })
    }
    report.unknownFields = (0..<1000).map { UnknownField(name: name($0), records: 1) }
    report.merges = (0..<200).map { plan in
      IdentityMerge(
        plan: Int64(plan), scenario: "mark-merged", words: "merged", state: "done", device: personal.id(name(plan)),
        loser: personal.id(name(plan)), winner: personal.id(name(plan)), reason: name(plan))
    }
    report.notes = (0..<5000).map(name)
    report.failure = (0..<5000).map(name).joined(separator: "\n")
    return report
  }

  @Test("Thousands of long names of events, campaigns, fields, files and devices")
  func manyNames() throws {
    let report = Self.much(.clear)
    let page = HTMLReport.text(report).utf8.count
    let json = JSONReport.text(report).utf8.count
    #expect(page < Self.limit && page > 100_000, "\(page)")
    #expect(json < Self.limit && json > 100_000, "\(json)")
    #expect(report.summary.json.utf8.count < 250_000)
    #expect(TextSummary(report).lines.count < 400)
  }

  @Test("A sum of reports keeps all events, and as many types as one report")
  func sumOfReports() {
    var (all, part) = (RunReport.fixture(), RunReport.fixture())
    all.summary.setEvents(NameTable(atMost: RunSummary.typeLimit))
    var types = NameTable<Int>(atMost: RunSummary.typeLimit)
    for number in 0..<1500 { types.add(2, to: ByteText("code-\(number)")) }
    part.summary.setEvents(types)
    all.add(part)
    all.add(part)
    #expect(all.summary.eventCount == 6000 && all.summary.otherEvents == 2000)
    #expect(all.summary.eventsByType.count == 1000)
  }

  @Test("What is not told one by one is told as a sum")
  func sumsAddUp() throws {
    var summary = RunSummary()
    var types = NameTable<Int>(atMost: RunSummary.typeLimit)
    for number in 0..<3000 { types.add(2, to: ByteText("code-\(number)")) }
    summary.setEvents(types)
    #expect(summary.eventCount == 6000 && summary.eventsByType.count == 1000 && summary.otherEvents == 4000)
    #expect(summary.json.contains(#""events":{"total":6000,"byType":{"code-0":2,"#))
    #expect(summary.json.contains(#""code-1898":2},"others":4000}"#))
    var report = RunReport.fixture()
    report.summary = summary
    #expect(TextSummary(report).lines.contains("                5,900  of other types"))
    #expect(
      HTMLReport.text(report).contains(
        #"<tr><th scope="row"><code>others</code> </th><td class="wide"><svg class="bar" viewBox="0 0 100 8" "#
          + #"preserveAspectRatio="none" aria-hidden="true"><rect width="100" height="8"/></svg></td><td class="number">5,940</td></tr>"#
      ))
  }
}
