import BatchFoundation
import BatchSandbox
import EngageRules
import Testing

/// Whose contact is it: devices that change hands, people with several devices, and a service that fails (reference decisions 58, 62 to 64).
@Suite("People and their recipients") struct PeopleTests {
  static func job(_ settings: String = "") -> String {
    #"""
    {"name": "people", "identity": true, "settings": {"General": {"databaseListId": "100001"}\#(settings)},
     "inputs": {"events": ["in/*.ndjson"]}, "asOf": "2026-01-20T00:00:00Z", "store": "store.sqlite"}
    """#
  }

  static func record(_ device: String, _ time: String, _ user: String = "", _ more: String = "") -> String {
    let id = user.isEmpty ? "" : #","mobileUserId":"\#(user)""#
    let what = more.isEmpty ? #""type":"namedEvent","name":"\#(device) \#(time)""# : more
    return #"{"deviceId":"\#(device)","timestamp":"2026-01-\#(time):00Z"\#(id),\#(what)}"# + "\n"
  }

  /// Device, recipient and mobile user id of the named events, in their order.
  private func sent(_ service: Service) -> [String] {
    service.events.compactMap { text in
      guard let event = try? JSONNode.parse(Array(text.utf8)), event["eventTypeCode"]?.string == "17" else {
        return nil
      }
      func value(_ name: String) -> String {
        event["attributes"]?.array?.first { $0["name"]?.string == name }?["value"]?.string ?? ""
      }
      return [value("Event Name"), value("Recipient Id").suffix(3).description, value("Primary User Id")].joined(
        separator: " ")
    }.sorted()
  }

  @Test(
    "A tablet that changes hands is another person's, in later runs and within one, and forget deletes that person alone"
  )
  func aTabletChangesHands() throws {
    let nights = [
      [Self.record("tablet", "10T08:00", "ANNA"), Self.record("tablet", "10T09:00")],
      [Self.record("tablet", "11T08:00", "BOB"), Self.record("phone", "11T09:00", "BOB")],
      [Self.record("tablet", "12T08:00", "ANNA"), Self.record("phone", "12T09:00")],
    ]
    for isOneRun in [false, true] {
      let workspace = try Workspace([])
      try workspace.write("job.json", Self.job())
      let service = try Service()
      for (number, lines) in nights.enumerated() {
        try workspace.write("in/\(number).ndjson", lines.joined())
        if isOneRun, number < 2 { continue }
        let run = try workspace.run("run", "job.json", "--summary", "-", environment: service.environment)
        #expect(run.code == 0, "\(run.messages)")
        #expect(try Summary(run.output)["identity.newOwners"] == (number == 0 ? 0 : 1))
      }
      let events = sent(service)
      let (anna, bob) = (events[3].split(separator: " ")[2], events[0].split(separator: " ")[2])
      #expect(anna != bob)
      #expect(
        events == [
          "phone 11T09:00 \(bob) BOB", "phone 12T09:00 \(bob) BOB", "tablet 10T08:00 \(anna) ANNA",
          "tablet 10T09:00 \(anna) ANNA", "tablet 11T08:00 \(bob) BOB", "tablet 12T08:00 \(anna) ANNA",
        ])
      let verify = try workspace.run("verify", "job.json", environment: service.environment)
      #expect(verify.code == 0, "\(verify.output)")
      let forget = try workspace.run(
        "forget", "--device", "tablet", "--job", "job.json", "--at-service", environment: service.environment)
      #expect(forget.messages.contains("recipients deleted from the list: 1\n"), "\(forget.messages)")
      #expect(forget.messages.contains("was recorded by other devices too"), "\(forget.messages)")
      let left = try workspace.run("verify", "job.json", environment: service.environment)
      #expect(left.output.contains("recipients: 1 confirmed"), "\(left.output)")
    }
  }

  @Test("A night without the service's recipients holds the events of new devices, says since when, and loses nothing")
  func aNightWithoutRecipients() throws {
    let workspace = try Workspace([])
    try workspace.write("job.json", Self.job())
    try workspace.write("in/0.ndjson", Self.record("d-1", "10T08:00", "ANNA") + Self.record("d-2", "10T09:00"))
    var options = EngageSandboxOptions()
    options.server.faults.rules = [
      FaultRule(operation: "AddRecipient", action: .status(503, headers: [:], body: ""))
    ]
    let service = try Service(options)
    let impatient = ServiceExitCodeTests.hasty + ["--set", "Upload.patience=0s", "--set", "Upload.patienceAtStart=0s"]
    let first = try workspace.run(["run", "job.json", "--summary", "-"] + impatient, environment: service.environment)
    #expect(first.code == 69, "\(first.messages)")
    #expect(sent(service) == [])
    #expect(try Summary(first.output).text("store") == #"{"HOLD":6}"#)
    #expect(
      first.messages.contains("6 events are pending (HOLD): 2 devices have no recipient yet (since 2026-01-20T"),
      "\(first.messages)")
    #expect(
      first.messages.contains(
        "6 events are not sent (HOLD): 2 devices have no recipient yet (since 2026-01-20T00:00:00.000Z). "
          + "The next run tries again\n"), "\(first.messages)")
    // While nothing is wrong with the events, they are not to be given up.
    #expect(!first.messages.contains("abandon"), "\(first.messages)")
    let verify = try workspace.run("verify", "job.json", environment: service.environment)
    #expect(verify.output.contains("2 devices have no recipient yet"), "\(verify.output)")
    let later = Self.job().replacing("2026-01-20T", with: "2026-01-28T")
    try workspace.write("later.json", later)
    let old = try workspace.run("verify", "later.json", "--show-personal-data", environment: service.environment)
    #expect(old.output.contains("identity abandon --device d-1"), "\(old.output)")
    let abandoned = try workspace.run("identity", "abandon", "--device", "d-2", "--store", "store.sqlite")
    #expect(abandoned.code == 0, "\(abandoned.messages)")
    service.server.setFaults(FaultPlan())
    let next = try workspace.run("run", "job.json", environment: service.environment)
    #expect(next.code == 0, "\(next.messages)")
    let events = sent(service)
    #expect(events.count == 2)
    #expect(
      events[0].hasPrefix("d-1 10T08:00 ") && events[0].hasSuffix(" ANNA") && events[0].split(separator: " ").count == 4
    )
    #expect(events[1].hasPrefix("d-2 10T09:00  "), "\(events)")
  }

  @Test("A service that refuses set-ups: verify names each device once, and abandon lets the events of one go")
  func refusedSetUps() throws {
    let workspace = try Workspace([])
    try workspace.write("job.json", Self.job())
    try workspace.write("later.json", Self.job().replacing("2026-01-20T", with: "2026-01-27T"))
    try workspace.write("after.json", Self.job().replacing("2026-01-20T00:00:00", with: "2026-01-27T00:00:01"))
    try workspace.write("in/0.ndjson", Self.record("d-1", "10T08:00", "ANNA") + Self.record("d-2", "10T09:00", "BOB"))
    var options = EngageSandboxOptions()
    options.server.faults.rules = [
      FaultRule(operation: "AddRecipient", action: .fault(id: 1007, text: "no such column", errorClass: "SP.Recipient"))
    ]
    let service = try Service(options)
    let first = try workspace.run("run", "job.json", "--summary", "-", environment: service.environment)
    #expect(first.code == 76, "\(first.messages)")
    #expect(try Summary(first.output).text("store") == #"{"HOLD":6}"#)
    #expect(
      first.messages.contains(
        "6 events are not sent (HOLD): 2 devices have no recipient yet (since 2026-01-20T00:00:00.000Z). The next run tries again; "
          + "to send a device's events without one: engage-batch identity abandon --store "), "\(first.messages)")
    for (job, isOld) in [("later.json", false), ("after.json", true)] {
      let verify = try workspace.run("verify", job, "--show-personal-data", environment: service.environment)
      #expect(verify.code == 65)
      #expect(verify.output.contains("recipients: 2 missing\n"), "\(verify.output)")
      #expect(verify.output.contains("identity abandon --device d-2 ") == isOld, "\(verify.output)")
      #expect(verify.output.contains("2 devices have no recipient, because the service refuses the set-up") == !isOld)
    }
    let abandon = try workspace.run("identity", "abandon", "--device", "d-2", "--store", "store.sqlite")
    #expect(abandon.code == 0, "\(abandon.messages)")
    let next = try workspace.run("run", "job.json", environment: service.environment)
    #expect(next.code == 76, "\(next.messages)")
    #expect(sent(service) == ["d-2 10T09:00  BOB"])
    #expect(next.messages.contains("3 events are not sent (HOLD): 1 device has no recipient yet"), "\(next.messages)")
  }

  @Test(
    "A tablet that went up in somebody's recipient before any login is another's after one, in one run as in nights",
    arguments: [false, true])
  func aTabletWithoutALoginChangesHands(isOneRun: Bool) throws {
    let workspace = try Workspace([])
    try workspace.write("job.json", Self.job())
    let service = try Service()
    let words = ["xmlapi", "AddRecipient", "--param", "LIST_ID=100001"]
    for (customer, user) in [("c-old", "Mobile User Id=OLD"), ("c-web", "EMAIL=")] {
      let add = words + ["--column", "customer_id=\(customer)", "--column", user]
      #expect(try workspace.run(add, environment: service.environment).code == 0)
    }
    func identify(_ customer: String) -> String { #""type":"identify","ids":{"customer_id":"\#(customer)"}"# }
    let nights = [
      Self.record("old", "10T07:00", "OLD") + Self.record("tablet", "10T08:00", "", identify("c-old"))
        + Self.record("watch", "10T08:00", "", identify("c-web")) + Self.record("watch", "10T09:00"),
      Self.record("tablet", "11T08:00", "BOB") + Self.record("watch", "11T08:00", "EVA"),
      Self.record("phone", "12T08:00", "BOB") + Self.record("phone", "12T09:00", "", identify("c-bob"))
        + Self.record("old", "12T10:00") + Self.record("glass", "12T10:00", "EVA"),
    ]
    for (number, lines) in nights.enumerated() {
      try workspace.write("in/\(number).ndjson", lines)
      if isOneRun, number < 2 { continue }
      let run = try workspace.run("run", "job.json", environment: service.environment)
      #expect(run.code == 0, "\(run.messages)")
    }
    let list = service.server.recipients(of: "100001")
    func recipient(_ column: String, _ value: String) throws -> (id: String, user: String) {
      let found = list.filter { $0.values[ByteText(column)]?.string == value }
      #expect(found.count == 1, "\(list)")
      let one = try #require(found.first)
      return (String(String(one.id).suffix(3)), one.values["Mobile User Id"]?.string ?? "")
    }
    let (old, bob, eva) = try (
      recipient("customer_id", "c-old"), recipient("customer_id", "c-bob"), recipient("customer_id", "c-web")
    )
    #expect([old.user, bob.user, eva.user] == ["OLD", "BOB", "EVA"])
    let automatic = AutomaticMobileUserId.id(of: "watch")
    #expect(
      sent(service) == [
        "glass 12T10:00 \(eva.id) EVA", "old 10T07:00 \(old.id) OLD", "old 12T10:00 \(old.id) OLD",
        "phone 12T08:00 \(bob.id) BOB", "tablet 11T08:00 \(bob.id) BOB", "watch 10T09:00 \(eva.id) \(automatic)",
        "watch 11T08:00 \(eva.id) EVA",
      ])
    #expect(try workspace.run("verify", "job.json", environment: service.environment).code == 0)
    let forget = try workspace.run(
      "forget", "--job", "job.json", "--at-service", "--mobile-user-id", "BOB", environment: service.environment)
    #expect(forget.messages.contains("recipients deleted from the list: 1\n"), "\(forget.messages)")
    let left = service.server.recipients(of: "100001").compactMap { $0.values["Mobile User Id"]?.string }
    #expect(left.contains("OLD") && left.contains("EVA") && !left.contains("BOB"), "\(left)")
  }

  @Test("An owner whose id went up in another's recipient moves on to one without an id, and verify has nothing to say")
  func aMergedOwnerMovesOn() throws {
    let workspace = try Workspace([])
    try workspace.write("job.json", Self.job())
    let service = try Service()
    let add = ["xmlapi", "AddRecipient", "--param", "LIST_ID=100001", "--column", "customer_id=c-2"]
    #expect(try workspace.run(add, environment: service.environment).code == 0)
    func identify(_ customer: String) -> String { #""type":"identify","ids":{"customer_id":"\#(customer)"}"# }
    try workspace.write(
      "in/0.ndjson",
      Self.record("a", "10T07:00", "A", identify("c-9")) + Self.record("b", "10T08:00", "B", identify("c-9"))
        + Self.record("a", "10T10:00", "B") + Self.record("a", "10T11:00", "", identify("c-2")))
    #expect(try workspace.run("run", "job.json", environment: service.environment).code == 0)
    let verify = try workspace.run("verify", "job.json", environment: service.environment)
    #expect(verify.code == 0, "\(verify.output)")
  }

  @Test("abandon lets one device go; others that record the same id, also later ones, get its recipient")
  func abandonConcernsOneDevice() throws {
    let workspace = try Workspace([])
    try workspace.write("job.json", Self.job())
    try workspace.write(
      "in/0.ndjson", Self.record("phone", "10T08:00", "ANNA") + Self.record("tablet", "10T09:00", "ANNA"))
    var options = EngageSandboxOptions()
    options.server.faults.rules = [
      FaultRule(operation: "AddRecipient", action: .fault(id: 1007, text: "no such column", errorClass: "SP.Recipient"))
    ]
    let service = try Service(options)
    #expect(try workspace.run("run", "job.json", environment: service.environment).code == 76)
    let abandon = try workspace.run("identity", "abandon", "--device", "phone", "--store", "store.sqlite")
    #expect(abandon.code == 0, "\(abandon.messages)")
    try workspace.write("in/1.ndjson", Self.record("phone", "11T08:00", "ANNA"))
    let down = try workspace.run("run", "job.json", environment: service.environment)
    #expect(down.code == 76, "\(down.messages)")
    #expect(sent(service) == ["phone 10T08:00  ANNA", "phone 11T08:00  ANNA"])
    service.server.setFaults(FaultPlan())
    let identify = #""type":"identify","ids":{"customer_id":"c-anna"}"#
    try workspace.write(
      "in/2.ndjson", Self.record("watch", "12T08:00", "ANNA", identify) + Self.record("watch", "12T09:00"))
    let next = try workspace.run("run", "job.json", environment: service.environment)
    #expect(next.code == 0, "\(next.messages)")
    let anna = try #require(
      service.server.recipients(of: "100001").first { $0.values["Mobile User Id"]?.string == "ANNA" })
    #expect(anna.values["customer_id"]?.string == "c-anna")
    #expect(
      sent(service).suffix(2) == [
        "tablet 10T09:00 \(String(anna.id).suffix(3)) ANNA", "watch 12T09:00 \(String(anna.id).suffix(3)) ANNA",
      ])
    #expect(try workspace.run("verify", "job.json", environment: service.environment).code == 0)
  }

  @Test("Recipient.onNewUserId = rename writes the new id to the recipient, which can be undone")
  func rename() throws {
    let workspace = try Workspace([])
    try workspace.write("job.json", Self.job(#", "Recipient": {"onNewUserId": "rename"}"#))
    let service = try Service()
    for (number, user) in ["OLD", "NEW"].enumerated() {
      try workspace.write("in/\(number).ndjson", Self.record("d-1", "1\(number)T08:00", user))
      let run = try workspace.run("run", "job.json", "--summary", "-", environment: service.environment)
      #expect(run.code == 0, "\(run.messages)")
      #expect(try Summary(run.output)["identity.created"] == 1 - number)
      #expect(try Summary(run.output)["identity.updated"] == number)
    }
    let recipients = Set(sent(service).map { $0.split(separator: " ")[2] })
    #expect(recipients.count == 1)
    #expect(try workspace.run("verify", "job.json", environment: service.environment).code == 0)
    let undo = try workspace.run("identity", "undo", "1", "--job", "job.json", environment: service.environment)
    #expect(undo.code == 0 && undo.output.contains("undone"), "\(undo.messages)")
  }

  @Test("More than a tenth of the devices with a new owner is unusual, and --fail-on asks before a recipient is made")
  func manyNewOwners() throws {
    let workspace = try Workspace([])
    try workspace.write("job.json", Self.job())
    let service = try Service()
    try workspace.write("in/0.ndjson", (0..<20).map { Self.record("d-\($0)", "10T08:00", "old-\($0)") }.joined())
    let first = try workspace.run(
      "run", "job.json", "--fail-on", "unusual", environment: service.environment)
    #expect(first.code == 0, "\(first.messages)")
    for (night, count) in [(1, 2), (2, 3)] {
      try workspace.write(
        "in/\(night).ndjson",
        (0..<count).map { Self.record("d-\($0)", "1\(night)T08:00", "new-\(night)-\($0)") }.joined())
      let run = try workspace.run(
        "run", "job.json", "--fail-on", "unusual", "--summary", "-", environment: service.environment)
      #expect(run.code == (count == 2 ? 0 : 65), "\(run.messages)")
      #expect(try Summary(run.output)["identity.newOwners"] == count)
      #expect(try Summary(run.output)["identity.created"] == (count == 2 ? 2 : 0))
      #expect(run.messages.contains("3 of 20 that have a recipient") == (count == 3), "\(run.messages)")
    }
  }

  @Test("The program's own columns cannot be named: a record loses the member, a map is refused")
  func reservedColumns() throws {
    let workspace = try Workspace([])
    try workspace.write("job.json", Self.job())
    let ids = #""type":"identify","ids":{" merged recipient ID ":"9","Last Location Address":"x","customer_id":"c-9"}"#
    try workspace.write("in/0.ndjson", Self.record("d-1", "10T08:00", "ANNA", ids))
    let run = try workspace.run("run", "job.json", "--sandbox", "--report", "r", "--summary", "-")
    #expect(run.code == 0, "\(run.messages)")
    #expect(run.messages.contains("reserved-column"), "\(run.messages)")
    #expect(try Summary(run.output)["identity.updated"] == 1)
    try workspace.write(
      "map.json",
      #"""
      {"rules": [{"fields": {"deviceId": "d", "timestamp": "t", "type": {"constant": "identify"},
        "ids.Merged Date": "m"}}]}
      """#)
    try workspace.write(
      "mapped.json", Self.job().replacing(#"["in/*.ndjson"]"#, with: #"[{"path": "in/*.ndjson", "map": "map.json"}]"#))
    for command in [["run", "mapped.json", "--sandbox"], ["config", "check", "--job", "mapped.json"]] {
      let refused = try workspace.run(command)
      #expect(refused.code == 78, "\(refused.messages)")
      #expect((refused.messages + refused.output).contains("'ids' names 'Merged Date'"), "\(refused.messages)")
    }
    for (spread, code) in [
      (#"{"members": "m", "rename": {"d": " date"}, "prefix": "Merged"}"#, 78),
      (#"{"members": "m", "only": ["Date"], "prefix": "Merged "}"#, 78), (#"{"constant": {"merged date": "x"}}"#, 78),
      (#"{"members": "m", "only": ["Date"], "rename": {"Date": "day"}, "prefix": "Merged "}"#, 0),
      (#"{"members": "m", "rename": {"Merged Date": "day"}, "prefix": "own "}"#, 0),
    ] {
      try workspace.write(
        "map.json",
        #"{"rules": [{"fields": {"deviceId": "d", "timestamp": "t", "type": {"constant": "identify"}, "ids": \#(spread)}}]}"#
      )
      let checked = try workspace.run("config", "check", "--job", "mapped.json")
      #expect(checked.code == code, "\(spread) \(checked.messages)")
    }
  }
}
