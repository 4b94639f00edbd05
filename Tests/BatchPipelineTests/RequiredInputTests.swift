import BatchFoundation
import BatchIngest
import BatchReport
import Foundation
import Testing

@testable import BatchPipeline

/// What a job says has to be there is there, or nothing is decided (reference formats 1.2).
@Suite("Inputs that have to be there") struct RequiredInputTests {
  private static func line(_ day: Int, _ number: Int) -> String {
    #"{"deviceId":"d","timestamp":"2026-01-0\#(day)T00:00:0\#(number)Z","type":"namedEvent","name":"n"}"#
  }

  private static func opened(_ second: Int) -> String {
    #"{"deviceId":"d","timestamp":"2026-01-02T00:00:0\#(second)Z","action":"opened","payload":{}}"#
  }

  private func folder(_ inputs: String, _ files: [String: String]) throws -> JobFolder {
    let job = #"""
      {"name": "j", "store": "j.sqlite", "asOf": "2026-01-10T00:00:00Z",
       "window": {"from": "2026-01-01T00:00:00Z", "to": "2026-01-08T00:00:00Z"}, "inputs": \#(inputs)}
      """#
    return try JobFolder(files.merging(["job.json": job]) { $1 })
  }

  private func errors(_ folder: JobFolder) throws -> [String] {
    do {
      _ = try folder.run(folder.request())
      return []
    } catch let error as InputError {
      #expect(RunExit(of: error) == .noInput)
      #expect(!FileManager.default.fileExists(atPath: "\(folder.path)/j.sqlite"))
      return "\(error)".replacing("\(folder.path)/", with: "").split(separator: "\n").map(String.init)
    }
  }

  @Test("Days of a required input that are missing end the run with one line, before there is a store")
  func days() throws {
    let folder = try folder(
      """
      {"events": [{"path": "e-{yyyy}-{MM}-{dd}", "required": true, "label": "events of the shop"}],
       "notifications": ["n-{yyyy}-{MM}-{dd}"], "deepLinks": [{"path": "none", "required": true}]}
      """,
      ["e-2026-01-01": Self.line(1, 0), "e-2026-01-05": Self.line(5, 0), "n-2026-01-02": ""])
    #expect(
      try errors(folder) == [
        "error: input events of the shop ('e-{yyyy}-{MM}-{dd}') matches nothing for 2026-01-02 to 2026-01-04, "
          + "2026-01-06 to 2026-01-07; nothing was processed or sent; to continue anyway, add --allow-missing",
        "error: input 'none' matches nothing; nothing was processed or sent; to continue anyway, add --allow-missing",
      ])
    var request = try folder.request()
    request.allowsMissing = true
    #expect(request.invocation.run.words.contains("--allow-missing"))
    let monitor = Notes()
    #expect(try Pipeline(request, monitor: monitor).run().report.summary.records.accepted == 2)
    let notes = monitor.lines.withLock { $0 }.map { $0.replacing("\(folder.path)/", with: "") }
    #expect(
      notes.filter { $0.hasPrefix("warning: ") } == [
        "warning: input events of the shop ('e-{yyyy}-{MM}-{dd}') matches nothing for 2026-01-02 to 2026-01-04, "
          + "2026-01-06 to 2026-01-07",
        "warning: input 'n-{yyyy}-{MM}-{dd}' matches nothing for 2026-01-01, 2026-01-03 to 2026-01-07",
        "warning: input 'none' matches nothing",
      ])
  }

  @Test("An input with fewer records than it has to have ends the run; quarantined lines are none", arguments: [1, 3])
  func lines(workers: Int) throws {
    let text = [Self.line(1, 0), "", "no record", Self.line(1, 1)].joined(separator: "\n")
    let folder = try folder(
      #"""
      {"events": [{"path": "a*", "minRecords": 6}, {"path": "b", "minRecords": 1}],
       "notifications": [{"path": "n", "minRecords": 4}], "deepLinks": [{"path": "gone", "minRecords": 1}]}
      """#, ["a1": text, "a2": Self.line(1, 2) + "\n" + Self.line(1, 3), "b": Self.line(1, 4), "n": Self.opened(1)])
    let stopped = try folder.run(folder.request("Ingest.workers=\(workers)"))
    #expect(stopped.exit == .noInput)
    #expect(stopped.report.summary.eventCount == 0)
    let rest = "; nothing was processed or sent; to continue anyway, add --allow-missing"
    #expect(
      stopped.report.failure
        == [
          "error: input '\(folder.path)/a*' has 4 usable records, but needs 6 (minRecords)\(rest)",
          "error: input '\(folder.path)/n' has 1 usable record, but needs 4 (minRecords)\(rest)",
          "error: input '\(folder.path)/gone' has 0 usable records, but needs 1 (minRecords)\(rest)",
        ].joined(separator: "\n"))
    var request = try folder.request()
    request.allowsMissing = true
    #expect(try folder.run(request).report.summary.records.accepted == 6)
    try folder.write("a2", (0..<4).map { Self.line(1, $0 + 2) }.joined(separator: "\n"))
    try folder.write("n", (1...4).map(Self.opened).joined(separator: "\n"))
    try folder.write("gone", "2026-01-01T00:00:00Z\td\tapp://h")
    #expect(try folder.run(folder.request()).exit == .done)
  }

  @Test("A partition asks the same: lines that no run accepts, and those outside the window, are no records")
  func partition() throws {
    let text = [Self.line(1, 0), "no record", Self.line(9, 0)].joined(separator: "\n")
    let folder = try folder(#"{"events": [{"path": "a", "minRecords": 2}]}"#, ["a": text])
    let monitor = Notes()
    func partition(_ request: RunRequest) throws -> Int {
      try Pipeline(request, monitor: monitor)
        .partition(.inputs, parts: 2, after: nil, to: "\(folder.path)/parts").folder.manifest.lines
    }
    var request = try folder.request()
    #expect(throws: InputError.short([ShortInput(input: "'\(folder.path)/a'", count: 1, least: 2)])) {
      try partition(request)
    }
    #expect(!FileManager.default.fileExists(atPath: "\(folder.path)/parts"))
    request.allowsMissing = true
    #expect(try partition(request) == 3)
    try folder.write("a", text + "\n" + Self.line(1, 1))
    request.allowsMissing = false
    let made = try Pipeline(request).partition(.inputs, parts: 2, after: nil, to: "\(folder.path)/more")
    #expect(made.folder.manifest.lines == 4)
  }

  private final class Notes: RunMonitor {
    let lines = Guarded<[String]>([])

    func note(_ text: String) { lines.withLock { $0.append(text) } }
    func progress(_ progress: IngestProgress, of total: UInt64) {}
    func delivered(_ events: Int, of total: Int) {}
  }
}
