import BatchConfiguration
import BatchFoundation
import BatchReport
import BatchStore
import Engage
import Foundation
import Testing

@testable import BatchPipeline

/// What no run has read is told until one has (reference decisions 49).
@Suite("Missed windows") struct MissedWindowsTests {
  private static func instant(_ text: String) throws -> Instant {
    try #require(Instant.parse(rfc3339: text.count == 10 ? text + "T00:00:00Z" : text))
  }

  private static func window(_ from: String?, _ to: String?) throws -> TimeWindow {
    try TimeWindow(from: from.map(instant), to: to.map(instant))
  }

  private func words(_ missed: MissedWindows) -> [String] {
    missed.pieces.map { piece in
      "\(piece.lowerBound.rfc3339.prefix(16)) \(piece.upperBound.rfc3339.prefix(16))"
    }
  }

  @Test("A gap is cut into windows as long as the one behind it, by the calendar of the zone")
  func pieces() throws {
    var missed = MissedWindows(in: .utc)
    try missed.read(Self.window("2026-01-01", "2026-01-02"), knownUntil: Self.instant("2026-01-02"))
    try missed.begin(Self.window("2026-01-04T12:00:00Z", "2026-01-05T12:00:00Z"))
    #expect(
      words(missed) == [
        "2026-01-02T00:00 2026-01-02T12:00", "2026-01-02T12:00 2026-01-03T12:00", "2026-01-03T12:00 2026-01-04T12:00",
      ])
    // Reading takes away what was read, and no more.
    try missed.read(Self.window("2026-01-03", "2026-01-04"), knownUntil: Self.instant("2026-01-04"))
    #expect(
      words(missed) == [
        "2026-01-02T00:00 2026-01-02T12:00", "2026-01-02T12:00 2026-01-03T00:00", "2026-01-04T00:00 2026-01-04T12:00",
      ])
    try missed.drop(before: Self.instant("2026-01-02T12:00:00Z"))
    #expect(words(missed).count == 2)
    let london = try ZoneDatabase(environment: [:]).zone("Europe/London")
    var summer = MissedWindows(in: london)
    try summer.read(Self.window("2026-03-27", "2026-03-28"), knownUntil: Self.instant("2026-03-28"))
    // The 29th has 23 hours there.
    try summer.begin(Self.window("2026-03-29T23:00:00Z", "2026-03-30T23:00:00Z"))
    #expect(words(summer) == ["2026-03-28T00:00 2026-03-29T00:00", "2026-03-29T00:00 2026-03-29T23:00"])
  }

  @Test("A run without a window has read up to its known time; windows that overlap leave no gap")
  func open() throws {
    var missed = MissedWindows(in: .utc)
    try missed.read(TimeWindow(), knownUntil: Self.instant("2026-01-05"))
    try missed.begin(Self.window("2026-01-04", "2026-01-06"))
    #expect(missed.pieces == [])
    try missed.begin(Self.window("2026-01-06", nil))
    #expect(words(missed) == ["2026-01-05T00:00 2026-01-06T00:00"])
  }

  // MARK: - Runs

  private static func line(_ day: Int) -> String {
    let day = day < 10 ? "0\(day)" : "\(day)"
    return #"{"deviceId":"d","timestamp":"2026-01-\#(day)T08:00:00Z","type":"namedEvent","name":"n\#(day)"}"# + "\n"
  }

  private func folder(_ more: String = "", days: [Int]) throws -> JobFolder {
    let job = #"""
      {"name": "j", "store": "j.sqlite", "inputs": {"events": [{"path": "e-{dd}", "required": true}]},
       "window": {"from": "yesterday", "to": "today"}\#(more)}
      """#
    let files = days.map { ("e-\($0 < 10 ? "0" : "")\($0)", Self.line($0)) }
    return try JobFolder(Dictionary(uniqueKeysWithValues: files).merging(["job.json": job]) { $1 })
  }

  /// Of the night after a day.
  private func night(_ folder: JobFolder, _ day: Int, _ mode: RunMode = .noUpload) throws -> RunRequest {
    var changes = CommandLineChanges()
    changes.asOf = try Self.instant("2026-01-\(day + 1 < 10 ? "0" : "")\(day + 1)T02:15:00Z")
    var request = try folder.request(changes)
    request.mode = mode
    return request
  }

  private func days(_ outcome: RunOutcome) -> [String] {
    outcome.report.missed.map { String($0.from.rfc3339.dropFirst(8).prefix(2)) }
  }

  @Test("A missed night is told with its command in each run until it is read, and a dry run changes nothing about it")
  func untilRead() throws {
    let folder = try folder(days: [1, 2, 4, 5, 6])
    for day in [1, 2] { #expect(try days(folder.run(night(folder, day))) == []) }
    #expect(throws: (any Error).self) { try folder.run(night(folder, 3)) }
    let after = try folder.run(night(folder, 4))
    #expect(after.exit == .done)
    #expect(days(after) == ["03"])
    #expect(after.report.night == .findings)
    let missed = try #require(after.report.missed.first)
    #expect(
      missed
        == MissedWindow(
          from: try Self.instant("2026-01-03"), to: try Self.instant("2026-01-04"),
          asOf: try Self.instant("2026-01-04T02:15:00Z")))
    #expect(
      TextSummary(after.report).lines.contains(
        "  - 2026-01-03 was never read. Once its export is there: engage-batch run \(folder.path)/job.json --no-upload --as-of 2026-01-04T02:15:00.000Z"
      ), "\(TextSummary(after.report).lines)")
    #expect(
      after.report.summaryJSON.contains(
        #""missed":[{"from":"2026-01-03T00:00:00.000Z","to":"2026-01-04T00:00:00.000Z"}],"night":"done with findings"}"#
      ))
    let metrics = MetricsText(job: "j", exit: .done, endedAt: .now, lastSuccess: nil, report: after.report).text
    #expect(metrics.contains("engage_batch_missed_windows{job=\"j\"} 1\n"))
    #expect(metrics.contains("engage_batch_night{job=\"j\",state=\"done with findings\"} 1\n"))
    #expect(metrics.contains("engage_batch_night{job=\"j\",state=\"done\"} 0\n"))
    let alarm = Alarm(after.report)
    #expect(alarm.isDue(after: .done))
    #expect(alarm.text.contains("Never read: 2026-01-03T00:00:00.000Z to 2026-01-04T00:00:00.000Z"), "\(alarm.text)")
    #expect(try folder.run(night(folder, 6, .dryRun(sends: true))).report.missed == [])
    #expect(try days(folder.run(night(folder, 5))) == ["03"])
    try folder.write("e-03", Self.line(3))
    let repair = try folder.run(night(folder, 3))
    #expect(repair.report.summary.records.accepted == 1)
    #expect(days(repair) == [])
    #expect(try days(folder.run(night(folder, 6))) == [])
  }

  @Test("A gap that is older than the reach is told once more, then dropped; a job may say that it does not matter")
  func reach() throws {
    let folder = try folder(days: Array(1...12).filter { $0 != 2 })
    var told: [[String]] = []
    for day in [1] + Array(3...9) { told.append(days(try folder.run(night(folder, day)))) }
    // Known until the 7th, four days back are the 3rd.
    #expect(told == [[], ["02"], ["02"], ["02"], ["02"], [], [], []])
    let silent = try self.folder(#", "missed": false"#, days: [1, 3])
    for day in [1, 3] { #expect(try days(silent.run(night(silent, day))) == []) }
  }

  @Test("A night of which nothing could be used was not read; a window that was given has its ends in the command")
  func refusedNight() throws {
    let folder = try folder(days: [1, 3])
    #expect(try folder.run(night(folder, 1)).exit == .done)
    try folder.write("e-02", "{}\n")
    #expect(try folder.run(night(folder, 2)).exit == .inputRefused)
    let given = try folder.run(folder.request(from: "2026-01-03T00:00:00Z", to: "2026-01-04T00:00:00Z"))
    #expect(
      given.report.missed == [MissedWindow(from: try Self.instant("2026-01-02"), to: try Self.instant("2026-01-03"))])
    #expect(
      TextSummary(given.report).lines.contains {
        $0.contains("--from 2026-01-02T00:00:00.000Z --to 2026-01-03T00:00:00.000Z")
      })
  }

  @Test("A run that ends before it has read anything is kept with exit code, reason and window, where a store is")
  func failedStarts() throws {
    let folder = try folder(#", "reports": "reports""#, days: [1])
    #expect(throws: (any Error).self) { try folder.run(night(folder, 2)) }
    #expect(!FileManager.default.fileExists(atPath: "\(folder.path)/j.sqlite"))
    #expect(try folder.run(night(folder, 1)).exit == .done)
    #expect(throws: (any Error).self) { try folder.run(night(folder, 2)) }
    #expect(throws: (any Error).self) { try folder.run(night(folder, 2, .dryRun(sends: true))) }
    let store = try EventStore.openReading("\(folder.path)/j.sqlite", format: EngagePlatform().storeFormat)
    let runs = try store.runs.all()
    #expect(runs.map(\.exit) == [0, 66])
    #expect(runs.map(\.night) == [.done, .noInput])
    #expect(runs[1].window == (try Self.window("2026-01-02", "2026-01-03")))
    #expect(runs[1].knownUntil == nil)
    let report = try StoredReport.report(#require(try store.runs.report(of: runs[1].id)))
    #expect(report.failure?.contains("matches nothing for 2026-01-02") == true)
    try store.close()
    let page = try folder.text("reports/index.html")
    #expect(page.contains(#"<td class="bad" title="no input">"#), "\(page)")
    #expect(page.contains("matches nothing for 2026-01-02"))
    // A day between nights that were read, of which there was no run at all.
    try folder.write("e-04", Self.line(4))
    try folder.write("e-05", Self.line(5))
    _ = try folder.run(night(folder, 4))
    _ = try folder.run(night(folder, 5))
    let later = try folder.text("reports/index.html")
    #expect(
      later.contains(#"<td class="attention" title="no run has read its window">3<span>○</span><i>missed</i></td>"#),
      "\(later)"
    )
    #expect(later.contains("<i>findings</i>"))
  }

  @Test("A run that is refused for going backwards is kept as well")
  func refusedStart() throws {
    let folder = try JobFolder([
      "a": Self.line(20), "job.json": #"{"name": "j", "store": "j.sqlite", "inputs": {"events": ["a"]}}"#,
    ])
    #expect(try folder.run(folder.request(from: "2026-01-20T00:00:00Z", to: "2026-01-21T00:00:00Z")).exit == .done)
    #expect(throws: BackwardRunError.self) {
      try folder.run(folder.request(from: "2026-01-02T00:00:00Z", to: "2026-01-03T00:00:00Z"))
    }
    let store = try EventStore.openReading("\(folder.path)/j.sqlite", format: EngagePlatform().storeFormat)
    #expect(try store.runs.all().map(\.exit) == [0, 78])
    try store.close()
  }
}
