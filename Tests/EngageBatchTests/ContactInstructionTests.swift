import BatchFoundation
import BatchSandbox
import FoundationEssentials
import Testing

/// Contact lists, programs, opt-outs and opt-ins by records, from the export to the service and back.
@Suite("Instructions by records") struct ContactInstructionTests {
  private static func line(_ device: String, _ time: String, _ type: String) -> String {
    #"{"deviceId":"\#(device)","timestamp":"2026-01-15T\#(time)Z","mobileUserId":"u-\#(device)",\#(type)}"# + "\n"
  }

  private static let records = [
    line("ada", "08:00:00", #""type":"contactList","contactListId":60001"#),
    line("ada", "08:01:00", #""type":"optOut""#),
    line("bob", "08:02:00", #""type":"program","programId":"70001""#),
    line("bob", "08:03:00", #""type":"program","programId":"0""#),
    line("bob", "08:04:00", #""type":"namedEvent","name":"x""#),
  ].joined()

  private func workspace(identity: Bool = true) throws -> Workspace {
    let workspace = try Workspace([])
    try workspace.write("in.ndjson", Self.records)
    try workspace.write(
      "job.json",
      #"""
      {"name": "instructions", "identity": \#(identity), "inputs": {"events": ["in.ndjson"]}, "asOf": "2026-02-01T00:00:00Z",
       "store": "store.sqlite",
       "settings": {"General": {"databaseListId": "100001"}, "Recipient": {"holdEventsUntilIdentified": true}}}
      """#)
    return workspace
  }

  /// A service with a contact list, whose id is written into the export.
  private func service(_ workspace: Workspace) throws -> (service: Service, list: String) {
    let service = try Service()
    let made = try workspace.run(
      "xmlapi", "CreateContactList", "--param", "DATABASE_ID=100001", "--param", "CONTACT_LIST_NAME=VIP", "--param",
      "VISIBILITY=1", "--job", "job.json", environment: service.environment)
    #expect(made.code == 0, "\(made.messages)")
    let list = try #require(made.output.firstMatch(of: /"CONTACT_LIST_ID": \[\s*"(\d+)"/)).output.1
    try workspace.write("in.ndjson", Self.records.replacing("60001", with: list))
    return (service, String(list))
  }

  private func recipient(_ device: String, _ service: Service) throws -> Int64 {
    try #require(service.server.recipients(of: "100001").first { $0.values["Mobile User Id"]?.string == "u-\(device)" })
      .id
  }

  @Test("They are planned, made once, listed, refused ones wait, and an opt-out is taken back")
  func whole() throws {
    let workspace = try workspace()
    let (service, list) = try service(workspace)
    let planned = try workspace.run(
      "run", "job.json", "--dry-run", "--online-plan", "plan.json", "--summary", "-", environment: service.environment)
    #expect(planned.code == 0, "\(planned.messages)")
    #expect(try Summary(planned.output)["identity.checks"] == 0)
    let plan = try workspace.read("plan.json")
    for rule in ["ADD_TO_CONTACT_LIST", "OPT_OUT", "ADD_TO_PROGRAM"] { #expect(plan.contains(rule)) }
    #expect(service.server.members(ofContactList: list) == [])

    let run = try workspace.run("run", "job.json", "--summary", "-", environment: service.environment)
    #expect(run.code == 0, "\(run.messages)")
    let summary = try Summary(run.output)
    #expect(summary["identity.updated"] == 3)
    #expect(summary["identity.conflicts"] == 1)
    // A program that is not active keeps no event back.
    #expect(summary["upload.eventsPending"] == 0)
    let (ada, bob) = (try recipient("ada", service), try recipient("bob", service))
    #expect(service.server.members(ofContactList: list) == [ada])
    #expect(service.server.optedOut(of: "100001") == [ada])
    #expect(service.server.members(ofProgram: "70001") == [bob])

    let open = try workspace.run("identity", "list", "--store", "store.sqlite", "--open", "--show-personal-data")
    #expect(open.output.contains("conflict\tprogram\t\(bob)"), "\(open.output)")
    #expect(open.output.contains("653"), "\(open.output)")
    let why = try workspace.run("why", "--device", "ada", "--job", "job.json")
    #expect(why.output.contains("the recipient opts out of mailings (opt-out), done"), "\(why.output)")

    let again = try workspace.run("run", "job.json", "--summary", "-", environment: service.environment)
    #expect(again.code == 0, "\(again.messages)")
    #expect(try Summary(again.output)["identity.updated"] == 0)

    let listed = try workspace.run("identity", "list", "--store", "store.sqlite")
    func number(_ scenario: String) throws -> String {
      String(try #require(listed.lines.first { $0.contains("\tdone\t\(scenario)\t") }).prefix { $0 != "\t" })
    }
    let words = ["--store", "store.sqlite", "--job", "job.json"]
    let undone = try workspace.run(
      ["identity", "undo", number("opt-out")] + words, environment: service.environment)
    #expect(undone.code == 0, "\(undone.messages)")
    #expect(service.server.optedOut(of: "100001") == [])
    let refused = try workspace.run(
      ["identity", "undo", number("contact-list")] + words, environment: service.environment)
    #expect(refused.code == 64)
    #expect(refused.messages.contains("the service's API cannot remove the recipient"), "\(refused.messages)")
  }

  @Test("Without identity they wait in the store, and the first run with it makes them")
  func waiting() throws {
    let workspace = try workspace(identity: false)
    let (service, list) = try service(workspace)
    #expect(try workspace.run("run", "job.json", environment: service.environment).code == 0)
    #expect(service.server.members(ofContactList: list) == [])
    try workspace.write(
      "job.json", workspace.read("job.json").replacing(#""identity": false"#, with: #""identity": true"#))
    let run = try workspace.run("run", "job.json", environment: service.environment)
    #expect(run.code == 0, "\(run.messages)")
    #expect(service.server.members(ofContactList: list).count == 1)
    #expect(service.server.optedOut(of: "100001").count == 1)
  }

  @Test("A program whose answer was lost is asked for once more only when a person says so")
  func lostAnswer() throws {
    let workspace = try workspace()
    try workspace.write("in.ndjson", Self.line("bob", "08:02:00", #""type":"program","programId":"70001""#))
    let service = try Service()
    service.server.setFaults(
      FaultPlan(rules: [
        FaultRule(endpoint: .xmlapi, operation: "AddContactToProgram", point: .response, action: .close)
      ]))
    let run = try workspace.run("run", "job.json", "--summary", "-", environment: service.environment)
    #expect(run.code == 0, "\(run.messages)")
    #expect(try Summary(run.output)["identity.conflicts"] == 1)
    let bob = try recipient("bob", service)
    #expect(service.server.members(ofProgram: "70001") == [bob])
    service.server.setFaults(FaultPlan(rules: []))
    #expect(try workspace.run("run", "job.json", environment: service.environment).code == 0)
    let resumed = try workspace.run(
      "identity", "resume", "1", "--store", "store.sqlite", "--job", "job.json", environment: service.environment)
    #expect(resumed.code == 0, "\(resumed.messages)")
    #expect(try workspace.run("identity", "list", "--store", "store.sqlite").output.contains("1\tdone\tprogram"))
  }
}
