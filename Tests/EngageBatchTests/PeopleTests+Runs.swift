import BatchFoundation
import BatchSandbox
import EngageRules
import Synchronization
import Testing

/// However lines are divided among runs, events and requests are the same (reference decisions 35 and 58).
extension PeopleTests {
  enum Division: CaseIterable {
    case oneRun
    case aRunForEachNight
  }

  private struct Played {
    /// Code, time, recipient and mobile user id of each event, sorted; recipients by their last three digits.
    var events: [String]
    /// The operations about recipients in order, with the recipient and the columns that they name.
    var requests: [String]
    /// The events of a dry run over all lines, in the same form.
    var planned: [String]
  }

  private func play(_ nights: [String], _ division: Division, _ more: String = "") throws -> Played {
    // One call at a time, so that requests have an order.
    let settings = #","Upload":{"concurrency":1}"# + more
    let workspace = try Workspace([])
    try workspace.write("job.json", Self.job(settings))
    let requests = Mutex<[String]>([])
    var options = EngageSandboxOptions()
    options.server.hook = { request, point in
      guard point == .body, let operation = request.operations.first, operation != "GetListMetaData" else { return nil }
      let text = Self.columns(in: parseForm(request.body)?.first?.value ?? "")
      requests.withLock { $0.append(([operation] + text).joined(separator: " ")) }
      return nil
    }
    let service = try Service(options)
    for (number, lines) in nights.enumerated() { try workspace.write("in/\(number).ndjson", lines) }
    let dry = try workspace.run("run", "job.json", "--dry-run", "--events-out", "-", environment: service.environment)
    #expect(dry.code == 0, "\(dry.messages)")
    for number in nights.indices where division == .aRunForEachNight || number == 0 {
      let job = division == .oneRun ? Self.job(settings) : Self.job(settings).replacing("*", with: "\(number)")
      try workspace.write("job.json", job)
      let run = try workspace.run("run", "job.json", environment: service.environment)
      #expect(run.code == 0, "\(run.messages)")
    }
    return Played(
      events: service.events.compactMap(Self.line).sorted(), requests: requests.withLock { $0 },
      planned: dry.output.split(separator: "\n").compactMap { Self.line(String($0)) }.sorted())
  }

  private static func line(_ text: String) -> String? {
    guard let event = try? JSONNode.parse(Array(text.utf8)), let code = event["eventTypeCode"]?.string,
      let time = event["eventTimestamp"]?.string
    else { return nil }
    func value(_ name: String) -> String {
      let value = event["attributes"]?.array?.first { $0["name"]?.string == name }?["value"]?.string ?? ""
      return value.isEmpty ? "-" : value
    }
    return "\(time.dropFirst(8).prefix(8)) \(code) \(value("Recipient Id").suffix(3)) \(value("Primary User Id"))"
  }

  /// The recipient and the columns of an envelope, as `101` and `Mobile User Id=ANNA`.
  private static func columns(in envelope: String) -> [String] {
    func texts(_ element: String, _ text: String) -> [String] {
      text.split(separator: "<\(element)>", omittingEmptySubsequences: false).dropFirst().map { piece in
        let end = piece.firstRange(of: "</\(element)>")?.lowerBound ?? piece.endIndex
        return String(piece[..<end]).replacing("<![CDATA[", with: "").replacing("]]>", with: "")
      }
    }
    return texts("RECIPIENT_ID", envelope).map { String($0.suffix(3)) }
      + texts("COLUMN", envelope).map { (texts("NAME", $0) + texts("VALUE", $0)).joined(separator: "=") }
  }

  @Test("Events before the first login have no recipient", arguments: Division.allCases)
  func eventsBeforeTheFirstLogin(division: Division) throws {
    let nights = [
      Self.record("d-1", "10T08:00"), Self.record("d-1", "11T08:00", "ANNA") + Self.record("d-1", "11T08:10"),
    ]
    let played = try play(nights, division, #","Recipient":{"enableAutoAnonymousTracking":false}"#)
    // The session of the first night waited for an id.
    #expect(
      played.events == [
        "10T08:00 14 103 ANNA", "10T08:00 17 - -", "11T08:00 13 103 ANNA", "11T08:00 13 103 ANNA",
        "11T08:00 17 103 ANNA", "11T08:10 14 103 ANNA", "11T08:10 17 103 ANNA",
      ])
    #expect(played.planned == played.events.map { $0.replacing(" 103 ", with: " - ") })
    #expect(played.requests == Self.setUp("ANNA"))
  }

  @Test(
    "A recipient that a record names is the device's from that record on; before it the id has its own",
    arguments: Division.allCases)
  func recordedRecipients(division: Division) throws {
    func names(_ recipient: String) -> String { #""type":"namedEvent","name":"n","recipientId":"\#(recipient)""# }
    let nights = [
      Self.record("d-1", "10T08:00", "ANNA") + Self.record("d-2", "10T09:00"),
      Self.record("d-1", "11T08:00", "", names("777")) + Self.record("d-2", "11T09:00", "", names("555"))
        // Of one id the device that records it first counts.
        + Self.record("d-3", "11T10:00", "ANNA") + Self.record("d-4", "11T11:00", "BOB", names("666"))
        + Self.record("d-3", "11T12:00", "BOB"),
      Self.record("d-1", "12T08:00", "", names("888")),
    ]
    let played = try play(nights, division)
    let automatic = AutomaticMobileUserId.id(of: "d-2")
    let sessions = [
      "10T08:00 103 ANNA", "10T09:00 104 \(automatic)", "11T08:00 777 ANNA", "11T09:00 555 \(automatic)",
      "11T10:00 103 ANNA", "11T11:00 666 BOB", "11T12:00 666 BOB", "12T08:00 888 ANNA",
    ]
    // Each session has one event.
    let events = sessions.flatMap { session in
      ["13", "14", "17"].map { "\(session.prefix(8)) \($0)\(session.dropFirst(8))" }
    }
    #expect(played.events == events)
    let planned = events.map { event in
      // A dry run knows the recipients that records name, each from its record on.
      event.contains(" 103 ") || event.contains(" 104 ") || event.hasPrefix("11T12:00")
        ? event.replacing(" 103 ", with: " - ").replacing(" 104 ", with: " - ").replacing(" 666 ", with: " - ") : event
    }
    #expect(played.planned == planned)
    #expect(played.requests == Self.setUp("ANNA") + Self.setUp(automatic))
  }

  /// The requests of a set-up that finds nobody.
  private static func setUp(_ user: String) -> [String] {
    ["SelectRecipientData", "AddRecipient"].map { "\($0) Mobile User Id=\(user)" }
  }
}
