import BatchFoundation
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
    expected.read = 6
    expected.accepted = 4
    expected.duplicates = 1
    expected.quarantined = 1
    expected.reasons = [.invalidJSON: 1]
    expected.devices = 2
    expected.events = 7
    #expect(stream.counts == expected)
  }
}
