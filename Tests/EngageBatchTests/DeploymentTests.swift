import FoundationEssentials
import TestSupport
import Testing

/// What `deploy/` hands to schedulers works as it stands there.
@Suite("Files of schedulers") struct DeploymentTests {
  static let services: [String] = [
    "deploy/systemd/engage-batch@.service", "deploy/systemd/engage-batch-purge@.service",
  ]

  @Test("The commands of the units run and purge one job")
  func units() throws {
    let commands = try Self.services.map { unit in
      try #require(Self.values(of: "ExecStart", in: unit).first)
        .replacing("/usr/bin/engage-batch", with: "engage-batch")
        .replacing("/etc/engage-batch/%i.json", with: "jobs/nightly.json")
        .replacing("%S/engage-batch", with: "var/state").replacing("%i", with: "nightly")
    }
    try Self.runAndPurge(commands)
  }

  @Test("The commands of cron run and purge the same job")
  func cron() throws {
    let commands = try Checkout.text("deploy/cron/engage-batch.cron").split(separator: "\n")
      .filter { $0.first?.isNumber == true }
      .map { line in
        String(try #require(line.split(separator: "  engage-batch  ").last?.split(separator: " 2>>").first))
          .replacing("/etc/engage-batch/nightly.json", with: "jobs/nightly.json")
          .replacing("/var/lib/engage-batch", with: "var/state")
      }
    try Self.runAndPurge(commands)
  }

  @Test(
    "What systemd says the services leave open is below 2",
    .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/systemd-analyze")), arguments: services)
  func exposure(unit: String) throws {
    let judged = try Workspace([]).shell("systemd-analyze security --offline=true '\(Checkout.url(unit).path)'")
    let overall = try #require(judged.lines.first { $0.contains("Overall exposure level") })
    let level = try #require(overall.split(separator: ": ").last?.split(separator: " ").first.flatMap { Double($0) })
    #expect(level < 2, "\(overall)")
  }

  @Test("Both services are the same user's, and write to the same folder")
  func sameUser() throws {
    for key in ["DynamicUser", "User", "StateDirectory", "StateDirectoryMode", "UMask"] {
      let values = try Self.services.map { try Self.values(of: key, in: $0) }
      #expect(values[0].count == 1 && values[0] == values[1], "\(key)")
    }
  }

  /// The first command keeps what the second finds nothing old in.
  private static func runAndPurge(_ commands: [String]) throws {
    let workspace = try Workspace()
    try #require(commands.count == 2)
    let run = try workspace.shell(commands[0] + " --no-upload")
    #expect(run.code == 0, "\(commands[0]): \(run.messages)")
    #expect(workspace.exists("var/state/nightly.sqlite") && workspace.exists("var/state/reports"))
    let purge = try workspace.shell(commands[1])
    #expect(purge.code == 0, "\(commands[1]): \(purge.messages)")
    #expect(purge.messages == "0 posted events were deleted; 37 as old were not posted and stay\n")
  }

  private static func values(of key: String, in unit: String) throws -> [String] {
    try Checkout.text(unit).split(separator: "\n").filter { $0.hasPrefix("\(key)=") }
      .map { String($0.dropFirst(key.utf8.count + 1)) }
  }
}
