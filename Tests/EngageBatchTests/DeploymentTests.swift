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

  @Test("The Jobs of Kubernetes, one after the other, bring the sample job to the sandbox")
  func kubernetes() throws {
    let workspace = try Workspace()
    for (step, name) in ["1-partition", "2-decide", "3-collect", "4-post"].enumerated() {
      let text = try Checkout.text("deploy/kubernetes/\(name).yaml")
      let block = try #require(text.firstMatch(of: /args:[^\[]*\[([^\]]*)\]/)?.output.1)
      let words = block.split(whereSeparator: { ", \n\"".contains($0) }).map { word in
        String(word).replacing(/^\/jobs/, with: "jobs").replacing(/^\/(parts|state)/) { "var/\($0.output.1)" }
      }
      for index in 0..<(step == 1 ? 8 : 1) {
        let arguments = words.map { $0.replacing("$(JOB_COMPLETION_INDEX)", with: "\(index)") }
        let finished = try workspace.run(arguments + (step == 3 ? ["--sandbox"] : []))
        #expect(finished.code == 0, "\(arguments): \(finished.messages)")
      }
    }
    let status = try workspace.run("store", "status", "--store", "var/state/nightly.sqlite")
    #expect(status.output.contains("SUCCESSFULLY_POSTED"), "\(status.output)")
    #expect(!status.output.contains("NOT_POSTED"), "\(status.output)")
  }

  /// Spark as far as the script asks for it, in one process.
  private static let spark = """
    class Rows:
        def __init__(self, rows): self.rows = rows
        def map(self, function): return Rows([function(row) for row in self.rows])
        def collect(self): return self.rows
    class Context:
        def parallelize(self, rows, slices): return Rows(list(rows))
    class Session:
        sparkContext = Context()
        def stop(self): pass
    class Builder:
        def appName(self, name): return self
        def getOrCreate(self): return Session()
    class SparkSession:
        builder = Builder()

    """

  @Test(
    "The driver of Spark partitions, decides and collects two nights",
    .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/python3")))
  func spark() throws {
    let workspace = try Workspace()
    try workspace.write("standin/pyspark/__init__.py", "")
    try workspace.write("standin/pyspark/sql.py", Self.spark)
    let script = Checkout.url("deploy/spark/run_in_parts.py").path
    for folders in ["var/first", "var/second var/first"] {
      let run = try workspace.shell(
        "python3 '\(script)' jobs/backfill.json 3 \(folders)",
        environment: ["PYTHONPATH": "\(workspace.path)/standin", "PYTHONDONTWRITEBYTECODE": "1"])
      #expect(run.code == 0, "\(run.messages)")
    }
    let history = try workspace.run("history", "--store", "var/backfill.sqlite", "--format", "json")
    #expect(history.output.contains("\"collect\""), "\(history.output)")
    let post = try workspace.run("post", "jobs/backfill.json", "--store", "var/backfill.sqlite", "--sandbox")
    #expect(post.code == 0, "\(post.messages)")
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
