import BatchFoundation
import BatchSandbox
import FoundationEssentials
import Testing

/// An empty service gets what a job needs, and a service with everything stays as it is.
@Suite("Service preparation") struct ServicePrepareTests {
  private func workspace(_ audit: String = "") throws -> Workspace {
    let workspace = try Workspace()
    try workspace.write(
      "job.json",
      """
      {"name": "j", "inputs": {"events": ["samples/*.ndjson"]}, "identity": true,
       "settings": {"General": {"databaseListId": "100001"}, "AuditRecord": {\(audit)}}}
      """)
    return workspace
  }

  /// A sandbox with a list that has no columns of its own.
  private final class EmptyService {
    let server: SandboxServer

    init(tables: [OrganizationSeed.Table] = []) throws {
      var options = EngageSandboxOptions()
      options.organization.lists = [OrganizationSeed.Table(id: "100001", columns: [])]
      options.organization.tables = tables
      server = try SandboxServer.start(options)
    }

    deinit {
      // The port goes with the process in any case.
      try? server.stop()
    }

    var environment: [String: String] {
      [
        "ENGAGE_BASE_URL": server.baseURL, "ENGAGE_CLIENT_ID": "client", "ENGAGE_SECRET": "secret",
        "ENGAGE_REFRESH_TOKEN": "refresh",
      ]
    }
  }

  @Test("What is missing is made with its types, dry run first, and the doctor is content afterwards")
  func prepare() throws {
    let workspace = try workspace()
    let service = try EmptyService()
    func run(_ arguments: String...) throws -> Finished {
      try workspace.run(arguments, environment: service.environment)
    }
    let sick = try run("doctor", "--job", "job.json")
    #expect(sick.code == 78 && sick.messages.contains("100001 has no column 'Mobile User Id'"), "\(sick.messages)")
    let rehearsal = try run("service", "prepare", "job.json", "--audit-table", "--dry-run")
    #expect(rehearsal.code == 0, "\(rehearsal.messages)")
    // Other lines tell of clocks and disks, which move.
    func missing(_ finished: Finished) -> [Substring] {
      finished.messages.split(separator: "\n").filter { $0.contains("has no ") }
    }
    #expect(try missing(run("doctor", "--job", "job.json")) == missing(sick))
    #expect(!missing(sick).isEmpty)
    let made = try run("service", "prepare", "job.json", "--audit-table")
    #expect(made.code == 0, "\(made.messages)")
    #expect(made.output == rehearsal.output.replacing("would be made", with: "made"))
    #expect(
      made.output == """
        100001\tMobile User Id\ttext\tmade
        100001\tMerged Recipient Id\ttext\tmade
        100001\tMerged Date\ttimestamp\tmade
        100001\tLast Location Address\ttext\tmade
        100001\tLast Location Address Time\tdate\tmade
        AuditRecord\tAudit Record Id\ttext, the key\tmade
        AuditRecord\tOld Recipient Id\ttext\tmade
        AuditRecord\tNew Recipient Id\ttext\tmade
        AuditRecord\tCreate Date\ttimestamp\tmade

        """)
    let words = made.messages.split(separator: " ")
    let place = try #require(words.firstIndex(of: "to"))
    let setting = "AuditRecord.auditRecordListId=\(words[place + 1])"
    let written = "AuditRecord.mergeHistoryInAuditRecordTable=true"
    #expect(made.messages.contains("set AuditRecord.mergeHistoryInAuditRecordTable to true"))
    let good = try run("doctor", "--job", "job.json", "--set", setting, "--set", written)
    #expect(good.code == 0, "\(good.messages)")
    let again = try run("service", "prepare", "job.json", "--set", setting, "--set", written)
    #expect(
      again.code == 0 && again.output.isEmpty && again.messages.contains("nothing is missing"), "\(again.messages)")
    // The name is taken, which the service says.
    let twice = try run("service", "prepare", "job.json", "--audit-table")
    #expect(twice.code == 78 && twice.messages.contains("table 'AuditRecord'"), "\(twice.messages)")
    let hint = "set AuditRecord.auditRecordListId to the id of the existing table with that name"
    #expect(twice.messages.contains(hint), "\(twice.messages)")
  }

  @Test("An audit table without a key is refused by the doctor, and nobody changes a table")
  func keyless() throws {
    let columns = ["Audit Record Id", "Old Recipient Id", "New Recipient Id", "Create Date"].map {
      OrganizationSeed.Column($0)
    }
    let workspace = try workspace(#""mergeHistoryInAuditRecordTable": true, "auditRecordListId": "50003""#)
    let service = try EmptyService(tables: [OrganizationSeed.Table(id: "50003", columns: columns, keyColumns: [])])
    #expect(try workspace.run("service", "prepare", "job.json", environment: service.environment).code == 78)
    let doctor = try workspace.run("doctor", "--job", "job.json", environment: service.environment)
    #expect(doctor.code == 78, "\(doctor.messages)")
    #expect(doctor.messages.contains("error: audit table: table 50003 has no key"), "\(doctor.messages)")
    let prepared = try workspace.run(
      "service", "prepare", "job.json", "--format", "json", environment: service.environment)
    #expect(prepared.code == 78)
    let report = try JSONNode.parse(Array(prepared.output.utf8))
    #expect(report["steps"]?.array?.isEmpty == true && report["problems"]?.array?.count == 1)
  }

  @Test("A game has nothing to prepare; a service that is away ends with 69")
  func others() throws {
    let workspace = try workspace()
    let game = try workspace.run("service", "prepare", "jobs/game.json", "--sandbox")
    #expect(game.code == 0 && game.messages.contains("deltaDNA"), "\(game.messages)")
    let service = try EmptyService()
    try service.server.stop()
    let away = try workspace.run("service", "prepare", "job.json", environment: service.environment)
    #expect(away.code == 69, "\(away.messages)")
  }
}
