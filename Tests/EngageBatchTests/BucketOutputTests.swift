import BatchFoundation
import FoundationEssentials
import Glibc
import LoopbackServer
import TestSupport
import Testing

/// Outputs at addresses are those of files, complete or absent, and a bucket keeps a store between containers.
@Suite("Outputs in buckets") struct BucketOutputTests {
  private static let credentials = [
    "AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": "wJalrXUtn/FEMI+secret",
  ]

  private static func lines(_ count: Int) -> String {
    (0..<count).map {
      #"{"deviceId":"d\#($0 % 50)","timestamp":"2026-01-14T\#(10 + $0 / 3600):\#(10 + $0 / 60 % 60 % 50):\#(10 + $0 % 50)Z","type":"namedEvent","name":"N\#($0)","mobileUserId":"u","params":{"word":"\#(String(repeating: "x", count: 200))"}}"#
    }.joined(separator: "\n") + "\n"
  }

  /// A job whose inputs are a file in the bucket.
  private func workspace(_ server: BucketServer, reports: String = "s3://exports/reports") throws -> Workspace {
    let workspace = try Workspace([])
    workspace.environment.merge(Self.credentials) { $1 }
    try workspace.write(
      "j.json",
      """
      {"name": "j", "settings": {"Storage": {"endpoint": "\(server.endpoint)"}, "Networking": {"retryDelay": "0 seconds"}},
        "inputs": {"events": ["s3://exports/in/*.ndjson"]}, "asOf": "2026-02-01T00:00:00Z",
        "store": "var/j.sqlite", "reports": "\(reports)"}
      """)
    return workspace
  }

  private func text(_ server: BucketServer, _ key: String) -> String {
    String(decoding: server.object(key)?.bytes ?? [], as: UTF8.self)
  }

  @Test("Events, findings, figures and the report are those of files")
  func equalsFiles() throws {
    let server = try BucketServer(["in/a.ndjson": .init(Self.lines(300) + "nonsense\n", tag: "a")])
    let workspace = try workspace(server)
    let files = try workspace.run(
      "run", "j.json", "--no-upload", "--store", "f.sqlite", "--report", "reports", "--events-out", "events",
      "--metrics",
      "metrics", "--junit", "junit")
    #expect(files.code == 0, "\(files.messages)")
    let objects = try workspace.run(
      "run", "j.json", "--no-upload", "--events-out", "s3://exports/out/events", "--summary",
      "s3://exports/out/figures",
      "--metrics", "s3://exports/out/metrics", "--junit", "s3://exports/out/junit", "--otlp", "s3://exports/out/otlp",
      "--findings-out", "s3://exports/out/findings")
    #expect(objects.code == 0, "\(objects.messages)")
    #expect(try workspace.read("events").utf8.count > 90_000)
    #expect(try text(server, "out/events") == workspace.read("events"))
    #expect(try Summary(text(server, "out/figures"))["records.quarantined"] == 1)
    #expect(text(server, "out/metrics").contains(#"engage_batch_run_exit_code{job="j"} 0"#))
    #expect(text(server, "out/otlp").hasPrefix("{"))
    #expect(text(server, "out/junit").hasPrefix("<?xml"))
    #expect(server.object("out/findings") != nil)
    let names = server.keys.filter { $0.hasPrefix("reports/") }
    #expect(names.map { String($0.split(separator: "/")[2]) } == ["report.html", "report.json", "summary.json"])
    #expect(objects.messages.contains("s3://exports/\(names[0])"))
    #expect(try Summary(text(server, names[2]))["records.read"] == 301)
    let page = server.arrivals.first { $0.requestLine.contains("report.html") }
    #expect(page?.header("Content-Type") == "text/html; charset=utf-8")
    #expect(!workspace.exists("s3:") && !workspace.exists("var/reports"))
    // The time of the last success is read from the metrics before they are replaced.
    let success = text(server, "out/metrics").split(separator: "\n").filter {
      $0.contains("last_success") && !$0.hasPrefix("#")
    }
    #expect(success.count == 1)
    server.put("in/a.ndjson", nil)
    #expect(try workspace.run("run", "j.json", "--no-upload", "--metrics", "s3://exports/out/metrics").code == 66)
    #expect(success.allSatisfy { text(server, "out/metrics").contains($0) })
    #expect(text(server, "out/metrics").contains(#"engage_batch_run_exit_code{job="j"} 66"#))
    for word in Self.credentials.values { #expect(!(try workspace.everything()).contains(word)) }
  }

  @Test("An output that cannot be written ends the run with 73; the events stay in the store")
  func refused() throws {
    let server = try BucketServer(["in/a.ndjson": .init(Self.lines(300), tag: "a")])
    let workspace = try workspace(server, reports: "var/reports")
    server.interfere { $0.key.hasPrefix("out/") ? .status(403, code: "AccessDenied") : nil }
    let denied = try workspace.run("run", "j.json", "--no-upload", "--events-out", "s3://exports/out/events")
    #expect(denied.code == 73)
    #expect(
      denied.messages.contains(
        "s3://exports/out/events: error: writing is denied (403 AccessDenied); allow s3:PutObject and s3:AbortMultipartUpload"
      ))
    #expect(
      try Summary(workspace.run("run", "j.json", "--no-upload", "--summary", "-").output)["store.NOT_POSTED"] > 300)
    for (output, words) in [
      ("s3://exports/in/new.ndjson", "is an input ('s3://exports/in/*.ndjson')"),
      ("s3://exports/out/", "does not name one object"),
      ("https://example.org/a", "only s3:// addresses can be written to"),
    ] {
      let found = try workspace.run("run", "j.json", "--no-upload", "--events-out", output)
      #expect(found.code == (output.contains("/in/") ? 64 : 78))
      #expect(found.messages.contains(words), "\(found.messages)")
    }
    let same = try workspace.run(
      "run", "j.json", "--no-upload", "--events-out", "s3://exports/a", "--summary", "s3://exports/a")
    #expect(same.code == 64)
    let person = try workspace.run("person", "export", "d1", "--job", "j.json", "--out", "s3://exports/out/d1")
    #expect(person.messages.contains("s3://exports/out/d1: error: this output must be a local path, not an address"))
  }

  @Test("A signal in the middle of an upload aborts it", arguments: [SIGTERM, SIGINT])
  func signals(signal: Int32) throws {
    let server = try BucketServer([
      "in/a.ndjson": .init(Self.lines(30_000), tag: "a"), "out/events": .init("old", tag: "o"),
    ])
    let workspace = try workspace(server, reports: "var/reports")
    let isSignalled = Guarded(false)
    server.interfere { request in
      guard request.value("partNumber") == "1" else { return nil }
      // The part is refused until the signal has arrived.
      return isSignalled.withLock { $0 } ? nil : .status(503, code: "SlowDown")
    }
    let running = try workspace.start(["run", "j.json", "--no-upload", "--events-out", "s3://exports/out/events"])
    while server.uploads == 0 { usleep(10_000) }
    running.signal(signal)
    usleep(200_000)
    isSignalled.withLock { $0 = true }
    let found = running.finish()
    #expect(found.code == 128 + signal, "\(found.messages)")
    #expect(server.uploads == 0)
    #expect(text(server, "out/events") == "old")
    // What the store has by now is no event of another run.
    let again = try workspace.run(
      "run", "j.json", "--no-upload", "--store", "other.sqlite", "--events-out", "s3://exports/out/events")
    #expect(again.code == 0)
    #expect(text(server, "out/events").utf8.count > 8 << 20)
    #expect(text(server, "out/events").split(separator: "\n").count >= 30_000)
  }

  @Test("A store goes from container to container; of two that end at once, one changes nothing and says so")
  func lock() throws {
    let server = try BucketServer(["in/a.ndjson": .init(Self.lines(300), tag: "a")])
    let workspace = try workspace(server)
    let address = "s3://exports/stores/j.sqlite"
    #expect(try workspace.run("run", "j.json", "--no-upload").code == 0)
    let first = try workspace.run("store", "backup", "--job", "j.json", address)
    #expect(
      first.code == 0 && first.messages.hasPrefix("\(address): an intact copy of the store, "), "\(first.messages)")
    #expect(try workspace.run("store", "backup", "--job", "j.json", address).code == 0)
    for name in ["one", "two"] {
      let restored = try workspace.shell(
        "mkdir \(name) && sed 's#\"var#\"\(name)/var#' j.json > \(name).json && engage-batch store restore --job \(name).json \(address)"
      )
      #expect(restored.code == 0, "\(restored.messages)")
    }
    let status = try workspace.run("store", "status", "--job", "one.json", "--format", "json").output
    #expect(try status == workspace.run("store", "status", "--job", "j.json", "--format", "json").output)
    server.put("in/b.ndjson", .init(Self.lines(600), tag: "b"))
    let both = try workspace.shell(
      """
      for name in one two; do
        (engage-batch run $name.json --no-upload --quiet && engage-batch store backup --job $name.json \(address)
         echo $? > $name.code) 2> $name.messages &
      done
      wait
      """)
    #expect(both.code == 0)
    let codes = try ["one", "two"].map { try workspace.read("\($0).code") }
    #expect(codes.sorted() == ["0\n", "75\n"])
    let loser = codes[0] == "0\n" ? "two" : "one"
    #expect(
      try workspace.read("\(loser).messages")
        == "\(address): error: the object is not the last copy that this store wrote or was restored from; it was left unchanged. To continue from it, use 'store restore' with another path for the store\n"
    )
    let third = try workspace.shell(
      "sed 's#\"var#\"three/var#' j.json > three.json && engage-batch store restore --job three.json \(address)")
    #expect(third.code == 0)
    let night = try workspace.run("run", "three.json", "--no-upload", "--summary", "-")
    #expect(try Summary(night.output)["records.accepted"] == 0)
    #expect(try Summary(night.output)["records.duplicates"] == 900)
    // The loser's store is as it was, and another backup of it fails again.
    #expect(try workspace.run("store", "check", "--job", "\(loser).json").code == 0)
    #expect(try workspace.run("store", "backup", "--job", "\(loser).json", address).code == 75)
    // A store that was not restored from the object does not replace it.
    #expect(try workspace.shell("rm var/j.sqlite.copy").code == 0)
    #expect(try workspace.run("store", "backup", "--job", "j.json", address).code == 75)
    #expect(try workspace.run("store", "restore", "--job", "j.json", address).code == 73)
    let missing = try workspace.run("store", "restore", "--store", "none/j.sqlite", "--job", "j.json", address + "x")
    #expect(missing.code == 64)
    let none = try workspace.shell(
      "sed 's#\"var#\"four/var#' j.json > four.json && engage-batch store restore --job four.json \(address)x")
    #expect(none.code == 66 && none.messages.contains("\(address)x"), "\(none.messages)")
    server.put("stores/j.sqlite", .init("no store at all", tag: "n"))
    #expect(try workspace.run("store", "restore", "--job", "four.json", address).code == 78)
    #expect(!workspace.exists("four/var/j.sqlite"))
    #expect(
      !(try FileManager.default.subpathsOfDirectory(atPath: workspace.path)).contains { $0.contains(".engage-batch") })
  }

  @Test("A store is no object, and says what is")
  func stores() throws {
    let server = try BucketServer(["in/a.ndjson": .init(Self.lines(3), tag: "a")])
    let workspace = try workspace(server)
    let words =
      "s3://exports/j.sqlite: error: a store is a local file; 'store backup' and 'store restore' copy it to and from a bucket"
    for command in [
      ["run", "j.json", "--no-upload", "--store"], ["store", "status", "--store"], ["report", "--store"],
    ] {
      let found = try workspace.run(command + ["s3://exports/j.sqlite"])
      #expect(found.code == 78, "\(command)")
      #expect(found.messages.contains(words), "\(found.messages)")
    }
    try workspace.write("k.json", workspace.read("j.json").replacing("var/j.sqlite", with: "s3://exports/j.sqlite"))
    let named = try workspace.run("run", "k.json", "--no-upload")
    #expect(named.code == 78)
    #expect(
      named.messages.contains(
        "'store' is an address, but must be a local path; 'store backup' copies a store to a bucket"),
      "\(named.messages)")
    let again = try workspace.run("report", "j.json", "--report", "s3://exports/reports")
    #expect(again.code == 64 && again.messages.contains("--report must be a local folder"))
    let parts = try workspace.run("partition", "j.json", "--parts", "2", "--out", "s3://exports/parts")
    #expect(parts.code == 73)
    #expect(
      parts.messages.contains("s3://exports/parts: error: this output must be a local path, not an address"),
      "\(parts.messages)")
    #expect(!workspace.exists("s3:"))
    #expect(server.arrivals.allSatisfy { !$0.requestLine.contains("j.sqlite") })
  }
}
