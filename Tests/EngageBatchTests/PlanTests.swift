import BatchFoundation
import BatchSandbox
import FoundationEssentials
import Testing

/// `run --dry-run --online-plan` and `run --plan`: what is written is what was shown before.
@Suite("Plans before deeds") struct PlanTests {
  private func image(_ service: Service) -> [String] {
    service.server.recipients(of: "100001").map { recipient in
      "\(recipient.id): "
        + recipient.values.map { "\($0.key.string)=\($0.value.string)" }.sortedByBytes.joined(separator: " ")
    }
      + service.server.rows(of: "50002").map { row in
        row.map { "\($0.key.string)=\($0.value.string)" }.sortedByBytes.joined(separator: " ")
      }.sortedByBytes
  }

  /// Makes the plan of the nightly job.
  private func plan(_ workspace: Workspace, _ service: Service) throws {
    let planned = try workspace.run(
      "run", "jobs/nightly.json", "--dry-run", "--online-plan", "plan.json", environment: service.environment)
    #expect(planned.code == 0, "\(planned.messages)")
  }

  @Test("A plan is made by reading alone, and carried out it leaves what a run without plan leaves")
  func carriedOut() throws {
    let workspace = try Workspace()
    let service = try Service()
    let before = image(service)
    try plan(workspace, service)
    #expect(image(service) == before)
    #expect(Set(service.server.totals.operations.keys) == ["GetListMetaData", "SelectRecipientData"])
    #expect(service.server.totals.submissions == 0)
    #expect(!workspace.exists("var/nightly.sqlite"))
    let text = try workspace.read("plan.json")
    #expect(text.contains(#""device" : "A1F0C9D2-0001""#) && !text.contains(#""device" : """#), "\(text)")
    for rule in ["ADD_RECIPIENT", "SET_IDS", "MARK_LOSER", "AUDIT", "PUBLISH_MAPPING", "LAST_KNOWN_LOCATION"] {
      #expect(text.contains("\"rule\" : \"\(rule)\""), "\(rule)")
    }

    let run = try workspace.run(
      "run", "jobs/nightly.json", "--plan", "plan.json", "--summary", "-", environment: service.environment)
    #expect(run.code == 0, "\(run.messages)")
    let summary = try Summary(run.output)
    #expect(
      summary.text("identity")
        == #"{"checks":3,"created":5,"updated":2,"merged":2,"conflicts":0,"auditRows":2,"newOwners":0}"#)
    #expect(summary["upload.eventsPosted"] == 37)
    let plain = try Service()
    #expect(try Workspace().run("run", "jobs/nightly.json", environment: plain.environment).code == 0)
    #expect(image(service) == image(plain))
    #expect(image(service).contains { $0.contains("Last Location Address=") })
  }

  @Test(
    "A plan that does not hold any more is refused before anything is written or sent", arguments: ["service", "input"])
  func refused(what: String) throws {
    let workspace = try Workspace()
    let service = try Service()
    try plan(workspace, service)
    if what == "input" {
      let name = try #require(
        try FileManager.default.contentsOfDirectory(atPath: workspace.path + "/samples/events").sorted().first)
      try workspace.write("samples/events/\(name)", workspace.read("samples/events/\(name)") + "\n")
    } else {
      let winner = try #require(
        service.server.recipients(of: "100001").first { $0.values["customer_id"] == "c-1001" })
      let change = try workspace.run(
        "xmlapi", "UpdateRecipient", "--job", "jobs/nightly.json", "--param", "LIST_ID=100001", "--param",
        "RECIPIENT_ID=\(winner.id)", "--column", "Mobile User Id=W-1", environment: service.environment)
      #expect(change.code == 0, "\(change.messages)")
    }
    let before = image(service)
    let run = try workspace.run("run", "jobs/nightly.json", "--plan", "plan.json", environment: service.environment)
    #expect(run.code == 65, "\(run.messages)")
    #expect(
      run.messages.contains(
        what == "input"
          ? "error: the inputs or the configuration changed after the change plan was made; create a new one. Nothing was written"
          : "error: the service or the store has changed since the change plan was made"), "\(run.messages)")
    #expect(image(service) == before)
    #expect(service.server.totals.submissions == 0)
  }
}
