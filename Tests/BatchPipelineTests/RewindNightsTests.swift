import BatchConfiguration
import BatchFoundation
import BatchPlatform
import BatchReport
import Foundation
import Testing

@testable import BatchPipeline
@testable import BatchStore

/// Nights of one device, one of which has late records (reference decisions 34).
@Suite("Rewind, night by night") struct RewindNightsTests {
  private struct Nights {
    let folder: JobFolder

    init(_ job: String) throws {
      folder = try JobFolder([
        "job.json": """
        {"name": "j", \(job), "store": "j.sqlite", "inputs": {"events": ["in/*"], "notifications": ["opened/*"]}}
        """
      ])
      for kind in ["in", "opened"] {
        try FileManager.default.createDirectory(
          atPath: "\(folder.path)/\(kind)", withIntermediateDirectories: true)
      }
    }

    /// The night behind a day of January, with these records in a file of their own.
    ///
    /// - Parameter lines: each a day with a time, and the record.
    @discardableResult
    func callAsFunction(
      _ day: Int, _ file: String, _ lines: [(String, String)], _ settings: String...
    ) throws -> RunReport {
      let text = lines.map { time, record in
        #"{"deviceId":"d","timestamp":"2026-01-\#(time)Z",\#(record)}"#
      }
      try folder.write(file, text.joined(separator: "\n"))
      var changes = CommandLineChanges(settings: settings.compactMap { SettingOverride($0) })
      changes.from = try instant("2026-01-\(day)T00:00:00Z")
      changes.to = try instant("2026-01-\(day + 1)T00:00:00Z")
      changes.asOf = try instant("2026-01-\(day + 1)T02:00:00Z")
      let report = try folder.run(folder.request(changes)).report
      #expect(report.failure == nil)
      return report
    }

    private func instant(_ text: String) throws -> Instant { try #require(Instant.parse(rfc3339: text)) }

    func read<Value>(_ body: (EventStore) throws -> Value) throws -> Value {
      let store = try EventStore.openReading("\(folder.path)/j.sqlite", format: folder.request().platform.storeFormat)
      let value = try body(store)
      try store.close()
      return value
    }

    /// Events of a type: when, and a member of each.
    func values(_ type: String, _ expression: Regex<(Substring, Substring)>) throws -> [String] {
      try read { store in
        var values: [String] = []
        try store.ledger.forEachEvent(EventFilter()) { event in
          let json = String(decoding: event.json, as: UTF8.self)
          guard json.contains("\"\(type)\"") else { return true }
          values.append("\(event.id.timestamp.rfc3339) \(json.firstMatch(of: expression).map { String($0.1) } ?? "-")")
          return true
        }
        return values
      }
    }
  }

  private static func named(_ name: String) -> String { #""type":"namedEvent","name":"\#(name)""# }

  /// By the timeout of the third night the silence before it was no end of a session, so it went to the first night.
  @Test("A late record is decided by the silence that the settings of its night make, and no record beside it is late")
  func silenceOfAnotherSetting() throws {
    let night = try Nights(#""destination": "deltadna""#)
    let (short, long) = ("DeltaDNA.sessionTimeoutSeconds=300", "DeltaDNA.sessionTimeoutSeconds=7200")
    try night(10, "in/1", [("10T23:30:00", #""type":"launch""#), ("10T23:40:00", #""type":"background""#)], short)
    let back = [("11T00:02:00", #""type":"foreground""#), ("11T08:00:00", #""type":"gameEvent","name":"b""#)]
    try night(11, "in/2", back, short)
    let session = /"sessionID":"([^"]*)"/
    let before = try night.values("b", session)
    let late = try night(12, "in/3", [("11T00:03:00", #""type":"gameEvent","name":"a""#)], long)
    #expect(late.warnings.allSatisfy { $0.kind != "late-record" } && late.summary.sessionsStarted == 0)
    let rewind = late.summary.rewind
    #expect(rewind.devices == 1 && rewind.added == 1 && rewind.replaced == 0 && rewind.withdrawn == 0)
    #expect(try night.values("b", session) == before)
    let own = try #require(before.first?.split(separator: " ").last)
    #expect(try night.values("a", session) == ["2026-01-11T00:03:00.000Z \(own)"])
  }

  /// Behind the last record of the first night, it went to the second.
  @Test(
    "A late record behind the last one of its night is decided by the settings of that night",
    arguments: ["5 minutes", "2 days"])
  func settingsOfItsNight(third: String) throws {
    let night = try Nights(#""destination": "engage""#)
    let key = "General.defaultCurrentCampaignExpiration"
    try night(11, "in/1", [("11T09:00:00", Self.named("x"))], "\(key)=2 days")
    try night(12, "in/2", [("12T09:00:00", Self.named("b"))], "\(key)=5 minutes")
    let push = #""type":"pushReceived","payload":{"CurrentCampaign":"spring"}"#
    let late = try night(13, "in/3", [("11T10:00:00", push)], "\(key)=\(third)")
    let rewind = late.summary.rewind
    #expect(rewind.devices == 1 && rewind.added == 1 && rewind.replaced == 1)
    #expect(
      try night.values("17", /"Campaign Name","value":"([^"]*)"/)
        == ["2026-01-11T09:00:00.000Z ", "2026-01-12T09:00:00.000Z spring"])
  }
}
