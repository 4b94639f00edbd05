import BatchConfiguration
import BatchFoundation
import BatchReport
import BatchStore
import Engage
import Foundation
import Testing

@testable import BatchPipeline

/// What only silence decides is decided up to the known time and no further (reference decisions 33).
@Suite("Known time") struct KnownTimeTests {
  private static func job(_ members: String = "") -> String {
    #"{"name": "j", "inputs": {"events": ["in/*"]}, "store": "j.sqlite", "settings": {"Report": {"personalData": "clear"}}\#(members)}"#
  }

  /// As ten past two: what the clock says is silent for two hours, and nobody knows.
  private static let nights = [
    ("2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z", "2026-01-02T02:15:00Z"),
    ("2026-01-02T00:00:00Z", "2026-01-03T00:00:00Z", "2026-01-03T02:15:00Z"),
  ]
  private static let backfill = nights.map { ($0.0, $0.1, $0.1) }
  private static let whole = [("2026-01-01T00:00:00Z", "2026-01-03T00:00:00Z", "2026-01-03T02:15:00Z")]

  private struct Result: Equatable {
    var events: [String]
    var started: Int
    var ended: Int
    var expired: Int
    var sessionSeconds: [String]
  }

  /// The events of some runs over one store, in the order of delivery, with the sums of their figures.
  private func run(
    _ windows: [(String, String, String)], _ lines: [String]
  ) throws -> Result {
    let folder = try JobFolder(["job.json": Self.job(), "in/a": lines.joined(separator: "\n")])
    var result = Result(events: [], started: 0, ended: 0, expired: 0, sessionSeconds: [])
    for (from, to, asOf) in windows {
      var request = try folder.request(from: from, to: to, asOf: asOf)
      request.eventsOut = "\(folder.path)/events"
      let outcome = try folder.run(request)
      #expect(outcome.exit == .done)
      #expect(outcome.report.knownUntil == request.job.window.to)
      result.events += try folder.text("events").split(separator: "\n").map(String.init)
      let summary = outcome.report.summary
      result.started += summary.sessionsStarted
      result.ended += summary.sessionsEnded
      result.expired += summary.campaignsExpired
    }
    result.sessionSeconds = result.events.compactMap { event in
      event.firstMatch(of: /"name":"Session Duration","value":"(\d+)"/).map { String($0.1) }
    }
    return result
  }

  private static func line(_ time: String, _ rest: String) -> String {
    #"{"deviceId":"d","mobileUserId":"u","timestamp":"\#(time)","# + rest + "}"
  }

  private static let overMidnight = [
    line("2026-01-01T23:50:00Z", #""type":"launch""#), line("2026-01-01T23:58:00Z", #""type":"background""#),
    line("2026-01-02T00:03:00Z", #""type":"foreground""#), line("2026-01-02T00:10:00Z", #""type":"background""#),
  ]

  /// Nights made two of it, of 480 and 420 seconds, because half past midnight was silent by the clock.
  @Test("A session over midnight is one of 900 seconds: by nights, by a backfill, by one run")
  func sessionOverMidnight() throws {
    let whole = try run(Self.whole, Self.overMidnight)
    #expect(whole.events.count == 3)
    #expect(whole.sessionSeconds == ["900"])
    #expect((whole.started, whole.ended) == (1, 1))
    #expect(try run(Self.nights, Self.overMidnight) == whole)
    #expect(try run(Self.backfill, Self.overMidnight) == whole)
  }

  @Test("So is a session of a device without lifecycle records")
  func gapSessionOverMidnight() throws {
    let lines = ["2026-01-01T23:40:00Z", "2026-01-01T23:58:00Z", "2026-01-02T00:03:00Z"].map {
      Self.line($0, #""type":"namedEvent","name":"n""#)
    }
    let whole = try run(Self.whole, lines)
    #expect(whole.sessionSeconds == ["1380"])
    #expect(whole.events.count == 5)
    #expect(try run(Self.nights, lines) == whole)
    #expect(try run(Self.backfill, lines) == whole)
  }

  @Test(
    "A session that silence ends before midnight ends by the night itself, and one that is over at midnight does not yet"
  )
  func silenceWithinTheWindow() throws {
    func ended(_ pause: String) throws -> [Int] {
      let lines = [
        Self.line("2026-01-01T22:00:00Z", #""type":"launch""#), Self.line(pause, #""type":"background""#),
      ]
      let folder = try JobFolder(["job.json": Self.job(), "in/a": lines.joined(separator: "\n")])
      return try Self.nights.map { from, to, asOf in
        try folder.run(folder.request(from: from, to: to, asOf: asOf)).report.summary.sessionsEnded
      }
    }
    #expect(try ended("2026-01-01T23:29:59.999Z") == [1, 0])
    #expect(try ended("2026-01-01T23:30:00Z") == [0, 1])
  }

  @Test("A campaign counts as expired when the known time is behind its expiry")
  func campaigns() throws {
    let lines = [
      Self.line(
        "2026-01-01T23:50:00Z",
        #""type":"notificationOpened","payload":{"CurrentCampaign":"c","CampaignValidFor":"1 hour"}"#)
    ]
    let folder = try JobFolder(["job.json": Self.job(), "in/a": lines[0]])
    let expired = try Self.nights.map { from, to, asOf in
      try folder.run(folder.request(from: from, to: to, asOf: asOf)).report.summary.campaignsExpired
    }
    #expect(expired == [0, 1])
    #expect(try run(Self.whole, lines).expired == 1)
  }

  @Test("An event whose sample may come after midnight waits for it")
  func samples() throws {
    let lines = [
      Self.line("2026-01-01T20:00:00Z", #""type":"location","latitude":1,"longitude":2"#),
      Self.line("2026-01-01T23:59:55Z", #""type":"namedEvent","name":"n""#),
      Self.line("2026-01-02T00:00:05Z", #""type":"location","latitude":3,"longitude":4"#),
    ]
    let whole = try run(Self.whole, lines)
    #expect(whole.events.filter { $0.contains(#""name":"Latitude","value":"3""#) }.count == 3)
    #expect(try run(Self.nights, lines).events.sorted() == whole.events.sorted())
    #expect(try run(Self.backfill, lines).events.sorted() == whole.events.sorted())
  }

  /// Of each run: sessions that are over, by how long they were used.
  private func gameLengths(_ windows: [(String, String, String)], _ lines: [String]) throws -> [[Int]] {
    let folder = try JobFolder([
      "job.json": Self.job(#", "destination": "deltadna""#), "in/a": lines.joined(separator: "\n"),
    ])
    return try windows.map { from, to, asOf in
      let request = try folder.request(from: from, to: to, asOf: asOf, "DeltaDNA.sessionTimeoutSeconds=1800")
      return try folder.run(request).report.activity.sessionLengths
    }
  }

  @Test("Games measure sessions by it, also of players who stay away")
  func games() throws {
    let lines = [
      #"{"deviceId":"d","timestamp":"2026-01-01T23:40:00Z","type":"gameEvent","name":"a"}"#,
      #"{"deviceId":"d","timestamp":"2026-01-01T23:58:00Z","type":"gameEvent","name":"b"}"#,
    ]
    let none = [0, 0, 0, 0, 0, 0, 0, 0]
    #expect(try gameLengths(Self.whole, lines) == [[0, 0, 0, 0, 0, 1, 0, 0]])
    #expect(try gameLengths(Self.nights, lines) == [none, [0, 0, 0, 0, 0, 1, 0, 0]])
    let more = lines + [#"{"deviceId":"d","timestamp":"2026-01-02T00:25:00Z","type":"gameEvent","name":"c"}"#]
    #expect(try gameLengths(Self.whole, more) == [[0, 0, 0, 0, 0, 0, 1, 0]])
    #expect(try gameLengths(Self.nights, more) == [none, [0, 0, 0, 0, 0, 0, 1, 0]])
  }

  /// Nights took five minutes, one run the hours up to the second pause.
  @Test("A game that is put away twice is measured to the first time, if silence was over in between")
  func gameThatIsPutAwayTwice() throws {
    let lines = [("23:10:00", "launch"), ("23:15:00", "background")].map { time, type in
      #"{"deviceId":"d","timestamp":"2026-01-01T\#(time)Z","type":"\#(type)"}"#
    }
    let more = lines + [#"{"deviceId":"d","timestamp":"2026-01-02T02:15:00Z","type":"background"}"#]
    for windows in [Self.whole, Self.nights] {
      let lengths = try gameLengths(windows, more)
      #expect(
        lengths.reduce(into: [0, 0, 0, 0, 0, 0, 0, 0]) { sum, night in
          for (place, count) in night.enumerated() { sum[place] += count }
        } == [0, 0, 0, 0, 1, 0, 0, 0])
    }
  }

  // MARK: - The store's

  private func known(_ folder: JobFolder) throws -> String? {
    let store = try EventStore.openReading("\(folder.path)/j.sqlite", format: EngagePlatform().storeFormat)
    defer { #expect(throws: Never.self) { try store.close() } }
    return try store.runs.knownUntil()?.rfc3339
  }

  @Test("The store's is the latest of its runs', and an older night that is read again decides up to it")
  func neverBack() throws {
    let folder = try JobFolder(["job.json": Self.job(), "in/a": Self.overMidnight.joined(separator: "\n")])
    func run(_ night: Int) throws -> RunReport {
      let (from, to, asOf) = Self.nights[night]
      return try folder.run(folder.request(from: from, to: to, asOf: asOf, "Ingest.lateRecords=accept")).report
    }
    #expect(try run(1).knownUntil?.rfc3339 == "2026-01-03T00:00:00.000Z")
    // Of a device that the second night has nothing of: its silence lasts up to where the store knows.
    let late = Self.overMidnight.prefix(2).map { $0.replacing(#""d""#, with: #""e""#) }
    try folder.write("in/a", late.joined(separator: "\n"))
    let again = try run(0)
    #expect(again.knownUntil?.rfc3339 == "2026-01-03T00:00:00.000Z")
    #expect(again.summary.sessionsEnded == 1)
    #expect(try known(folder) == "2026-01-03T00:00:00.000Z")
  }

  @Test("A run that is stopped while it decides leaves the store's as it was, and a replay takes the store's")
  func stopped() throws {
    let folder = try JobFolder([
      "job.json": Self.job(), "in/a": Self.overMidnight.prefix(2).joined(separator: "\n") + "\nno record",
    ])
    let (from, to, asOf) = Self.nights[0]
    let interruption = Interruption()
    interruption.raise(2)
    let stopped = try Pipeline(
      folder.request(from: from, to: to, asOf: asOf), monitor: SilentMonitor(), interruption: interruption
    ).run()
    #expect(stopped.exit == .interrupted)
    #expect(try known(folder) == nil)
    #expect(try folder.run(folder.request(from: from, to: to, asOf: asOf)).report.summary.sessionsEnded == 0)
    #expect(try known(folder) == "2026-01-02T00:00:00.000Z")
    // By the clock of the replay the session would be over.
    var replay = try folder.request(from: nil, to: nil, asOf: "2026-01-04T00:00:00Z")
    replay.mode = .replay
    let report = try folder.run(replay).report
    #expect(report.knownUntil?.rfc3339 == "2026-01-02T00:00:00.000Z")
    #expect(report.summary.sessionsEnded == 0)
    #expect(try known(folder) == "2026-01-02T00:00:00.000Z")
  }

  @Test("A rerun decides up to the store's, not to its clock and not to the last record")
  func rerun() throws {
    let folder = try JobFolder(["job.json": Self.job(), "in/a": Self.overMidnight.prefix(2).joined(separator: "\n")])
    let (from, to, asOf) = Self.nights[0]
    _ = try folder.run(folder.request(from: from, to: to, asOf: asOf))
    let store = try EventStore.open("\(folder.path)/j.sqlite", format: EngagePlatform().storeFormat)
    let decided = try #require(try RunRequest.known(to: store))
    var changes = CommandLineChanges()
    (changes.from, changes.to, changes.asOf) = (decided.from, decided.to, decided.asOf)
    let request = try folder.request(changes)
    let rerun = Rerun(
      from: decided.from, to: decided.to, sendsAgain: nil, allowsMissingInputs: false, isRehearsal: false)
    let outcome = try Pipeline(request, monitor: SilentMonitor()).rerun(rerun, in: store)
    try store.close()
    #expect(outcome.records.sessionsEnded == 0)
    #expect(outcome.counts.unchanged == 2)
  }

  // MARK: - Without a store

  @Test("A stream without asOf ends nothing, and one with it ends what is silent until then")
  func stream() throws {
    let folder = try JobFolder(["job.json": Self.job()])
    func ends(_ asOf: String?) throws -> Int {
      var request = try folder.request(from: nil, to: nil, asOf: asOf)
      request.mode = .stream
      let stream = try RuleStream(request, kind: .events, output: "\(folder.path)/out")
      try (Self.overMidnight.joined(separator: "\n") + "\n").utf8.withContiguousStorageIfAvailable {
        try stream.take(UnsafeRawBufferPointer($0))
      }
      try stream.finish()
      return try folder.text("out").split(separator: "\n").count { $0.contains(#""eventTypeCode":"14""#) }
    }
    #expect(try ends(nil) == 0)
    #expect(try ends("2026-01-02T00:40:00Z") == 0)
    #expect(try ends("2026-01-02T00:40:00.001Z") == 1)
  }

  @Test("An asOf more than a day ahead of the clock is refused before anything is made, unless it is meant")
  func future() throws {
    let folder = try JobFolder(["job.json": Self.job(), "in/a": Self.overMidnight[0]])
    let day = Instant(milliseconds: JobFolder.now.milliseconds + 86_400_000)
    var request = try folder.request(from: nil, to: nil, asOf: (day + Milliseconds(1)).rfc3339)
    let error = CommandError(
      .configuration,
      "\(folder.path)/job.json: error: asOf (2026-04-02T00:00:00.001Z) is more than a day ahead of the clock "
        + "(2026-04-01T00:00:00.000Z): sessions, campaigns and holds that expire by asOf would end for good. Nothing was read or written. "
        + "Correct asOf or the clock, or add --allow-future if this is intended")
    for mode in [RunMode.run, .noUpload, .post, .replay] {
      request.mode = mode
      #expect(throws: error) { try folder.run(request) }
    }
    #expect(!FileManager.default.fileExists(atPath: request.storePath))
    request.mode = .dryRun(sends: false)
    #expect(try folder.run(request).exit == .done)
    request.mode = .noUpload
    request.allowsFuture = true
    #expect(try folder.run(request).report.knownUntil == request.asOf)
    let exact = try JobFolder(["job.json": Self.job(), "in/a": Self.overMidnight[0]])
    #expect(try exact.run(exact.request(from: nil, to: nil, asOf: day.rfc3339)).exit == .done)
  }
}
