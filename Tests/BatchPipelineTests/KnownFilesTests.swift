import BatchFoundation
import BatchReport
import BatchStore
import Engage
import GRDB
import Testing

@testable import BatchPipeline

@Suite("Files of earlier runs") struct KnownFilesTests {
  private static let job = """
    {"name": "j", "inputs": {"events": [{"path": "in/*", "minRecords": 2}]}, "asOf": "2026-02-01T00:00:00Z",
     "store": "j.sqlite"}
    """

  private static func line(_ device: String, _ day: Int, _ name: String = "n") -> String {
    #"{"deviceId":"\#(device)","timestamp":"2026-01-0\#(day)T00:00:00Z","type":"namedEvent","name":"\#(name)"}"# + "\n"
  }

  private func store(_ folder: JobFolder) throws -> EventStore {
    try EventStore.open("\(folder.path)/j.sqlite", format: EngagePlatform().storeFormat)
  }

  private func knownFiles(_ folder: JobFolder) throws -> [KnownFile] {
    let store = try store(folder)
    defer { #expect(throws: Never.self) { try store.close() } }
    return try store.runs.knownFiles()
  }

  @Test("A repeated run tells the figures that it would tell had it read them") func figures() throws {
    let folder = try JobFolder([
      "job.json": Self.job, "in/a": Self.line("x", 5) + Self.line("y", 6), "in/b": Self.line("x", 7) + "{}\n",
    ])
    let first = try folder.run(folder.request()).report.summary.records
    #expect([first.read, first.accepted, first.quarantined] == [4, 3, 1])
    #expect(try knownFiles(folder).map(\.lines) == [2])
    for _ in 1...2 {
      let records = try folder.run(folder.request()).report.summary.records
      #expect([records.read, records.duplicates, records.quarantined] == [4, 3, 1])
    }
    // A dry run, and one that reads lines of another length.
    var look = try folder.request()
    look.mode = .dryRun(sends: false)
    #expect(try folder.run(look).report.summary.records.duplicates == 3)
    let strict = try folder.run(folder.request("Ingest.maxLineBytes=20")).report.summary.records
    #expect([strict.duplicates, strict.quarantined] == [0, 4])
  }

  /// Their lines were accepted when they were read, and left the accepted ones only when they were decided.
  @Test("A file with late lines that were quarantined is read again") func lateLines() throws {
    let folder = try JobFolder(["job.json": Self.job, "in/a": Self.line("x", 5) + Self.line("y", 5)])
    let strict = try folder.request("Ingest.lateRecords=quarantine")
    _ = try folder.run(strict)
    #expect(try knownFiles(folder).count == 1)
    try folder.write("in/b", Self.line("x", 1) + Self.line("z", 5))
    for accepted in [1, 0] {
      let records = try folder.run(strict).report.summary.records
      #expect([records.accepted, records.duplicates, records.quarantined] == [accepted, 3 - accepted, 1])
      #expect(try knownFiles(folder).count == 1)
    }
  }

  /// The copy counted as a duplicate of the line that was quarantined, and proved both from then on, so that the line was lost.
  @Test("A copy of a file with late lines that were quarantined is read again, too") func copiesOfLateLines() throws {
    let folder = try JobFolder(["job.json": Self.job, "in/a": Self.line("x", 5) + Self.line("y", 5)])
    let strict = try folder.request("Ingest.lateRecords=quarantine")
    _ = try folder.run(strict)
    try folder.write("in/b", Self.line("x", 1) + Self.line("z", 5))
    try folder.write("in/b-copy", Self.line("x", 1) + Self.line("z", 5))
    for _ in 0..<2 { #expect(try folder.run(strict).report.summary.records.quarantined == 1) }
    #expect(try knownFiles(folder).count == 1)
    let accepted = try folder.run(folder.request("Ingest.lateRecords=accept")).report.summary.records
    #expect([accepted.accepted, accepted.duplicates] == [1, 5])
    // Nothing is late any more, and all are known.
    #expect(try knownFiles(folder).count == 2)
  }

  @Test(
    "A damaged row is a file that is read",
    arguments: [
      "size = -1", "size = 9223372036854775807", "lines = -9223372036854775808", "last = first - 1",
      "first = 9223372036854775807", "proof = x''", "lines = lines + 1",
    ])
  func damagedRow(change: String) throws {
    let folder = try JobFolder(["job.json": Self.job, "in/a": Self.line("x", 5) + Self.line("y", 5)])
    _ = try folder.run(folder.request())
    let store = try store(folder)
    try store.write { try $0.execute(sql: "UPDATE known_file SET \(change)") }
    try store.close()
    let records = try folder.run(folder.request()).report.summary.records
    #expect([records.read, records.duplicates] == [2, 2])
    #expect(try knownFiles(folder).contains { $0.lines == 2 })
  }

  @Test("Lines of somebody who was forgotten are refused, though their file was known") func forgotten() throws {
    let folder = try JobFolder(["job.json": Self.job, "in/a": Self.line("ada-phone", 5) + Self.line("y", 5)])
    _ = try folder.run(folder.request())
    let store = try store(folder)
    _ = try store.erasures.erase(
      [PersonID(.device, "ada-phone")], at: .now, ErasureOptions(admitsFoundDevices: false, isRehearsal: false),
      isOf: { _ in { _ in false } })
    #expect(try store.runs.knownFiles() == [])
    try store.close()
    var request = try folder.request()
    // Its two records are one that counts.
    #expect(try folder.run(request).exit == .noInput)
    request.allowsMissing = true
    let records = try folder.run(request).report.summary.records
    #expect([records.duplicates, records.forgotten, records.quarantined] == [1, 1, 0])
  }

  @Test("A store that gave up what it knows of lines, and one that was salvaged, read every file") func lessIsKnown()
    throws
  {
    let folder = try JobFolder(["job.json": Self.job, "in/a": Self.line("x", 5) + Self.line("y", 5)])
    _ = try folder.run(folder.request())
    let store = try store(folder)
    _ = try store.salvage(to: "\(folder.path)/new.sqlite")
    let salvaged = try EventStore.open("\(folder.path)/new.sqlite", format: EngagePlatform().storeFormat)
    #expect(try salvaged.runs.knownFiles() == [])
    try salvaged.close()
    #expect(try store.runs.knownFiles().count == 1)
    _ = try store.retention.purgeKnowledge(
      asOf: #require(Instant.parse(rfc3339: "2026-02-01T00:00:00Z")), digestDays: 1, deviceDays: nil,
      lastSeen: { _ in nil })
    #expect(try store.runs.knownFiles() == [])
    try store.close()
    var request = try folder.request()
    request.allowsMissing = true
    let records = try folder.run(request).report.summary.records
    #expect([records.read, records.outOfWindow] == [2, 2])
  }

  @Test("Each destination knows its files", arguments: ["engage", "deltadna", "unity"]) func platforms(_ name: String)
    throws
  {
    let job = Self.job.replacing(#""name": "j""#, with: #""name": "j", "destination": "\#(name)""#)
    let folder = try JobFolder(["job.json": job, "in/a": Self.line("x", 5) + Self.line("y", 5)])
    for figures in [[2, 2, 0], [2, 0, 2]] {
      let records = try folder.run(folder.request()).report.summary.records
      #expect([records.read, records.accepted, records.duplicates] == figures)
    }
  }
}
