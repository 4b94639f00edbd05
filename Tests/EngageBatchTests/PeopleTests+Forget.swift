import BatchFoundation
import BatchSandbox
import EngageRules
import Testing

/// Whom `forget --at-service` deletes, and whom it lists.
extension PeopleTests {
  @Test(
    "forget leaves the recipient to which another device leads, by a merge or by an automatic id that went up in it",
    arguments: [["--device", "own"], ["--mobile-user-id", "GRETE"]])
  func forgetLeavesWhatOthersLeadTo(words: [String]) throws {
    let workspace = try Workspace([])
    try workspace.write("job.json", Self.job())
    let service = try Service()
    func add(_ columns: String...) throws {
      let words = ["xmlapi", "AddRecipient", "--param", "LIST_ID=100001"] + columns.flatMap { ["--column", $0] }
      #expect(try workspace.run(words, environment: service.environment).code == 0)
    }
    try add("customer_id=c-jo", "Mobile User Id=JO")
    try add("customer_id=c-grete", "Mobile User Id=GRETE")
    // The tablet is nobody's yet, or Ida's, when it goes up in Jo's recipient; then Grete logs in on it.
    let first = words[0] == "--device" ? "IDA" : ""
    let identify = #""type":"identify","ids":{"customer_id":"c-jo"}"#
    let nights = [
      Self.record("tablet", "10T08:00", first, identify) + Self.record("own", "10T09:00", "JO"),
      first.isEmpty ? Self.record("tablet", "11T08:00", "GRETE") : Self.record("tablet", "11T08:00"),
    ]
    try Self.run(nights, in: workspace, service)
    let forget = try workspace.run(
      ["forget", "--job", "job.json", "--at-service", "--show-personal-data"] + words, environment: service.environment)
    #expect(forget.code == 0, "\(forget.messages)")
    // The tablet was Jo's before Grete's login, so there is nothing to say of him.
    #expect(
      forget.messages.contains("the mobile user id IDA was recorded by other devices too") == !first.isEmpty,
      "\(forget.messages)")
    #expect(!forget.messages.contains("the mobile user id JO"), "\(forget.messages)")
    let left = Self.users(of: service)
    #expect(left.contains("JO") && left.contains("GRETE") == !first.isEmpty, "\(left)")
    #expect(try workspace.run("verify", "job.json", environment: service.environment).code == 0)
  }

  @Test(
    "forget deletes whoever went up in the recipient of a named id, and leaves the one in which an automatic id before it went up",
    arguments: [
      (["--mobile-user-id", "BOB"], "2", ["OLD"]), (["--mobile-user-id", "OLD"], "2", ["BOB"]),
      (["--mobile-user-id", "BOB", "--mobile-user-id", "OLD"], "3", []), (["--device", "tablet"], "2", ["BOB"]),
      (["--device", "tablet", "--mobile-user-id", "BOB"], "3", []),
    ])
  func forgetLeavesWhatIsInDoubt(words: [String], deleted: String, stays: [String]) throws {
    let workspace = try Workspace([])
    try workspace.write("job.json", Self.job())
    let service = try Service()
    let others = Self.users(of: service)
    let add = ["--column", "customer_id=c-old", "--column", "Mobile User Id=OLD"]
    let call = ["xmlapi", "AddRecipient", "--param", "LIST_ID=100001"] + add
    #expect(try workspace.run(call, environment: service.environment).code == 0)
    // No device records OLD, and Bob has a recipient when he logs in on the tablet that went up in the one of OLD.
    let identify = #""type":"identify","ids":{"customer_id":"c-old"}"#
    let nights = [
      Self.record("phone", "10T07:00", "BOB") + Self.record("tablet", "10T08:00", "", identify),
      Self.record("tablet", "11T08:00", "BOB"),
    ]
    try Self.run(nights, in: workspace, service)
    #expect(Self.users(of: service).subtracting(others) == ["OLD", "BOB", AutomaticMobileUserId.id(of: "tablet")])
    let forget = ["forget", "--job", "job.json", "--at-service", "--show-personal-data"] + words
    for isRehearsal in [true, false] {
      let done = try workspace.run(forget + (isRehearsal ? ["--dry-run"] : []), environment: service.environment)
      #expect(done.code == 0, "\(done.messages)")
      #expect(
        done.messages.contains(
          "the mobile user id OLD may belong to another person, because a device's recipient was merged into the "
            + "recipient of this id: the recipients of this id are kept")
          == (stays == ["OLD"]), "\(done.messages)")
      #expect(
        done.messages.contains("recipients deleted from the list: \(deleted)\n") == !isRehearsal, "\(done.messages)")
    }
    #expect(Self.users(of: service) == others.union(stays))
  }

  @Test(
    "forget deletes the recipient of the automatic id before a named one, with what went up in it, unless somebody else has it by now",
    arguments: [
      (["--mobile-user-id", "BOB"], "", []),
      (["--mobile-user-id", "BOB"], "GRETE", ["GRETE", AutomaticMobileUserId.id(of: "kiosk")]),
      (["--device", "kiosk"], "", [AutomaticMobileUserId.id(of: "tablet")]),
    ])
  func forgetDeletesTheAutomaticRecipient(words: [String], login: String, stays: [String]) throws {
    let workspace = try Workspace([])
    try workspace.write("job.json", Self.job())
    let service = try Service()
    let others = Self.users(of: service)
    let call = ["xmlapi", "AddRecipient", "--param", "LIST_ID=100001", "--column", "customer_id=c-bob"]
    #expect(try workspace.run(call, environment: service.environment).code == 0)
    // Bob has a recipient when he logs in on the tablet, and the kiosk goes up in the one that the tablet found.
    let identify = #""type":"identify","ids":{"customer_id":"c-bob"}"#
    let nights = [
      Self.record("phone", "10T07:00", "BOB") + Self.record("tablet", "10T08:00", "", identify),
      Self.record("tablet", "11T08:00", "BOB") + Self.record("kiosk", "11T09:00", "", identify),
      Self.record("kiosk", "12T08:00", login),
    ]
    try Self.run(nights, in: workspace, service)
    let forget = ["forget", "--job", "job.json", "--at-service", "--show-personal-data"] + words
    let done = try workspace.run(forget, environment: service.environment)
    #expect(done.code == 0, "\(done.messages)")
    #expect(Self.users(of: service) == others.union(stays).union(words[0] == "--device" ? ["BOB"] : []))
  }

  /// Runs the job once for each night.
  private static func run(_ nights: [String], in workspace: Workspace, _ service: Service) throws {
    for (number, lines) in nights.enumerated() {
      try workspace.write("in/\(number).ndjson", lines)
      #expect(try workspace.run("run", "job.json", environment: service.environment).code == 0)
    }
  }

  /// The mobile user ids of the list.
  private static func users(of service: Service) -> Set<String> {
    Set(service.server.recipients(of: "100001").compactMap { $0.values["Mobile User Id"]?.string })
  }
}
