import BatchFoundation
import FoundationEssentials
import TestSupport
import Testing

/// The steps that `deploy/` hands to Kubernetes and AWS Batch, night after night with folders for what they share: they are killed, repeated,
/// late and out of order, and the service has what one process sends, once; with `ENGAGE_TORTURE=full` two weeks of nights.
@Suite("Nights of schedulers") struct DeploymentNightsTests {
  private static let nights = ProcessInfo.processInfo.environment["ENGAGE_TORTURE"] == "full" ? 14 : 4
  private static let parts = 2

  private static func job(_ inputs: String, asOf: String) -> String {
    """
    {"name": "nightly", "asOf": "\(asOf)", "deepLinkRoutes": "routes.json", "store": "whole.sqlite", "inputs": {
      "events": ["\(inputs)/events"], "notifications": ["\(inputs)/notifications"], "deepLinks": ["\(inputs)/deepLinks"]}}
    """
  }

  /// The lines of each night, in their order.
  private static func deliveries(seed: UInt64) -> [[Recording.Line]] {
    let lines = Recording(seed: seed, devices: 10, perDevice: nights * 6).lines.sorted {
      $0.milliseconds < $1.milliseconds
    }
    return (0..<nights).map { night in
      Array(lines[lines.count * night / nights..<lines.count * (night + 1) / nights])
    }
  }

  /// No line of a later night is before it, so a night that comes with the next one is decided as it is alone.
  private static func asOf(_ lines: [Recording.Line]) -> String {
    Instant(milliseconds: lines.map(\.milliseconds).max() ?? Recording.start).rfc3339
  }

  /// A folder for everything, and what its pods come to.
  private final class Cluster {
    let workspace: Workspace
    let service: Service
    private let step: String
    private var random = SplitMix64(seed: 5)

    init(_ workspace: Workspace, step: String, jobs: String) throws {
      self.workspace = workspace
      for folder in ["", jobs] {
        try workspace.write("\(folder)routes.json", Checkout.text("configs/MobileDeepLinkingConfig.json"))
      }
      self.step = Checkout.url(step).path
      service = try Service()
    }

    func run(
      _ name: String, _ variables: [String: String], code: Int32 = 0, words: String = "", isKilled: Bool = false
    ) throws {
      let environment = variables.merging(service.environment) { $1 }
      // Each attempt has a disk of its own: what is killed may still be writing when the next one begins.
      let line = "PATH=\"$PWD/bin:$PATH\"; export PATH; WORK=$(mktemp -d \"$PWD/work.XXXXXX\"); export WORK"
      if isKilled {
        _ = try workspace.shell(
          "\(line); timeout -s KILL 0.\(random.below(10) + 3)0 sh '\(step)' \(name)", environment: environment)
      }
      let finished = try workspace.shell("\(line); sh '\(step)' \(name)", environment: environment)
      #expect(finished.code == code, "\(finished.messages)\n\(name) \(variables)")
      #expect(finished.messages.contains(words), "\(finished.messages)\n\(name) \(variables)")
    }
  }

  /// Writes the exports below a folder, and has one process decide and send them.
  private func write(_ lines: [Recording.Line], below folder: String, to workspace: Workspace) throws {
    for kind in Recording.Line.Kind.allCases { try workspace.write("\(folder)/\(kind.rawValue)/none.ndjson", "") }
    for file in Recording.files(lines, seed: 1, count: 2) { try workspace.write("\(folder)/\(file.name)", file.text) }
  }

  private func runWhole(_ lines: [Recording.Line], _ workspace: Workspace, _ service: Service) throws {
    try write(lines, below: "whole", to: workspace)
    try workspace.write("whole.json", Self.job("whole", asOf: Self.asOf(lines)))
    let run = try workspace.run("run", "whole.json", environment: service.environment)
    #expect(run.code == 0, "\(run.messages)")
  }

  private func prove(_ cluster: Cluster, is whole: Service) {
    let expected = whole.events
    #expect(expected.count > 40 * Self.nights)
    let differences = cluster.service.events.difference(from: expected)
    #expect(differences.isEmpty, "\(differences.prefix(5).map { "\($0)" })")
  }

  @Test("Nights of pods that are killed, repeated, late and missing send what one process sends")
  func kubernetes() throws {
    let workspace = try Workspace([])
    let cluster = try Cluster(workspace, step: "deploy/kubernetes/step", jobs: "")
    let whole = try Service()
    func variables(_ night: Int, _ index: Int = 0) -> [String: String] {
      [
        "JOB": "job.json", "NIGHTS": "nights", "PARTS": "\(Self.parts)", "STORE": "state/nightly.sqlite",
        "PATIENCE": "0", "NAME": "engage-batch-night-\(29_470_000 + night * 1440)",
        "JOB_COMPLETION_INDEX": "\(index)",
      ]
    }
    func decide(_ night: Int, _ index: Int, isKilled: Bool = false) throws {
      try cluster.run("decide", variables(night, index), isKilled: isKilled)
    }
    let nights = Self.deliveries(seed: 3)
    for (night, own) in nights.enumerated() {
      try runWhole(own, workspace, whole)
      // The exports of two nights are there each time.
      try write((night > 0 ? nights[night - 1] : []) + own, below: "in", to: workspace)
      try workspace.write("job.json", Self.job("in", asOf: Self.asOf(own)))
      let isLast = night == Self.nights - 1
      switch isLast ? 0 : night % 6 {
      case 1:
        // The pod of the first part makes the partition, and comes last.
        try cluster.run("decide", variables(night, 1), code: 75, words: "no partition within 0 seconds")
        try decide(night, 0)
        try decide(night, 1)
      case 2:
        // One pod never came, and the night holds up those after it until the next pod of its part.
        try decide(night, 0)
      case 3:
        for _ in 0..<2 { for index in 0..<Self.parts { try decide(night, index) } }
      case 4:
        // Nothing of it began, and what comes of it later finds its exports in the next night.
        continue
      default:
        for index in 0..<Self.parts { try decide(night, index, isKilled: true) }
      }
      if night > 0, (night - 1) % 6 == 4 {
        try cluster.run("decide", variables(night - 1), words: "never began")
      }
      try cluster.run("post", variables(night))
    }
    try cluster.run("post", variables(Self.nights))
    prove(cluster, is: whole)
    // Of all nights the last is left, which the next one continues.
    let left = try FileManager.default.contentsOfDirectory(atPath: "\(workspace.path)/nights")
    let last = String(1_000_029_470_000 + (Self.nights - 1) * 1440).dropFirst()
    #expect(left.filter { !$0.hasPrefix(".") } == [String(last)])
  }

  @Test("Nights of jobs that are killed, repeated, submitted again and out of order send what one process sends")
  func batch() throws {
    let workspace = try Workspace([])
    let cluster = try Cluster(workspace, step: "deploy/aws-batch/step", jobs: "s3/b/jobs/jobs/")
    let whole = try Service()
    try workspace.write("bin/aws", DeploymentTests.aws)
    #expect(try workspace.shell("chmod +x bin/aws").code == 0)
    func run(
      _ name: String, _ night: Int, _ index: Int = 0, code: Int32 = 0, words: String = "", isKilled: Bool = false
    ) throws {
      try cluster.run(
        name,
        [
          "JOBS": "s3://b/jobs", "EXPORTS": "s3://b/exports/\(night)",
          "NIGHT": "s3://b/\(night)", "BEFORE": night > 0 ? "s3://b/\(night - 1)" : "", "PARTS": "\(Self.parts)",
          "STORE": "\(workspace.path)/state/nightly.sqlite", "AWS_BATCH_JOB_ARRAY_INDEX": "\(index)", "PAUSE": "0",
        ], code: code, words: words, isKilled: isKilled)
    }
    for (night, own) in Self.deliveries(seed: 4).enumerated() {
      try runWhole(own, workspace, whole)
      try write(own, below: "s3/b/exports/\(night)", to: workspace)
      try workspace.write("s3/b/jobs/jobs/nightly.json", Self.job("../exports", asOf: Self.asOf(own)))
      let isKilled = night % 3 == 0
      try run("partition", night, isKilled: isKilled)
      for index in (0..<Self.parts).reversed() { try run("decide", night, index, isKilled: isKilled) }
      if night % 3 == 1, night < Self.nights - 1 {
        // What was to be collected failed, and the next night is decided and comes first.
        continue
      }
      if night % 3 == 2 {
        try run("collect", night, code: 78, words: "which was not collected here: collect it first")
        try run("collect", night - 1)
      }
      try run("collect", night, isKilled: isKilled)
      try run("post", night)
      if night % 3 == 2 {
        // Submitted again.
        try run("partition", night)
        for index in 0..<Self.parts { try run("decide", night, index) }
        try run("collect", night)
        try run("post", night)
      }
    }
    prove(cluster, is: whole)
  }

  // MARK: - Exports

  /// When the export of a night comes.
  private enum Coming: Equatable {
    /// Before the attempt with this number, from 1; there are five.
    case at(Int)
    /// Before the first, and once more among the lines of the next one.
    case twice
    /// With that of the next night.
    case nextNight
    case never
  }

  @Test(
    "Two weeks of cron, whose exports come late, twice, or not at all: what came is sent once, what did not is missed")
  func cron() throws {
    let coming: [Coming] = [
      .at(1), .at(3), .twice, .nextNight, .at(5), .twice, .never, .at(2), .nextNight, .at(1), .twice, .at(4), .never,
      .at(1),
    ]
    let workspace = try Workspace([])
    let (service, whole) = (try Service(), try Service())
    let line = try #require(
      Checkout.text("deploy/cron/engage-batch.cron").split(separator: "\n").first { $0.hasPrefix("15 ") })
    let command = String(try #require(line.split(separator: "  engage-batch  ").last))
      .replacing("/etc/engage-batch", with: workspace.path).replacing("/var/log/engage-batch", with: workspace.path)
      .replacing("/var/lib/engage-batch", with: "\(workspace.path)/state")
    // A pause is over when the exports that come meanwhile are there.
    try workspace.write(
      "bin/sleep",
      "#!/bin/sh\necho $1 >> pauses\nn=$(($(wc -l < pauses) + 1))\nmv coming/$n/* in/ 2> /dev/null || true\n")
    try workspace.write("in/other", "")
    #expect(try workspace.shell("chmod +x bin/sleep").code == 0)
    func job(_ day: Int, _ window: String) -> String {
      """
      {"name": "nightly", "asOf": "2026-01-\(day + 1)T02:15:00Z", \(window),
       "inputs": {"events": [{"path": "in/{yyyy}-{MM}-{dd}*", "required": true}]}}
      """
    }
    func export(_ day: Int) -> String {
      let night = day - 10
      return (night > 0 && coming[night - 1] == .twice ? records(day - 1) : "") + records(day)
    }
    func records(_ day: Int) -> String {
      (0..<3).flatMap { device in
        [("08:00", "launch"), ("08:05", "namedEvent"), ("08:10", "background")].map { time, type in
          #"{"deviceId":"d\#(device)","timestamp":"2026-01-\#(day)T\#(time):0\#(device)Z","type":"\#(type)","name":"n","mobileUserId":"m\#(device)"}"#
            + "\n"
        }
      }.joined()
    }
    var pauses: [Int] = []
    for (night, own) in coming.enumerated() {
      let day = night + 10
      if case .at(let attempt) = own, attempt > 1 {
        try workspace.write("coming/\(attempt)/2026-01-\(day)", export(day))
      } else if own == .at(1) || own == .twice {
        try workspace.write("in/2026-01-\(day)", export(day))
      }
      if night > 0, coming[night - 1] == .nextNight { try workspace.write("in/2026-01-\(day - 1)", export(day - 1)) }
      try workspace.write(
        "nightly.json", job(day, #""window": {"from": "yesterday", "to": "today", "catchUp": "P3D"}"#))
      try workspace.write("pauses", "")
      let run = try workspace.shell(
        "PATH=\"$PWD/bin:$PATH\"; export PATH; \(command)", environment: service.environment)
      #expect(run.code == 0, "\(day): \(run.messages)")
      pauses.append(try workspace.read("pauses").split(separator: "\n").count)
    }
    // An export of an earlier night that is still not there has no night wait.
    #expect(pauses == [0, 2, 0, 5, 4, 0, 5, 1, 5, 0, 0, 3, 5, 0])
    let history = try workspace.run("history", "--store", "state/nightly.sqlite", "--format", "json")
    let rows = try JSONNode.parse(Array(history.output.utf8)).array ?? []
    let read = rows.filter { $0["ending"]?.integer == 0 }.compactMap {
      $0["windowFrom"]?.string?.dropFirst(8).prefix(2)
    }
    #expect(read == ["10", "11", "12", "13", "14", "15", "17", "18", "19", "20", "21", "23"])
    let report = try workspace.run("report", "--store", "state/nightly.sqlite", "--format", "json")
    let last = try JSONNode.parse(Array(report.output.utf8))
    let missed = last["summary"]?["missed"]?.array?.map { $0["from"]?.string?.prefix(10) }
    #expect(last["summary"]?["night"]?.string == "done with findings" && missed == ["2026-01-22"])
    // One process reads what came, and sends the same.
    try workspace.write("whole.json", job(23, #""window": {"from": "2026-01-10", "to": "2026-01-24"}"#))
    let run = try workspace.run("run", "whole.json", "--allow-missing", environment: whole.environment)
    #expect(run.code == 0, "\(run.messages)")
    let differences = service.events.difference(from: whole.events)
    #expect(whole.events.count > 12 * 9 && differences.isEmpty, "\(differences.prefix(5).map { "\($0)" })")
  }
}
