import BatchFoundation
import FoundationEssentials
import Testing

/// `why`: answers from the store alone, when the inputs are gone.
@Suite("Answers to why") struct WhyTests {
  private static let store = "var/job.sqlite"

  /// A device with a push that sets a campaign, a session of five minutes, and a later event without either.
  private func workspace(_ more: String = "") throws -> Workspace {
    let workspace = try Workspace([])
    let records = [
      #"{"deviceId":"phone-1","timestamp":"2026-01-01T08:00:00Z","type":"launch","mobileUserId":"user-1"}"#,
      #"{"deviceId":"phone-1","timestamp":"2026-01-01T08:01:00Z","type":"pushReceived","payload":{"aps":{"alert":"x"},"CurrentCampaign":"Spring Sale","CampaignValidFor":"1 hour"}}"#,
      #"{"deviceId":"phone-1","timestamp":"2026-01-01T08:02:00Z","type":"namedEvent","name":"checkout"}"#,
      #"{"deviceId":"phone-1","timestamp":"2026-01-01T08:05:00Z","type":"background"}"#,
      #"{"deviceId":"phone-1","timestamp":"2026-01-01T12:00:00Z","type":"namedEvent","name":"later"}"#,
    ]
    try workspace.write("in.ndjson", records.joined(separator: "\n") + "\n")
    try workspace.write(
      "job.json",
      #"{"name": "job", "inputs": {"events": ["in.ndjson"]}, "asOf": "2026-01-02T00:00:00Z", "store": "var/job.sqlite","#
        + #" "settings": {"Session": {"sessionLifecycleExpiration": "10 minutes"}}\#(more)}"#)
    return workspace
  }

  private func stored() throws -> Workspace {
    let workspace = try workspace()
    #expect(try workspace.run("run", "job.json", "--no-upload").code == 0)
    try workspace.remove("in.ndjson")
    return workspace
  }

  /// The ids of the events of a type, in the order of time.
  private func ids(_ workspace: Workspace, _ type: String, store: String = store) throws -> [String] {
    let listed = try workspace.run("store", "events", "--store", store, "--type", type, "--format", "json")
    return try (JSONNode.parse(Array(listed.output.utf8)).array ?? []).compactMap { $0["id"]?.string }
  }

  private func answer(_ workspace: Workspace, _ arguments: String...) throws -> JSONNode {
    let finished = try workspace.run(["why"] + arguments + ["--format", "json"])
    #expect(finished.code == 0, "\(finished.messages)")
    return try JSONNode.parse(Array(finished.output.utf8))
  }

  private func sentences(_ answer: JSONNode, _ key: String) -> [String] {
    (answer[key]?.array ?? []).compactMap(\.string)
  }

  /// A line may not have one, but a link is decoded into events.
  @Test("Events with a NUL character from a link are listed, explained, exported and corrected like others")
  func nulFromALink() throws {
    let workspace = try workspace()
    let first = [
      #"{"deviceId":"p","timestamp":"2026-01-01T08:00:00Z","mobileUserId":"u","type":"deepLink","url":"app://x?a=%00&CurrentCampaign=s%00x"}"#,
      #"{"deviceId":"p","timestamp":"2026-01-01T08:10:00Z","type":"namedEvent","name":"n"}"#,
    ]
    try workspace.write("in.ndjson", first.joined(separator: "\n") + "\n")
    let sent = try workspace.run("run", "job.json", "--sandbox", "--store", Self.store)
    #expect(sent.code == 0, "\(sent.messages)")
    func listed(_ words: String...) throws -> [JSONNode] {
      let listed = try workspace.run(
        ["store", "events", "--store", Self.store, "--show-personal-data", "--format", "json"] + words)
      #expect(listed.code == 0, "\(listed.messages)")
      return try JSONNode.parse(Array(listed.output.utf8), options: .nulCharacters).array ?? []
    }
    let events = try listed()
    #expect(events.map { $0["eventTypeCode"]?.string } == ["13", "17", "14"])
    let values = events[0]["attributes"]?.array?.filter { $0["name"]?.string == "a" }.map { $0["value"]?.string }
    #expect(values == ["\0"])
    #expect(try listed("--campaign", "s").isEmpty)
    for words in [
      ["why", "--device", "p", "--store", Self.store], ["why", try ids(workspace, "17")[0], "--store", Self.store],
      ["person", "export", "u", "--store", Self.store],
    ] {
      let finished = try workspace.run(words)
      #expect(finished.code == 0, "\(words): \(finished.messages)")
    }
    let late =
      #"{"deviceId":"p","timestamp":"2026-01-01T07:59:00Z","mobileUserId":"u7","device":{"name":"X"},"type":"namedEvent","name":"late"}"#
    try workspace.write("in.ndjson", (first + [late]).joined(separator: "\n") + "\n")
    let second = try workspace.run(
      "run", "job.json", "--sandbox", "--store", Self.store, "--as-of", "2026-01-03T00:00:00Z")
    #expect(second.code == 0, "\(second.messages)")
    let corrections = try workspace.run("store", "corrections", "--store", Self.store, "--show-personal-data")
    #expect(corrections.code == 0, "\(corrections.messages)")
    #expect(corrections.messages.isEmpty)
  }

  @Test("An id may be shortened to what names one event; where it names several they are listed")
  func shortenedID() throws {
    let workspace = try stored()
    let id = try ids(workspace, "17")[0]
    func output(_ words: String...) throws -> String { try workspace.run(words + ["--store", Self.store]).output }
    let whole = try output("why", id)
    #expect(!whole.isEmpty)
    #expect(try output("why", String(id.prefix(13))) == whole)
    for named in [["job.json", id], [id, "--job", "job.json"]] {
      #expect(try workspace.run(["why"] + named).output == whole)
    }
    #expect(try workspace.run("why", "job.json", "--device", "phone-1").code == 0)
    #expect(try workspace.run("why", "job.json", id, "--job", "job.json").messages.contains("Give the job either"))
    #expect(try output("why", id.prefix(20).uppercased()) == whole)
    #expect(try output("store", "events", "--id", String(id.prefix(13))) == output("store", "events", "--id", id))
    let several = try workspace.run("why", String(id.prefix(6)), "--store", Self.store)
    #expect(several.code == 64)
    #expect(several.messages.hasPrefix("error: more than one event id begins with '\(id.prefix(6))': "))
    #expect(several.messages.contains(id) && several.messages.hasSuffix("; give more characters\n"))
    let none = try workspace.run("why", "000000", "--store", Self.store)
    #expect(none.code == 64)
    #expect(none.messages.hasPrefix("error: the store has no event '000000'; an event with this id would have"))
    #expect(try workspace.run("why", id.prefix(5).description, "--store", Self.store).code == 64)
  }

  @Test("Why a device has a campaign is one question, answered by its last event with it")
  func campaignOfADevice() throws {
    let workspace = try stored()
    func why(_ more: String...) throws -> Finished {
      try workspace.run(["why", "--store", Self.store, "--device", "phone-1"] + more)
    }
    let ids = try ["17", "14"].flatMap { try self.ids(workspace, $0) }
    let asked = try why("--campaign", "Spring Sale")
    #expect(asked.code == 0, "\(asked.messages)")
    #expect(try ids.contains { try asked.output == workspace.run("why", $0, "--store", Self.store).output })
    let early = try why("--campaign", "Spring Sale", "--at", "2026-01-01T08:03:00Z")
    #expect(try early.output == workspace.run("why", self.ids(workspace, "17")[0], "--store", Self.store).output)
    let other = try why("--campaign", "Summer")
    #expect(other.code == 64)
    #expect(
      other.messages
        == "error: the store has no event of this device with the campaign 'Summer'; campaigns of the device's events: Spring Sale\n"
    )
    #expect(try workspace.run("why", "--store", Self.store, "--campaign", "x", "--person", "user-1").code == 64)
  }

  @Test("A campaign that was over at the end of what the store knows is not said to hold")
  func campaignIsOver() throws {
    let workspace = try Workspace([])
    try workspace.write(
      "in.ndjson",
      [
        #"{"deviceId":"p","timestamp":"2026-01-01T08:00:00Z","type":"launch"}"#,
        #"{"deviceId":"p","timestamp":"2026-01-01T08:01:00Z","type":"pushReceived","payload":{"aps":{"alert":"x"},"CurrentCampaign":"VIP","CampaignValidFor":"1 hour"}}"#,
      ].joined(separator: "\n"))
    try workspace.write(
      "job.json",
      #"{"name": "j", "inputs": {"events": ["in.ndjson"]}, "asOf": "2026-01-01T08:30:00Z", "store": "s.sqlite"}"#)
    func state(at asOf: String) throws -> [String] {
      #expect(try workspace.run("run", "job.json", "--no-upload", "--as-of", asOf).code == 0)
      return try sentences(answer(workspace, "--device", "p", "--store", "s.sqlite"), "state")
    }
    #expect(try state(at: "2026-01-01T08:30:00Z").contains("campaign 'VIP' is active until 2026-01-01T09:01:00.000Z"))
    let later = try state(at: "2026-01-02T00:00:00Z")
    #expect(!later.contains { $0.contains("is active until") }, "\(later)")
  }

  @Test("An event tells its session, its campaign and where it came from, with the settings and their places")
  func event() throws {
    let workspace = try stored()
    let events = try ids(workspace, "17")
    let push = try ids(workspace, "48")[0]
    #expect(events.count == 2)
    let checkout = try answer(workspace, events[0], "--store", Self.store)
    #expect(checkout["subject"]?.string == "Named event (code 17) at 2026-01-01T08:02:00.000Z")
    #expect(sentences(checkout, "source") == ["\(workspace.path)/in.ndjson:3"])
    #expect(checkout["file"]?.string == "\(workspace.path)/in.ndjson")
    #expect(checkout["line"]?.compactText == "3")
    #expect(
      sentences(checkout, "session") == [
        "began at 2026-01-01T08:00:00.000Z; this is event 3 of the session; the session ended at 2026-01-01T08:05:00.000Z, after 300 s of use",
        "a session ends when the app has been unused for 10 minutes (Session.sessionLifecycleExpiration, job job.json:1)",
      ])
    #expect(
      sentences(checkout, "campaign") == [
        "'Spring Sale': it was set by the notification received at 2026-01-01T08:01:00.000Z "
          + "(event \(push), \(workspace.path)/in.ndjson:2)"
      ])
    #expect(
      sentences(checkout, "status") == [
        "not posted: queued: not sent yet, or every attempt failed (NOT_POSTED, --no-upload, --max-quarantine, Networking); "
          + "this status ends with the next run, or 'post'", "run 1, the last one, sent nothing (mode no-upload)",
      ])
    #expect(sentences(checkout, "sending").last == "no attempt yet")
    #expect(sentences(checkout, "decided")[0].hasPrefix("run 1 of job 'job', started "))
    let later = try answer(workspace, events[1], "--job", "job.json")
    #expect(sentences(later, "session") == ["the store shows no open session at that time"])
    #expect(
      sentences(later, "campaign") == [
        "none was active: 'Spring Sale', which was set by the notification received at 2026-01-01T08:01:00.000Z "
          + "(event \(push), \(workspace.path)/in.ndjson:2), had expired by then",
        "a campaign ends at its own expiry; a campaign without an expiry lasts 1 day (General.defaultCurrentCampaignExpiration, built-in default)",
      ])
  }

  @Test("The end of a session and what waited for a user id name their own lines, whichever run sends them on")
  func sourcesAcrossRuns() throws {
    let workspace = try Workspace([])
    func run(_ file: String, asOf: String, _ records: String...) throws {
      try workspace.write(file, records.joined(separator: "\n") + "\n")
      try workspace.write(
        "job.json",
        #"{"name": "job", "inputs": {"events": ["\#(file)"]}, "asOf": "\#(asOf)", "store": "var/job.sqlite"}"#)
      #expect(try workspace.run("run", "job.json", "--no-upload").code == 0)
      try workspace.remove(file)
    }
    try run(
      "first.ndjson", asOf: "2026-01-01T08:06:00Z",
      #"{"deviceId":"p","timestamp":"2026-01-01T08:00:00Z","type":"launch"}"#,
      #"{"deviceId":"q","timestamp":"2026-01-01T08:00:00Z","type":"launch","mobileUserId":"q"}"#,
      #"{"deviceId":"q","timestamp":"2026-01-01T08:05:00Z","type":"background"}"#)
    try run(
      "second.ndjson", asOf: "2026-01-02T00:00:00Z",
      #"{"deviceId":"p","timestamp":"2026-01-01T09:00:00Z","type":"setMobileUserId","mobileUserId":"p"}"#)
    var places: [String: [String]] = [:]
    for type in ["12", "13", "14"] {
      for id in try ids(workspace, type) {
        let source = try #require(sentences(answer(workspace, id, "--store", Self.store), "source").first)
        places[type, default: []].append(String(source.dropFirst(workspace.path.count + 1)))
      }
    }
    #expect(places["12"]?.sorted() == ["first.ndjson:1", "first.ndjson:2"])
    #expect(places["13"]?.sorted() == ["first.ndjson:1", "first.ndjson:2"])
    #expect(places["14"] == ["first.ndjson:3"])
  }

  @Test("An event that came too late for sessions and campaigns says so, and others are told as if it were not there")
  func lateEvent() throws {
    let workspace = try workspace()
    #expect(try workspace.run("run", "job.json", "--no-upload", "--set", "Ingest.rewind=0 seconds").code == 0)
    try workspace.write(
      "in.ndjson",
      #"{"deviceId":"phone-1","timestamp":"2026-01-01T08:01:30Z","type":"namedEvent","name":"late"}"# + "\n")
    #expect(try workspace.run("run", "job.json", "--no-upload", "--set", "Ingest.rewind=0 seconds").code == 0)
    let events = try ids(workspace, "17")
    #expect(events.count == 3)
    let late = try answer(workspace, events[2], "--store", Self.store)
    let why =
      "none: the event's record arrived after later ones had been processed, too late to rewind sessions and campaigns"
    #expect(sentences(late, "session") == [why])
    #expect(sentences(late, "campaign") == [why])
    let checkout = try answer(workspace, events[0], "--store", Self.store)
    #expect(
      sentences(checkout, "session")[0]
        == "began at 2026-01-01T08:00:00.000Z; this is event 3 of the session; the session ended at 2026-01-01T08:05:00.000Z, after 300 s of use"
    )
    #expect(sentences(checkout, "campaign")[0].contains("set by the notification received at"))
  }

  @Test("An event of a replayed line names the file and line that were quarantined")
  func sourceOfReplayedLine() throws {
    let workspace = try Workspace([])
    let long = String(repeating: "x", count: 2000)
    let records = [
      #"{"deviceId":"p","timestamp":"2026-01-01T08:00:00Z","type":"launch","mobileUserId":"p"}"#, "",
      #"{"deviceId":"p","timestamp":"2026-01-01T08:00:01Z","type":"namedEvent","name":"\#(long)"}"#,
    ]
    try workspace.write("in.ndjson", records.joined(separator: "\n") + "\n")
    func job(_ limit: Int) throws {
      try workspace.write(
        "job.json",
        #"{"name": "job", "inputs": {"events": ["in.ndjson"]}, "asOf": "2026-01-02T00:00:00Z", "#
          + #""store": "var/job.sqlite", "settings": {"Ingest": {"maxLineBytes": \#(limit)}}}"#)
    }
    try job(1024)
    #expect(try workspace.run("run", "job.json", "--no-upload").code == 0)
    try job(4096)
    let replay = try workspace.run("quarantine", "replay", "--job", "job.json")
    #expect(replay.code == 0, "\(replay.messages)")
    let event = try answer(workspace, try #require(ids(workspace, "17").first), "--store", Self.store)
    #expect(sentences(event, "source") == ["\(workspace.path)/in.ndjson:3"])
  }

  @Test("Ids of people are hashed unless they are asked for")
  func privacy() throws {
    let workspace = try stored()
    let id = try ids(workspace, "17")[0]
    let hidden = try workspace.run("why", id, "--store", Self.store)
    #expect(hidden.code == 0)
    #expect(!hidden.output.contains("phone-1") && !hidden.output.contains("user-1"), "\(hidden.output)")
    let shown = try workspace.run("why", id, "--store", Self.store, "--show-personal-data")
    #expect(shown.output.contains("of device phone-1"))
    #expect(shown.output.contains("no recipient is known, mobile user id user-1"))
  }

  @Test("A campaign that was set again names the notification that may have done it")
  func campaignSetAgain() throws {
    let workspace = try Workspace([])
    let push = #""type":"notificationOpened","payload":{"CurrentCampaign":"Spring"}"#
    let records = [
      ("08:00", #""type":"launch""#), ("08:01", push), ("09:01", push), ("10:01", push),
      ("11:00", #""type":"namedEvent","name":"n""#),
    ]
    try workspace.write(
      "in.ndjson",
      records.map { #"{"deviceId":"d","mobileUserId":"u","timestamp":"2026-01-15T\#($0.0):00Z",\#($0.1)}"# }.joined(
        separator: "\n"))
    try workspace.write("job.json", #"{"name": "job", "inputs": {"events": ["in.ndjson"]}, "store": "s.sqlite"}"#)
    #expect(try workspace.run("run", "job.json", "--no-upload").code == 0)
    let campaign = sentences(
      try answer(workspace, ids(workspace, "17", store: "s.sqlite")[0], "--store", "s.sqlite"), "campaign")[0]
    #expect(campaign.contains("it was set by the notification opened at 2026-01-15T08:01:00.000Z"), "\(campaign)")
    #expect(campaign.contains("; the opened notification (code 49) at 2026-01-15T10:01:00.000Z"), "\(campaign)")
    #expect(campaign.hasSuffix(" may have set it again"), "\(campaign)")
  }

  @Test("A device tells where it stood at a time, and at the end")
  func device() throws {
    let workspace = try stored()
    let early = try answer(workspace, "--device", "phone-1", "--at", "2026-01-01T08:03:00Z", "--store", Self.store)
    #expect(
      sentences(early, "session") == ["began at 2026-01-01T08:00:00.000Z; ended later, at 2026-01-01T08:05:00.000Z"])
    #expect(
      sentences(early, "campaign")[0].hasPrefix(
        "'Spring Sale', carried by the last event up to then, at 2026-01-01T08:02:00.000Z; it was set by"))
    let end = try answer(workspace, "--device", "phone-1", "--store", Self.store)
    #expect(sentences(end, "session") == ["no session was open"])
    let last = try ids(workspace, "17")[1]
    #expect(
      sentences(end, "events").last
        == "last event up to then: named event (code 17) at 2026-01-01T12:00:00.000Z (event \(last), \(workspace.path)/in.ndjson:5)"
    )
    #expect(
      sentences(end, "state").prefix(2) == [
        "no session is open", "campaign 'Spring Sale' expired at 2026-01-01T09:01:00.000Z",
      ])
    #expect(sentences(end, "statuses") == ["NOT_POSTED 6"])
    let before = try answer(workspace, "--device", "phone-1", "--at", "2025-01-01T00:00:00Z", "--store", Self.store)
    #expect(sentences(before, "events").last == "none of them had happened by then")
    let unknown = try workspace.run("why", "--device", "phone-2", "--store", Self.store).messages
    #expect(
      unknown.contains(/did you mean '[0-9a-f]{16}'\?; --show-personal-data shows the ids\n/), "\(unknown)")
    let shown = try workspace.run("why", "--device", "phone-2", "--store", Self.store, "--show-personal-data").messages
    #expect(shown == "error: the store has no device 'phone-2'; did you mean 'phone-1'?\n")
    #expect(
      try workspace.run("why", "phone-1", "--store", Self.store).messages
        == "error: the store has no event 'phone-1'; this is a device; use --device\n")
    #expect(try workspace.run("why", "--device", "phone-2", "--store", Self.store).code == 64)
    #expect(try workspace.run("why", "--store", Self.store).code == 64)
  }

  @Test("An event that is alone in its request has one of its own")
  func aloneInItsRequest() throws {
    let workspace = try workspace()
    let run = try workspace.run("run", "job.json", "--no-upload", "--set", "Upload.maxEventsPerRequest=1")
    #expect(run.code == 0, "\(run.messages)")
    let told = try answer(workspace, ids(workspace, "17")[0], "--store", Self.store)
    #expect(
      sentences(told, "sending").first?.hasPrefix("a request with this event only (chunk ") == true, "\(told.text())")
  }

  @Test("Attempts are told with their answers, and what holds an event back")
  func attempts() throws {
    let workspace = try stored()
    var environment = try Service().environment
    environment["ENGAGE_BASE_URL"] = "http://127.0.0.1:1"
    let failed = try workspace.run(
      ["post", "job.json", "--set", "General.databaseListId=1"] + ServiceExitCodeTests.hasty, environment: environment)
    #expect(failed.code == 69, "\(failed.messages)")
    let told = try answer(workspace, ids(workspace, "17")[0], "--store", Self.store)
    let sending = sentences(told, "sending")
    #expect(sending[0] == "one request with 5 other events (chunk 1)")
    #expect(sending[1].hasPrefix("attempt 1 in run 2 at "), "\(sending)")
    #expect(sending[1].contains(": no byte of the request left this machine: "))
  }
}
