import BatchConfiguration
import BatchFoundation
import BatchReport
import BatchStore
import Engage
import Foundation
import Testing

@testable import BatchPipeline

/// A run that read lines and could use none of them is no success (reference decisions 48).
@Suite("Nothing usable") struct NothingUsableTests {
  private static func line(_ minute: Int, _ device: String = "d", day: Int = 2) -> String {
    #"{"deviceId":"\#(device)","timestamp":"2026-01-0\#(day)T00:0\#(minute):00Z","type":"namedEvent","name":"n"}"#
      + "\n"
  }

  private func folder(_ text: String, _ entry: String = #""in""#) throws -> JobFolder {
    try JobFolder([
      "in": text, "job.json": #"{"name": "j", "store": "j.sqlite", "inputs": {"events": [\#(entry)]}}"#,
    ])
  }

  private func night(_ folder: JobFolder, _ day: Int, _ mode: RunMode = .noUpload) throws -> RunRequest {
    var request = try folder.request(from: "2026-01-0\(day)T00:00:00Z", to: "2026-01-0\(day + 1)T00:00:00Z")
    request.mode = mode
    return request
  }

  private func store<Value>(_ folder: JobFolder, _ body: (EventStore) throws -> Value) throws -> Value {
    let store = try EventStore.openReading("\(folder.path)/j.sqlite", format: EngagePlatform().storeFormat)
    let value = try body(store)
    try store.close()
    return value
  }

  private static let end =
    ", so nothing was processed or sent; correct the job or the export and run again, or continue with --allow-empty"

  @Test("Records that are all out of the window: the window, and the span of the records", arguments: [1, 3])
  func outside(workers: Int) throws {
    let folder = try folder(Self.line(1) + Self.line(4) + Self.line(2))
    var request = try night(folder, 5)
    request.loaded.configuration.settings.ingest.workers = workers
    let outcome = try folder.run(request)
    #expect(outcome.exit == .inputRefused)
    #expect(
      outcome.report.failure == """
        error: all 3 records are outside the window 2026-01-05T00:00:00.000Z to 2026-01-06T00:00:00.000Z: \
        from 2026-01-02T00:01:00.000Z to 2026-01-02T00:04:00.000Z
        none of the 3 lines can be used\(Self.end)
        """)
    #expect(outcome.report.knownUntil == nil)
    // It keeps its row, and neither a known time nor a state.
    try store(folder) { store throws in
      #expect(try store.runs.all().map(\.exit) == [65])
      #expect(try store.runs.knownUntil() == nil)
      #expect(try store.isEmpty)
    }
  }

  @Test("Lines that are no records: each reason with its number and first place, and they stay in quarantine")
  func quarantined() throws {
    let folder = try folder("{}\n[]\n{\"deviceId\":\"\"}\n" + Self.line(1))
    let outcome = try folder.run(night(folder, 5))
    #expect(
      outcome.report.failure == """
        error: 1 record is outside the window 2026-01-05T00:00:00.000Z to 2026-01-06T00:00:00.000Z: at 2026-01-02T00:01:00.000Z
        2 x missing-field: field 'deviceId' is missing (first: \(folder.path)/in:1)
        1 x not-an-object (first: \(folder.path)/in:2)
        none of the 4 lines can be used\(Self.end)
        """)
    #expect(
      try folder.quarantine() == [
        "in:1 +0 missing-field '{}'", "in:2 +3 not-an-object '[]'", "in:3 +6 missing-field '{\"deviceId\":\"\"}'",
      ])
  }

  @Test("A dry run says the same, and keeps nothing")
  func dryRun() throws {
    let folder = try folder("{}\n")
    let outcome = try folder.run(night(folder, 2, .dryRun(sends: true)))
    #expect(outcome.exit == .inputRefused)
    #expect(outcome.report.failure?.hasPrefix("error: 1 x missing-field") == true)
    #expect(!FileManager.default.fileExists(atPath: "\(folder.path)/j.sqlite"))
  }

  @Test("One record that counts, a duplicate, an empty file or --allow-empty make it no error")
  func usable() throws {
    let folder = try folder("{}\n" + Self.line(1))
    #expect(try folder.run(night(folder, 2)).exit == .done)
    #expect(try folder.run(night(folder, 2)).report.summary.records.duplicates == 1)
    try folder.write("in", "\n\n")
    #expect(try folder.run(night(folder, 3)).exit == .done)
    try folder.write("in", "{}\n")
    #expect(try folder.run(night(folder, 4)).exit == .inputRefused)
    var request = try night(folder, 4)
    request.allowsEmpty = true
    #expect(request.invocation.run.words.contains("--allow-empty"))
    #expect(try folder.run(request).exit == .done)
    try store(folder) { store throws in
      #expect(try store.runs.all().map(\.exit) == [0, 0, 0, 65, 0])
      #expect(
        try store.runs.all().map { $0.knownUntil?.rfc3339.prefix(10) } == [
          "2026-01-03", "2026-01-03", "2026-01-04", nil, "2026-01-05",
        ])
    }
  }

  @Test("A store that has accepted a record: lines out of the window are told, and no error")
  func outsideOfAKnownStore() throws {
    let folder = try folder(Self.line(1))
    #expect(try folder.run(night(folder, 2)).exit == .done)
    try folder.write("in", Self.line(1, "e", day: 9))
    let outcome = try folder.run(night(folder, 3))
    #expect(outcome.exit == .done)
    #expect(
      outcome.report.notes.first
        == "the only record is outside the window 2026-01-03T00:00:00.000Z to 2026-01-04T00:00:00.000Z: at 2026-01-09T00:01:00.000Z"
    )
    #expect(try store(folder) { try $0.runs.knownUntil()?.rfc3339 } == "2026-01-04T00:00:00.000Z")
  }

  @Test("Sessions are not ended by the silence of a run that could use nothing, and events wait as they did")
  func stateStays() throws {
    let folder = try folder(Self.line(1))
    // Its session is under way.
    let first = try folder.request(from: nil, to: nil, asOf: "2026-01-02T00:10:00Z")
    #expect(try folder.run(first).report.summary.sessionsStarted == 1)
    let before = try store(folder) { try $0.ledger.statusCounts() }
    try folder.write("in", "[]\n")
    let outcome = try folder.run(folder.request(from: nil, to: nil, asOf: "2026-01-03T00:00:00Z"))
    #expect(outcome.exit == .inputRefused)
    #expect(outcome.report.summary.sessionsEnded == 0)
    #expect(outcome.report.knownUntil?.rfc3339 == "2026-01-02T00:10:00.000Z")
    #expect(try store(folder) { try $0.ledger.statusCounts() } == before)
    #expect(try store(folder) { try $0.runs.knownUntil()?.rfc3339 } == "2026-01-02T00:10:00.000Z")
    try folder.write("in", "")
    let next = try folder.run(folder.request(from: nil, to: nil, asOf: "2026-01-03T00:00:00Z"))
    #expect(next.report.summary.sessionsEnded == 1)
  }

  @Test("Records that Ingest.lateRecords quarantines are no use either, and move no known time")
  func late() throws {
    let folder = try folder(Self.line(5, day: 8))
    #expect(try folder.run(night(folder, 8)).exit == .done)
    try folder.write("in", Self.line(1, day: 2))
    let outcome = try folder.run(
      folder.request(from: nil, to: nil, asOf: "2026-01-10T00:00:00Z", "Ingest.lateRecords=quarantine"))
    #expect(outcome.exit == .inputRefused)
    #expect(outcome.report.summary.records.quarantined == 1)
    #expect(try store(folder) { try $0.runs.knownUntil()?.rfc3339 } == "2026-01-09T00:00:00.000Z")
  }

  @Test("minRecords counts records that are accepted or known, of files that are not read again too")
  func minimum() throws {
    let folder = try folder(Self.line(1) + Self.line(2) + Self.line(3, day: 7), #"{"path": "in", "minRecords": 2}"#)
    for _ in 0..<2 { #expect(try folder.run(night(folder, 2)).exit == .done) }
    let short = try folder.run(night(folder, 7))
    #expect(short.exit == .noInput)
    #expect(short.report.failure?.contains("has 1 usable record, but needs 2 (minRecords)") == true)
    try folder.write("in", Self.line(1) + Self.line(2))
    for _ in 0..<2 { #expect(try folder.run(night(folder, 2)).exit == .done) }
  }

  @Test("Reruns refuse an export of which nothing can be used, instead of taking everything back")
  func rerun() throws {
    let folder = try folder(Self.line(1))
    #expect(try folder.run(night(folder, 2)).exit == .done)
    try folder.write("in", "{}\n")
    let store = try EventStore.open("\(folder.path)/j.sqlite", format: EngagePlatform().storeFormat)
    let before = try store.ledger.statusCounts()
    let known = try #require(try RunRequest.known(to: store))
    let request = try folder.request(from: known.from.rfc3339, to: known.to.rfc3339, asOf: known.asOf.rfc3339)
    #expect(throws: NothingUsable.self) {
      try Pipeline(request).rerun(
        Rerun(from: known.from, to: known.to, sendsAgain: nil, allowsMissingInputs: false, isRehearsal: false),
        in: store)
    }
    #expect(try store.ledger.statusCounts() == before)
    try store.close()
  }
}
