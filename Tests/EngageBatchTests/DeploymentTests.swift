import BatchFoundation
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
        String(try #require(line.firstMatch(of: /engage-batch (?:run|store purge) [^;]*?(?=;| 2>>)/)?.output))
          .replacing("/etc/engage-batch/nightly.json", with: "jobs/nightly.json")
          .replacing("/var/lib/engage-batch", with: "var/state")
      }
    try Self.runAndPurge(commands)
  }

  @Test(
    "A night of cron is tried again while its export, the service or the store is missing, and no other",
    arguments: [([66, 66, 0], 3), ([69, 75, 0], 3), ([78, 0], 1), ([0, 0], 1), ([66, 66, 66, 66, 66, 0], 5)])
  func cronTriesAgain(codes: [Int], attempts: Int) throws {
    let workspace = try Workspace([])
    let lines = try Checkout.text("deploy/cron/engage-batch.cron").split(separator: "\n")
    let line = try #require(lines.first { $0.hasPrefix("15 ") })
    let command = String(try #require(line.split(separator: "  engage-batch  ").last))
      .replacing("/var/log/engage-batch", with: workspace.path)
    let program = "echo \"$*\" >> calls; code=$(head -n 1 codes); sed -i 1d codes; exit $code"
    try workspace.write("bin/engage-batch", "#!/bin/sh\n\(program)\n")
    try workspace.write("bin/sleep", "#!/bin/sh\necho $1 >> pauses\n")
    try workspace.write("codes", codes.map { "\($0)\n" }.joined())
    let run = try workspace.shell("chmod +x bin/*; export PATH=\"$PWD/bin:$PATH\"; \(command)")
    #expect(run.code == 0, "\(run.messages)")
    #expect(try workspace.read("calls").split(separator: "\n").count == attempts)
    #expect(!lines.joined().contains("/etc/engage-batch/credentials"))
  }

  @Test("What the examples try again is the same everywhere, and an export that is late is tried for four hours")
  func retries() throws {
    let unit = "deploy/systemd/engage-batch@.service"
    for (key, value) in [
      ("RestartPreventExitStatus", "64 65 73 76 77 78"), ("Restart", "on-failure"), ("RestartSec", "15min"),
      ("StartLimitBurst", "20"), ("StartLimitIntervalSec", "6h"),
    ] { #expect(try Self.values(of: key, in: unit) == [value]) }
    #expect(try Self.values(of: "ConditionPathExists", in: unit) == [])
    for (name, limit) in [
      ("nightly", "backoffLimit: 40"), ("night", "backoffLimitPerIndex: 40"), ("post", "backoffLimit: 8"),
    ] {
      let text = try Checkout.text("deploy/kubernetes/\(name).yaml")
      #expect(text.contains("values: [64, 65, 73, 76, 77, 78]") && text.contains(limit), "\(name)")
    }
    let nightly = try Checkout.text("deploy/kubernetes/nightly.yaml")
    #expect(nightly.contains("--log-format, json, --metrics, /state/nightly.prom"))
    #expect(nightly.contains("ENGAGE_ALARM_URL"))
    // AWS Batch knows no pauses, and ten attempts at most.
    let names = ["1-partition", "2-decide", "3-collect", "4-post"]
    let strategies = try names.map { name in
      try JSONNode.parse(Array(Checkout.text("deploy/aws-batch/\(name).json").utf8))["retryStrategy"]
    }
    let final = strategies.map { $0?["evaluateOnExit"]?.array?.compactMap { $0["onExitCode"]?.string } }
    #expect(final[0] == ["64", "65", "77", "78"] && final[1] == ["64", "65", "66", "77", "78"])
    let wait = try #require(
      Checkout.text("deploy/aws-batch/step").firstMatch(of: /66-partition\) sleep "\$\{WAIT:-(\d+)\}"/)?.output.1)
    #expect((strategies[0]?["attempts"]?.integer ?? 0) * (Int64(wait) ?? 0) > 4 * 3600)
  }

  @Test(
    "systemd takes the units as they stand",
    .needs(.systemd), arguments: services)
  func verified(unit: String) throws {
    let workspace = try Workspace([])
    let name = String(try #require(unit.split(separator: "/").last)).replacing("@.", with: "@nightly.")
    try workspace.write(name, Checkout.text(unit).replacing("/usr/bin/engage-batch", with: "/bin/true"))
    let verified = try workspace.shell("systemd-analyze verify --man=no ./\(name)")
    #expect(verified.code == 0 && !verified.messages.contains(name), "\(verified.messages)")
  }

  @Test("The alerts for Prometheus name metrics that runs write")
  func alerts() throws {
    let workspace = try Workspace()
    #expect(try workspace.run("run", "jobs/nightly.json", "--sandbox", "--metrics", "m.prom").code == 0)
    let written = Set(try workspace.read("m.prom").matches(of: /engage_batch_[a-z_]+/).map { String($0.output) })
    let named = try Checkout.text("deploy/prometheus/engage-batch.rules.yaml").matches(of: /engage_batch_[a-z_]+/)
      .map { String($0.output) }
    #expect(named.count >= 5 && Set(named).isSubset(of: written), "\(Set(named).subtracting(written))")
  }

  @Test(
    "What systemd says the services leave open is below 2",
    .needs(.systemd), arguments: services)
  func exposure(unit: String) throws {
    let judged = try Workspace([]).shell("systemd-analyze security --offline=true '\(Checkout.url(unit).path)'")
    let overall = try #require(judged.lines.first { $0.contains("Overall exposure level") })
    let level = try #require(overall.split(separator: ": ").last?.split(separator: " ").first.flatMap { Double($0) })
    #expect(level < 2, "\(overall)")
  }

  @Test(
    "What the pods of Kubernetes call is in their image, and the step that the definitions mount is the one beside them"
  )
  func image() throws {
    let dockerfile = try Checkout.text("Dockerfile")
    #expect(dockerfile.contains("FROM debian:bookworm-slim") && dockerfile.contains("--from=build /installed/usr /usr"))
    for (name, step) in [("night", "decide"), ("post", "post")] {
      let text = try Checkout.text("deploy/kubernetes/\(name).yaml")
      #expect(text.contains("command: [/bin/sh, /step/step, \(step)]"))
      #expect(text.contains("configMap: { name: engage-batch-step }"))
      #expect(text.contains(#"{ name: PARTS, value: "8" }"#))
    }
    #expect(try Checkout.text("deploy/kubernetes/night.yaml").contains("completions: 8\n"))
    #expect(try Checkout.text("deploy/kubernetes/kustomization.yaml").contains("files: [step]"))
  }

  @Test("The CronJob of Kubernetes runs the sample job, and does not repeat what only a person can mend")
  func nightly() throws {
    let text = try Checkout.text("deploy/kubernetes/nightly.yaml")
    let block = try #require(text.firstMatch(of: /args:[^\[]*\[([^\]]*)\]/)?.output.1)
    let workspace = try Workspace()
    let arguments = block.split(whereSeparator: { ", \n\"".contains($0) }).map { word in
      String(word).replacing(/^\/jobs/, with: "jobs").replacing(/^\/state/, with: "var/state")
    }
    let finished = try workspace.run(arguments + ["--sandbox"])
    #expect(finished.code == 0, "\(finished.messages)")
    let unit = try #require(
      Self.values(of: "RestartPreventExitStatus", in: "deploy/systemd/engage-batch@.service").first)
    #expect(text.contains("values: [\(unit.replacing(" ", with: ", "))]"))
  }

  /// The files that `init` makes are their owner's alone, and the image has another user.
  @Test(
    "The commands at the head of the Dockerfile run as the owner of the files, one after the other; so does Compose")
  func container() throws {
    let workspace = try Workspace([])
    let commands = try Checkout.text("Dockerfile").split(separator: "\n").filter { $0.hasPrefix("# docker run ") }
    #expect(commands.count == 2)
    for (command, folder) in zip(commands, [".", "nightly"]) {
      let parts = command.split(separator: " engage-batch ", maxSplits: 1)
      #expect(parts[0].hasPrefix(#"# docker run --rm --user "$(id -u):$(id -g)" -v "$PWD"#))
      let finished = try workspace.shell("cd \(folder) && engage-batch \(parts[1])")
      #expect(finished.code == 0, "\(command): \(finished.messages)")
    }
    let compose = try Checkout.text("deploy/compose.yaml")
    #expect(compose.contains("user: \"${OWNER:?") && compose.contains("command: [run, /work/job.json, --sandbox, "))
    #expect(workspace.exists("nightly/job.json"))
  }

  /// `aws s3 cp` between folders, as far as the steps ask for it; what else is asked is noted and answered with an id.
  static let aws = """
    #!/bin/sh
    if [ "$1" = batch ]; then
      echo "$*" >> asked
      echo "id-$(wc -l < asked)"
      exit
    fi
    if [ "$2" = ls ]; then
      [ -e "$(echo "$3" | sed "s|^s3://|$PWD/s3/|")" ]
      exit
    fi
    shift 2
    all= exclude=
    while :; do
      case $1 in
      --only-show-errors) shift ;;
      --recursive) all=1; shift ;;
      --exclude) exclude=$2; shift 2 ;;
      *) break ;;
      esac
    done
    from=$(echo "$1" | sed "s|^s3://|$PWD/s3/|") to=$(echo "$2" | sed "s|^s3://|$PWD/s3/|")
    if [ "$all" ]; then
      mkdir -p "$to"
      (cd "$from" && tar cf - --exclude="$exclude" .) | tar xf - -C "$to"
    else
      mkdir -p "$(dirname "$to")"
      cp "$from" "$to.$$" && mv "$to.$$" "$to"
    fi
    """

  @Test("The steps of AWS Batch bring two nights from a bucket into a store, and copy what makes a folder whole last")
  func batchSteps() throws {
    let workspace = try Workspace()
    try workspace.write("bin/aws", Self.aws)
    try workspace.write(
      "s3/b/jobs/jobs/nightly.json",
      try workspace.read("jobs/nightly.json").replacing(/"\.\.\/samples\/(events|notifications|deep-links)/) {
        "\"../exports/\($0.output.1)"
      })
    let step = Checkout.url("deploy/aws-batch/step").path
    let prepared = try workspace.shell(
      "chmod +x bin/aws && cp -r configs samples s3/b/jobs/ && mkdir s3/b/exports && cp -r samples s3/b/exports/1 && cp -r samples s3/b/exports/2"
    )
    #expect(prepared.code == 0, "\(prepared.messages)")
    func run(_ name: String, night: Int, index: Int = 0, code: Int32 = 0) throws {
      let finished = try workspace.shell(
        "export PATH=\"$PWD/bin:$PATH\"; rm -rf work; mkdir work; '\(step)' \(name)",
        environment: [
          "WORK": "\(workspace.path)/work", "JOBS": "s3://b/jobs", "EXPORTS": "s3://b/exports/\(night)",
          "NIGHT": "s3://b/\(night)", "BEFORE": night > 1 ? "s3://b/\(night - 1)" : "", "PARTS": "3",
          "STORE": "\(workspace.path)/state/nightly.sqlite", "AWS_BATCH_JOB_ARRAY_INDEX": "\(index)", "PAUSE": "0",
          "WAIT": "0",
        ])
      #expect(finished.code == code, "\(name) \(night) \(index): \(finished.messages)")
    }
    for night in 1...2 {
      try run("partition", night: night)
      for index in [2, 0, 1] { try run("decide", night: night, index: index) }
      try run("collect", night: night)
    }
    // An export that has not come.
    #expect(try workspace.shell("mkdir s3/b/exports/3").code == 0)
    try run("partition", night: 3, code: 66)
    try run("decide", night: 2, index: 3, code: 75)
    // What a copy lacks is seen, and mended by another attempt.
    try workspace.write("s3/b/2/results/1/store.sqlite", "cut")
    try run("collect", night: 2, code: 74)
    try run("decide", night: 2, index: 1)
    try run("collect", night: 2)
    // A night that is submitted again keeps its partition, so nothing of it comes twice.
    for name in ["partition", "decide", "collect"] { try run(name, night: 2) }
    let status = try workspace.run("history", "--store", "state/nightly.sqlite", "--format", "json")
    #expect(status.output.contains("\"collect\""), "\(status.output)")
    let post = try workspace.run("post", "jobs/nightly.json", "--store", "state/nightly.sqlite", "--sandbox")
    #expect(post.code == 0, "\(post.messages)")
  }

  @Test("A night is submitted as a chain, in which a part waits for the same part of the night before")
  func batchSubmission() throws {
    let workspace = try Workspace([])
    try workspace.write("bin/aws", Self.aws)
    let submitted = try workspace.shell(
      """
      chmod +x bin/aws; PATH="$PWD/bin:$PATH"; submit='\(Checkout.url("deploy/aws-batch/submit").path)'
      "$submit" 2026-01-14 > last; "$submit" 2026-01-15 $(cat last) > next; mv next last; "$submit" 2026-01-15 $(cat last)
      """)
    #expect(submitted.code == 0, "\(submitted.messages)")
    #expect(submitted.output == "2026-01-15 id-5 id-6 id-8\n")
    let asked = try workspace.read("asked").split(separator: "\n").map(String.init)
    #expect(asked.count == 8)
    for (line, step) in zip(asked[4...], ["partition", "decide", "collect", "post"]) {
      #expect(line.contains("--job-definition engage-batch-\(step) "))
      #expect(
        line.contains(
          "{name=NIGHT,value=s3://example-engage-batch/2026-01-15},{name=BEFORE,value=s3://example-engage-batch/2026-01-14}"
        ))
    }
    let dependencies = asked.map { $0.firstMatch(of: /--depends-on (.*)/).map { String($0.output.1) } ?? "" }
    #expect(
      dependencies == [
        "", "jobId=id-1", "jobId=id-2", "jobId=id-3", "jobId=id-1", "jobId=id-5 jobId=id-2,type=N_TO_N",
        "jobId=id-6 jobId=id-4",
        "jobId=id-7",
      ])
    #expect(asked[1].contains("--array-properties size=8"))
  }

  /// Spark as far as the script asks for it, in one process.
  private static let spark = """
    class Rows:
        def __init__(self, rows): self.rows = rows
        def map(self, function): return Rows([function(row) for row in self.rows])
        def collect(self): return self.rows
    class SparkContext:
        def __init__(self, appName): pass
        def parallelize(self, rows, slices): return Rows(list(rows))
        def stop(self): pass

    """

  @Test(
    "The driver of Spark partitions, decides and collects two nights",
    .needs(.python3))
  func spark() throws {
    let workspace = try Workspace()
    try workspace.write("standin/pyspark.py", Self.spark)
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
    #expect(purge.messages == "0 posted events were deleted; 37 events of that age were not posted and are kept\n")
  }

  private static func values(of key: String, in unit: String) throws -> [String] {
    try Checkout.text(unit).split(separator: "\n").filter { $0.hasPrefix("\(key)=") }
      .map { String($0.dropFirst(key.utf8.count + 1)) }
  }
}
