import BatchFoundation
import BatchIngest
import BatchReport
import Testing

@testable import BatchPipeline

@Suite struct RuleStreamTests {
  private static let lines = [
    #"{"deviceId":"a","timestamp":"2026-01-01T00:00:00Z","type":"launch","mobileUserId":"u"}"#,
    #"{"deviceId":"a","timestamp":"2026-01-01T00:01:00Z","type":"namedEvent","name":"ONE","params":{"k":1.50}}"#,
    #"{"deviceId":"a","timestamp":"2026-01-01T00:01:00Z","type":"namedEvent","name":"ONE","params":{"k":1.50}}"#,
    "nonsense",
    #"{"deviceId":"b","timestamp":"2026-01-02T00:05:00Z","type":"namedEvent","name":"SECOND","mobileUserId":"v"}"#,
    #"{"deviceId":"b","timestamp":"2026-01-02T00:00:00Z","type":"namedEvent","name":"FIRST","mobileUserId":"v"}"#,
  ]

  private func folder() throws -> JobFolder {
    try JobFolder([
      "job.json": """
      {"name": "j", "inputs": {"events": ["in"]}, "asOf": "2026-02-01T00:00:00Z", "store": "j.sqlite"}
      """,
      "in": Self.lines.joined(separator: "\n"),
    ])
  }

  @Test(arguments: [1, 7, 100, 100_000])
  func writesWhatARunWrites(pieces: Int) throws {
    let folder = try folder()
    var request = try folder.request()
    request.eventsOut = "\(folder.path)/run.ndjson"
    _ = try folder.run(request)
    let stream = try RuleStream(request, kind: .events, output: "\(folder.path)/stream.ndjson")
    let bytes = Array(Self.lines.joined(separator: "\n").utf8)
    for start in stride(from: 0, to: bytes.count, by: pieces) {
      try bytes[start..<min(start + pieces, bytes.count)].withUnsafeBytes { try stream.take($0) }
    }
    try stream.finish()
    #expect(try folder.text("stream.ndjson") == folder.text("run.ndjson"))
    var expected = StreamCounts()
    expected.lines.read = 6
    expected.lines.accepted = 4
    expected.lines.duplicates = 1
    expected.lines.quarantined = 1
    expected.lines.reasons = [.invalidJSON: 1]
    expected.refusals = [
      FindingCause(reason: "invalid-json", detail: "at byte 1 of the line", file: "stdin", line: 4)
    ]
    expected.devices = 2
    expected.events = 7
    #expect(stream.counts == expected)
  }

  @Test func namesTheFirstRefusedLines() throws {
    let folder = try folder()
    let stream = try RuleStream(folder.request(), kind: .events, output: "\(folder.path)/stream.ndjson")
    let lines = (1...25).map { $0 == 3 ? "" : "{" }
    try Array(lines.joined(separator: "\n").utf8).withUnsafeBytes { try stream.take($0) }
    try stream.finish()
    #expect(stream.counts.lines.quarantined == 24)
    #expect(stream.counts.refusals.map(\.line) == [1, 2] + Array(4...21))
    #expect(stream.counts.refusals[0].text == "stdin:1: invalid-json: at byte 2 of the line")
  }

  /// Also where the groups went through the temporary file: 60,000 devices with long ids.
  @Test(arguments: [(3, UInt64(5), UInt64(1)), (60_000, 60_002, 1)])
  func refusesDevicesThatComeTwice(devices: Int, line: UInt64, first: UInt64) throws {
    let folder = try folder()
    let stream = try RuleStream(folder.request(), kind: .events, output: "\(folder.path)/stream.ndjson")
    func take(_ device: Int) throws {
      let id = "\(device)-\(String(repeating: "x", count: 80))"
      let record = #"{"deviceId":"\#(id)","timestamp":"2026-01-01T00:00:00Z","type":"launch"}"# + "\n"
      try Array(record.utf8).withUnsafeBytes { try stream.take($0) }
    }
    for device in 0..<devices { try take(device) }
    // A line of the same device is no new group.
    try take(devices - 1)
    if devices < 5 { try take(0) } else { for device in [0, 7] { try take(device) } }
    let error = CommandError(
      .inputRefused,
      "stdin:\(line): error: a device whose records began at line \(first) has more records here, after those of another device, so its "
        + "events are wrong. A stream must be grouped by device: sort it, or use 'run', which accepts any order")
    #expect(throws: error) { try stream.finish() }
  }
}
