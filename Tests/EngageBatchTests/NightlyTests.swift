import BatchSandbox
import FoundationEssentials
import Glibc
import TestSupport
import Testing

/// `jobs/nightly.json`, the job that `make demo` runs.
@Suite("The nightly job") struct NightlyTests {
  @Test("Its figures, and that the second run sends nothing")
  func figures() throws {
    let workspace = try Workspace()
    let first = try workspace.run("run", "jobs/nightly.json", "--sandbox", "--summary", "-")
    #expect(first.code == 0, "\(first.messages)")
    let figures = try Summary(first.output)
    #expect(
      figures.text("records")
        == #"{"read":36,"accepted":33,"duplicates":1,"outOfWindow":0,"forgotten":0,"leftOut":0,"quarantined":2}"#)
    #expect(figures.text("quarantineReasons") == #"{"invalid-json":1,"invalid-timestamp":1}"#)
    #expect(
      figures.text("events")
        == #"{"total":37,"byType":{"12":3,"13":10,"14":7,"15":1,"16":2,"17":8,"48":4,"49":1,"95":1}}"#)
    #expect(figures.text("sessions") == #"{"started":7,"ended":7}"#)
    #expect(figures.text("campaigns") == #"{"set":7,"expired":1}"#)
    #expect(
      figures.text("upload")
        == #"{"chunks":1,"eventsPosted":37,"eventsFailed":0,"eventsPending":0,"eventsUnknown":0,"requests":1,"retries":0}"#
    )
    #expect(
      figures.text("identity")
        == #"{"checks":3,"created":5,"updated":2,"merged":2,"conflicts":0,"auditRows":2,"newOwners":0}"#)
    #expect(figures.text("store") == #"{"SUCCESSFULLY_POSTED":37}"#)
    #expect(first.messages.contains("report.html"))

    let second = try workspace.run("run", "jobs/nightly.json", "--sandbox", "--summary", "-")
    #expect(second.code == 0)
    let again = try Summary(second.output)
    #expect(
      again.text("records")
        == #"{"read":36,"accepted":0,"duplicates":34,"outOfWindow":0,"forgotten":0,"leftOut":0,"quarantined":2}"#)
    #expect(again["events.total"] == 0)
    #expect(again["upload.requests"] == 0)
    #expect(again["identity.checks"] == 0)
    #expect(again.text("store") == #"{"SUCCESSFULLY_POSTED":37}"#)
  }

  @Test("What the service sees is what the figures say; the second run only asks what was refused since")
  func overTheWire() throws {
    let workspace = try Workspace()
    var options = EngageSandboxOptions()
    options.switches.strictEvents = true
    let service = try Service(options)
    let first = try workspace.run(
      "run", "jobs/nightly.json", "--events-out", "events.ndjson", environment: service.environment)
    #expect(first.code == 0, "\(first.messages)")
    let totals = service.server.totals
    #expect(totals.eventsApplied == 37)
    #expect(totals.tokenCalls == 1)
    #expect(totals.violations == [:])
    let written = try workspace.read("events.ndjson").split(separator: "\n").map(String.init)
    #expect(service.events == written.sortedByBytes)
    let second = try workspace.run("run", "jobs/nightly.json", environment: service.environment)
    #expect(second.code == 0)
    #expect(service.server.totals.eventsApplied == 37)
    // It only asks which of the first run's events were refused since.
    #expect(service.server.totals.tokenCalls == totals.tokenCalls + 1)
    #expect(service.server.totals.requests == totals.requests + 2)
  }

  @Test("Files are for their owner only, whatever the umask is")
  func modes() throws {
    let workspace = try Workspace()
    let finished = try workspace.start(
      program: "/bin/sh",
      [
        "-c",
        "umask 000; exec \"$0\" run jobs/nightly.json --sandbox --events-out var/events.ndjson --summary var/summary.json",
        Checkout.binary,
      ]
    ).finish()
    #expect(finished.code == 0, "\(finished.messages)")
    let root = workspace.path + "/var"
    let names = try FileManager.default.subpathsOfDirectory(atPath: root)
    #expect(names.count >= 8)
    for name in [""] + names {
      var status = stat()
      #expect(stat("\(root)/\(name)", &status) == 0)
      let wanted: mode_t = status.st_mode & S_IFMT == S_IFDIR ? 0o700 : 0o600
      #expect(status.st_mode & 0o777 == wanted, "\(name)")
    }
  }

  @Test("In steps: local, then sent, then nothing left")
  func steps() throws {
    let workspace = try Workspace()
    let service = try Service()
    let local = try workspace.run("run", "jobs/nightly.json", "--no-upload", "--summary", "-")
    #expect(local.code == 0, "\(local.messages)")
    #expect(try Summary(local.output).text("store") == #"{"EXPIRED":5,"NOT_POSTED":32}"#)
    #expect(service.server.totals.requests == 0)
    let sent = try workspace.run("post", "jobs/nightly.json", "--summary", "-", environment: service.environment)
    #expect(sent.code == 0, "\(sent.messages)")
    #expect(try Summary(sent.output)["upload.eventsPosted"] == 37)
    #expect(service.server.totals.eventsApplied == 37)
    let left = try workspace.run("post", "jobs/nightly.json", "--summary", "-", environment: service.environment)
    #expect(try Summary(left.output)["upload.requests"] == 0)
    #expect(service.server.totals.eventsApplied == 37)
  }
}
