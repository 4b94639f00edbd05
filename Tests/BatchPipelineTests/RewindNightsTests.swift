import BatchConfiguration
import BatchFoundation
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

    /// All that the store knows, decided anew, with another file.
    func rerun(_ file: String, _ time: String, _ record: String, _ sendsAgain: SentEvents? = nil) throws -> RerunCounts
    {
      try folder.write(file, #"{"deviceId":"d","timestamp":"2026-01-\#(time)Z",\#(record)}"#)
      let store = try EventStore.open("\(folder.path)/j.sqlite", format: folder.request().platform.storeFormat)
      let known = try #require(try RunRequest.known(to: store))
      var changes = CommandLineChanges(settings: ["Ingest.rewind=0 seconds"].compactMap { SettingOverride($0) })
      (changes.from, changes.to, changes.asOf) = (known.from, known.to, known.asOf)
      let rerun = Rerun(
        from: known.from, to: known.to, sendsAgain: sendsAgain, allowsMissingInputs: false, isRehearsal: false)
      let outcome = try Pipeline(folder.request(changes), monitor: SilentMonitor()).rerun(rerun, in: store)
      try store.close()
      return outcome.counts
    }

    func post() throws { try StoredResult.post(in: folder) }

    func read<Value>(_ body: (EventStore) throws -> Value) throws -> Value {
      let store = try EventStore.openReading("\(folder.path)/j.sqlite", format: folder.request().platform.storeFormat)
      let value = try body(store)
      try store.close()
      return value
    }

    /// All events: type, number behind the first of its instant, and status.
    func numbers() throws -> [String] {
      try read { store in
        var numbers: [String] = []
        try store.ledger.forEachEvent(EventFilter()) { event in
          let json = String(decoding: event.json, as: UTF8.self)
          let name = json.firstMatch(of: /"(?:eventTypeCode|eventName)":"([^"]*)"/).map { String($0.1) } ?? ""
          let base = EmissionNumber.begin(at: event.id.timestamp)
          numbers.append("\(name) \(event.emission - base) \(event.status.name)")
          return true
        }
        return numbers
      }
    }

    /// What corrections say: what is right, the run, and the file of the record.
    func corrections() throws -> [String] {
      try read { store in
        var corrections: [String] = []
        try store.ledger.forEachCorrection { correction in
          let right = String(decoding: correction.right?.json ?? [], as: UTF8.self)
          let campaign = right.firstMatch(of: /"Campaign Name","value":"([^"]*)"/).map { String($0.1) } ?? ""
          let file = correction.source?.file.split(separator: "/").last ?? ""
          corrections.append("\(campaign) \(correction.run.number) \(file)")
        }
        return corrections
      }
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
  private static func campaign(_ name: String) -> String {
    #""type":"pushReceived","payload":{"CurrentCampaign":"\#(name)","CampaignValidFor":"9 days"}"#
  }
  private static let opened = #""action":"opened","payload":{"aps":{"alert":"x"}}"#

  /// The late event took the number of the sent one, and so its id.
  @Test("A sent event keeps its id, and late ones of its instant get others, night after night")
  func idsOfOneInstant() throws {
    let night = try Nights(#""destination": "engage""#)
    try night(10, "opened/1", [("10T10:00:00", Self.opened)])
    try night.post()
    #expect(try night.numbers() == ["49 1 SUCCESSFULLY_POSTED"])
    let second = try night(11, "in/2", [("10T10:00:00", Self.named("a"))])
    #expect(second.summary.rewind.added == 1 && second.summary.rewind.corrections == 0)
    #expect(try night.numbers() == ["49 1 SUCCESSFULLY_POSTED", "17 4096 NOT_POSTED"])
    // It waits, and is before the other one that comes now.
    let third = try night(12, "in/3", [("10T10:00:00", Self.named("b"))])
    #expect(third.summary.rewind.added == 1 && third.summary.rewind.replaced == 0)
    #expect(
      try night.numbers() == ["49 1 SUCCESSFULLY_POSTED", "17 4096 NOT_POSTED", "17 2 NOT_POSTED"])
    try night.post()
    // What was sent under whatever number is found.
    let fourth = try night(13, "in/4", [("10T09:00:00", Self.campaign("first"))])
    #expect(fourth.summary.rewind.corrections == 3 && fourth.summary.rewind.added == 1)
    #expect(try night.corrections() == ["first 4 4", "first 4 4", "first 4 4"])
    #expect(
      try night.numbers() == [
        "48 1 NOT_POSTED", "49 1 SUCCESSFULLY_POSTED", "17 4096 SUCCESSFULLY_POSTED", "17 2 SUCCESSFULLY_POSTED",
      ])
  }

  @Test("An event that waits under another number is found, and is replaced, by a later night")
  func replacedUnderAnotherNumber() throws {
    let night = try Nights(#""destination": "engage""#)
    try night(10, "opened/1", [("10T10:00:00", Self.opened)])
    try night.post()
    try night(11, "in/2", [("10T10:00:00", Self.named("a"))])
    let third = try night(12, "in/3", [("10T09:00:00", Self.campaign("first"))])
    let rewind = third.summary.rewind
    #expect(rewind.added == 1 && rewind.replaced == 1 && rewind.corrections == 1)
    #expect(try night.numbers() == ["48 1 NOT_POSTED", "49 1 SUCCESSFULLY_POSTED", "17 4096 NOT_POSTED"])
    #expect(try night.values("17", /"Campaign Name","value":"([^"]*)"/) == ["2026-01-10T10:00:00.000Z first"])
  }

  /// Beyond the reach no correction knows the number of the sent event.
  @Test("A rerun lets sent events keep their ids alone")
  func rerun() throws {
    let night = try Nights(#""destination": "engage""#)
    let opened = Self.opened + #","mobileUserId":"u""#
    try night(10, "opened/1", [("10T09:40:00", opened), ("10T10:00:00", opened)])
    try night.post()
    let sent = ["13 1", "49 2", "49 1", "14 2"].map { "\($0) SUCCESSFULLY_POSTED" }
    #expect(try night.numbers() == sent)
    let counts = try night.rerun("in/2", "10T10:00:00", Self.named("a"))
    #expect(counts.same == 4 && counts.stored == 1)
    #expect(try night.numbers() == sent + ["17 4096 NOT_POSTED"])
    // One that waits gives way with its number.
    #expect(try night.rerun("in/3", "10T09:50:00", Self.campaign("first")).stored == 2)
    #expect(try night.numbers() == sent + ["48 1 NOT_POSTED", "17 4096 NOT_POSTED"])
    #expect(try night.values("17", /"Campaign Name","value":"([^"]*)"/) == ["2026-01-10T10:00:00.000Z first"])
    // What is sent once more has the number that it has by now.
    #expect(try night.rerun("in/4", "10T10:00:00", Self.named("b"), .all).stored == 7)
    let waiting = ["13 1", "49 2", "48 1", "17 4096", "17 4097", "49 3", "14 4"].map { "\($0) NOT_POSTED" }
    #expect(try night.numbers().sorted() == (sent + waiting).sorted())
  }

  @Test("Events of a game keep their ids as well, in the store and at the service", arguments: ["deltadna", "unity"])
  func idsOfAGame(destination: String) throws {
    let night = try Nights(#""destination": "\#(destination)""#)
    try night(10, "in/1", [("10T10:00:00", #""type":"gameEvent","name":"sent""#)])
    try night.post()
    let sent = try night.numbers()
    #expect(sent.last == "sent 4 SUCCESSFULLY_POSTED")
    // The start of the session is earlier now, so the events of its first start are numbers that three others get.
    try night(
      11, "in/2",
      [("10T09:58:00", #""type":"launch""#)]
        + ["x", "y", "z"].map { ("10T10:00:00", #""type":"gameEvent","name":"\#($0)""#) })
    let late = ["x 4096 NOT_POSTED", "y 4097 NOT_POSTED", "z 4098 NOT_POSTED"]
    #expect(try night.numbers().suffix(7) == sent + late)
    let ids = try night.values("eventUUID", /"eventUUID":"([^"]*)"/)
    #expect(ids.count == 10 && Set(ids.map { $0.split(separator: " ")[1] }).count == 10)
  }

  /// The second one said "0 corrections", and where the event was only moved before, the first one did, too.
  @Test("A correction that a later night changes again is counted by that night")
  func correctionOfACorrection() throws {
    let night = try Nights(#""destination": "engage""#)
    try night(10, "in/1", [("10T10:00:00", Self.named("a"))])
    try night.post()
    #expect(try night(11, "in/2", [("10T09:00:00", Self.campaign("first"))]).summary.rewind.corrections == 1)
    #expect(try night.corrections() == ["first 2 2"])
    #expect(try night(12, "in/3", [("10T09:30:00", Self.campaign("second"))]).summary.rewind.corrections == 1)
    #expect(try night.corrections() == ["second 3 3"])
    // The event stays as it is known to be right: it only has another number.
    let moved = try night(13, "in/0", [("10T10:00:00", Self.named("b"))])
    #expect(moved.summary.rewind.corrections == 0 && moved.summary.rewind.added == 1)
    #expect(try night.corrections() == ["second 3 3"])
  }

  /// A record was late only before the newest instant, so the mended line came behind the one that it stands before.
  @Test(
    "A mended line has its place among those of its instant in its file", arguments: ["engage", "deltadna"],
    [#""type":"setMobileUserId","mobileUserId":"u2""#, #""type":"setUserId","userId":"u2""#])
  func mendedLineOfOneInstant(destination: String, mended: String) throws {
    func lines(_ second: String) -> [(String, String)] {
      [
        ("10T09:00:00", #""type":"launch","mobileUserId":"u1","userId":"u1""#), ("10T10:00:00", second),
        ("10T10:00:00", Self.named("b")),
      ]
    }
    let (whole, cut) = (
      try Nights(#""destination": "\#(destination)""#), try Nights(#""destination": "\#(destination)""#)
    )
    try whole(10, "in/1", lines(mended))
    try cut(10, "in/1", lines(#""type":"nonsense""#))
    #expect(try cut(11, "in/1", lines(mended)).summary.rewind.devices == 1)
    #expect(try StoredResult(of: cut.folder) == StoredResult(of: whole.folder))
  }

  /// With the reach behind the last record, it was lost that a link of its instant could still join the start of the session.
  @Test("A state is the same wherever the reach begins", arguments: ["5 minutes", "70 minutes", "80 minutes"])
  func stateAtTheReach(reach: String) throws {
    let start = ("10T22:45:00", Self.named("a") + #","mobileUserId":"u""#)
    let states = try ["2 days", reach].map { reach in
      let night = try Nights(#""destination": "engage""#)
      try night(10, "in/1", [start], "Ingest.rewind=\(reach)")
      return try StoredResult(of: night.folder).devices
    }
    #expect(states[0] == states[1])
  }

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

  /// By the timeout of the second night no silence had ended anything, so the record began a session, with the settings of that night.
  @Test("A record from before what other settings knew of its device is decided by these, late or not")
  func knownByOtherSettings() throws {
    let night = try Nights(#""destination": "deltadna""#)
    let session = /"sessionID":"([^"]*)"/
    try night(
      10, "in/1", [("10T21:40:00", #""type":"gameEvent","name":"a""#)], "DeltaDNA.sessionTimeoutSeconds=7200",
      "DeltaDNA.sdkVersion=first")
    let own = try #require(try night.values("a", session).first?.split(separator: " ").last)
    let late = try night(
      11, "in/2",
      [("10T21:50:00", #""type":"gameEvent","name":"b""#), ("11T08:00:00", #""type":"gameEvent","name":"c""#)],
      "DeltaDNA.sessionTimeoutSeconds=300", "DeltaDNA.sdkVersion=second")
    #expect(late.summary.rewind.devices == 1 && late.summary.rewind.added == 1)
    #expect(late.summary.sessionsStarted == 1)
    #expect(try night.values("b", session) == ["2026-01-10T21:50:00.000Z \(own)"])
    #expect(try night.values("b", /"sdkVersion":"([^"]*)"/) == ["2026-01-10T21:50:00.000Z first"])
    #expect(try night.values("c", /"sdkVersion":"([^"]*)"/) == ["2026-01-11T08:00:00.000Z second"])
  }

  /// The length was taken before the second use ended, so nobody had waited for five minutes behind it: what came then went to the first night.
  @Test(
    "A second background in a session whose length is taken makes no silence beyond what is known",
    arguments: [11, 12])
  func backgroundAfterAMeasuredSession(day: Int) throws {
    let night = try Nights(#""destination": "deltadna", "settings": {"DeltaDNA": {"sessionTimeoutSeconds": 300}}"#)
    let away = #""type":"background""#
    try night(
      10, "in/1", [("10T23:30:00", #""type":"launch""#), ("10T23:40:00", away), ("10T23:58:00", away)],
      "DeltaDNA.sdkVersion=first")
    let a = ("11T00:01:00", #""type":"gameEvent","name":"a""#)
    let b = ("11T08:00:00", #""type":"gameEvent","name":"b""#)
    let second = try night(11, "in/2", day == 11 ? [a, b] : [b], "DeltaDNA.sdkVersion=second")
    #expect(second.summary.rewind.devices == 0)
    let third = try night(12, "in/3", day == 12 ? [a] : [], "DeltaDNA.sdkVersion=third")
    #expect(third.summary.rewind.devices == (day == 12 ? 1 : 0))
    let version = /"sdkVersion":"([^"]*)"/
    #expect(try night.values("a", version) == ["2026-01-11T00:01:00.000Z second"])
    #expect(try night.values("b", version) == ["2026-01-11T08:00:00.000Z second"])
  }

  /// It lies behind all that the device had done by the second night, which had brought a record for the first as well: it went to the second.
  @Test("A late record belongs to the night that knew its time, whatever came late for that one before")
  func nightThatKnewItsTime() throws {
    let night = try Nights(#""destination": "deltadna""#)
    func event(_ name: String) -> String { #""type":"gameEvent","name":"\#(name)""# }
    let nights = [
      (10, "first", ("10T02:31:00", #""type":"launch""#)), (11, "second", ("10T00:15:00", event("a"))),
      (12, "third", ("12T08:00:00", event("b"))), (13, "fourth", ("10T03:06:00", event("c"))),
    ]
    for (day, version, line) in nights { try night(day, "in/\(day)", [line], "DeltaDNA.sdkVersion=\(version)") }
    let versions = try ["a", "b", "c"].map { try night.values($0, /"sdkVersion":"([^"]*)"/) }
    #expect(
      versions == [
        ["2026-01-10T00:15:00.000Z first"], ["2026-01-12T08:00:00.000Z third"], ["2026-01-10T03:06:00.000Z first"],
      ])
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
