import BatchFoundation
import BatchSandbox
import FoundationEssentials
import LoopbackServer
import TestSupport
import Testing

extension HostileServiceTests {
  @Test("every run asks for events that were refused later, also one that posts nothing, and says when it cannot")
  func laterRefusals() throws {
    let workspace = try Workspace()
    var options = EngageSandboxOptions()
    options.switches.badEvents = BadEvents(attribute: "Event Name", value: "CART ADD", answer: .list)
    options.server.faults.rules = [
      FaultRule(endpoint: .eventErrors, occurrence: .nth([1]), action: .status(503, headers: [:], body: ""))
    ]
    let service = try Service(options)
    let first = try workspace.run("run", "jobs/nightly.json", "--summary", "-", environment: service.environment)
    #expect(first.code == 0, "\(first.messages)")
    #expect(
      first.messages.contains(
        "the events that the service rejected later could not be listed: outcome unknown: status 503"),
      "\(first.messages)")
    #expect(try Summary(first.output)["upload.eventsFailed"] == 0)
    let second = try workspace.run("run", "jobs/nightly.json", "--summary", "-", environment: service.environment)
    let summary = try Summary(second.output)
    #expect(summary["upload.requests"] == 0)
    #expect(summary["upload.eventsFailed"] > 0, "\(second.messages)")
    #expect(summary["upload.eventsPosted"] == 0)
  }

  @Test("an event that is refused later, in the run that posted it, counts as failed and not as posted")
  func laterRefusalsCountOnce() throws {
    let workspace = try Workspace()
    var options = EngageSandboxOptions()
    options.switches.badEvents = BadEvents(attribute: "Event Name", value: "CART ADD", answer: .list)
    let service = try Service(options)
    let run = try workspace.run("run", "jobs/nightly.json", "--summary", "-", environment: service.environment)
    let summary = try Summary(run.output)
    #expect(summary["upload.eventsFailed"] > 0, "\(run.messages)")
    #expect(summary["upload.eventsFailed"] == summary["store.FAILED_POST"])
    #expect(summary["upload.eventsPosted"] == summary["store.SUCCESSFULLY_POSTED"])
  }
}
