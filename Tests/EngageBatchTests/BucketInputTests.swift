import BatchFoundation
import Foundation
import LoopbackServer
import TestSupport
import Testing

/// Inputs at addresses give what files give, and nothing of the credentials gets out.
@Suite("Inputs in buckets") struct BucketInputTests {
  private static let secret = "wJalrXUtn/FEMI+secret"
  private static let token = "session/token+word"
  private static let credentials = [
    "AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": secret, "AWS_SESSION_TOKEN": token,
    "AWS_REGION": "eu-west-1",
  ]

  private static func record(_ day: Int, _ second: Int) -> String {
    #"{"deviceId":"d\#(second % 3)","timestamp":"2026-01-\#(day)T00:00:\#(second)Z","type":"namedEvent","name":"N","mobileUserId":"u"}"#
  }

  private static func lines(_ day: Int) -> String {
    (10..<40).map { record(day, $0) }.joined(separator: "\n") + "\n"
  }

  private static func job(_ folder: String, endpoint: String) -> String {
    """
    {"name": "j", "settings": {"Storage": {"endpoint": "\(endpoint)"}, "Networking": {"retryDelay": "0 seconds"}},
      "inputs": {"events": [{"path": "\(folder)/{yyyy}-{MM}-{dd}/*.ndjson*", "required": true, "minRecords": 50}, "\(folder)/more"]},
      "window": {"from": "2026-01-14", "to": "2026-01-16"}, "asOf": "2026-02-01T00:00:00Z",
      "store": "var/j.sqlite", "reports": "var/reports"}
    """
  }

  private static let files = [
    "2026-01-14/a.ndjson": lines(14), "2026-01-15/b.ndjson": lines(15) + "nonsense\n", "2026-01-15/_tmp.ndjson": "{}\n",
    "more/deep/c.ndjson": lines(16), "more/.d": "{}\n",
  ]

  private func workspace(_ server: BucketServer) throws -> Workspace {
    let workspace = try Workspace([])
    for (name, text) in Self.files { try workspace.write("in/\(name)", text) }
    try workspace.write("files.json", Self.job("in", endpoint: server.endpoint))
    try workspace.write("bucket.json", Self.job("s3://exports/in", endpoint: server.endpoint))
    return workspace
  }

  private func server() throws -> BucketServer {
    try BucketServer(
      Dictionary(uniqueKeysWithValues: Self.files.map { ("in/\($0.key)", .init($0.value, tag: "\($0.key.count)")) }))
  }

  @Test("Events and figures are those of files; a second run reads nothing again; no output has a secret")
  func equalsFiles() throws {
    let server = try server()
    let workspace = try workspace(server)
    let expected = try workspace.run(
      "run", "files.json", "--dry-run", "--no-upload", "--events-out", "-", "--summary", "f.json")
    let found = try workspace.run(
      "run", "bucket.json", "--no-upload", "--events-out", "-", "--summary", "b.json", environment: Self.credentials)
    #expect(found.code == 0, "\(found.messages)")
    #expect(expected.lines.count > 60)
    #expect(found.output == expected.output)
    #expect(found.messages.contains("s3://exports/in/2026-01-15/_tmp.ndjson"))
    let (files, bucket) = (try Summary(workspace.read("f.json")), try Summary(workspace.read("b.json")))
    for key in ["records.read", "records.accepted", "records.quarantined", "records.outOfWindow"] {
      #expect(bucket[key] == files[key], "\(key)")
    }
    let listed = try workspace.run("quarantine", "list", "--store", "var/j.sqlite", "--format", "json")
    #expect(listed.output.contains("s3://exports/in/2026-01-15/b.ndjson"))
    let gets = server.arrivals.filter { $0.header("Range") != nil }.count
    // A first run looks at its inputs before it reads them.
    #expect(gets == 6)
    #expect(server.arrivals.allSatisfy { $0.header("Authorization")?.contains("/eu-west-1/s3/aws4_request") == true })
    let again = try workspace.run("run", "bucket.json", "--no-upload", environment: Self.credentials)
    #expect(again.code == 0, "\(again.messages)")
    // The file with a bad line is read again, as on a disk, and a second time for what is at the line's place now.
    #expect(server.arrivals.filter { $0.header("Range") != nil }.count == gets + 2)
    server.put("in/2026-01-14/a.ndjson", .init(Self.lines(14), tag: "other"))
    _ = try workspace.run("run", "bucket.json", "--no-upload", environment: Self.credentials)
    #expect(server.arrivals.filter { $0.header("Range") != nil }.count == gets + 5)
    let written = try found.output + found.messages + again.output + again.messages + workspace.everything()
    #expect(written.contains("s3://exports/in/2026-01-15/b.ndjson"))
    for word in [Self.secret, Self.token, "AKIDEXAMPLE"] { #expect(!written.contains(word)) }
  }

  /// It ended with a crash.
  @Test("A rerun reads the bucket again; names are those of the keys, and none is ignored in silence")
  func rerun() throws {
    let server = try BucketServer([
      "in/a.ndjson": .init(Self.lines(14), tag: "a"), "in/odd//b.ndjson": .init(Self.lines(15), tag: "b"),
      "in/../c.ndjson": .init(Self.lines(16), tag: "c"), "in/marker/": .init("", tag: "m"),
      "in/data/": .init(Self.lines(17), tag: "d"),
    ])
    let workspace = try Workspace([])
    try workspace.write(
      "job.json",
      #"{"name": "j", "settings": {"Storage": {"pathStyle": true}}, "inputs": {"events": ["s3://exports/in/**"]}, "asOf": "2026-02-01T00:00:00Z", "store": "j.sqlite"}"#
    )
    let environment = Self.credentials.merging(["AWS_ENDPOINT_URL": server.endpoint]) { $1 }
    let run = try workspace.run("run", "job.json", "--no-upload", "--summary", "s.json", environment: environment)
    #expect(run.code == 0, "\(run.messages)")
    #expect(try Summary(workspace.read("s.json"))["records.accepted"] == 90)
    #expect(run.messages.contains("skipped 's3://exports/in/../c.ndjson', whose name begins"))
    let rerun = try workspace.run(
      "rerun", "job.json", "--from", "2026-01-14", "--to", "2026-01-18", environment: environment)
    #expect(rerun.code == 0, "\(rerun.messages)")
  }

  @Test("Small objects are read ahead, in the order of their names; the first bad one is named, not one behind it")
  func ahead() throws {
    let workspace = try Workspace([])
    let server = try BucketServer([:])
    for number in 10..<40 {
      let text = Self.record(14 + number % 3, number) + "\n"
      try workspace.write("in/\(number).ndjson", text)
      server.put("in/\(number).ndjson", .init(text, tag: "\(number)"))
    }
    func run(_ path: String) throws -> Finished {
      try workspace.write(
        "job.json",
        #"{"name": "j", "settings": {"Storage": {"endpoint": "\#(server.endpoint)"}}, "inputs": {"events": ["\#(path)"]}, "asOf": "2026-02-01T00:00:00Z"}"#
      )
      return try workspace.run(
        "run", "job.json", "--dry-run", "--no-upload", "--events-out", "-", environment: Self.credentials)
    }
    let counts = Guarded((now: 0, most: 0, all: 0))
    server.interfere { request in
      guard request.range != nil else { return nil }
      counts.change {
        $0 = ($0.now + 1, max($0.most, $0.now + 1), $0.all + 1)
      }
      // The first nine wait for each other.
      _ = counts.wait(upTo: 10_000) { $0.all >= 9 ? true : nil }
      counts.change { $0.now -= 1 }
      return nil
    }
    let found = try run("s3://exports/in")
    #expect(found.code == 0, "\(found.messages)")
    #expect(try found.output == run("in").output)
    #expect(counts.withLock(\.most) == 9)
    let gets = server.arrivals.filter { $0.header("Range") != nil }
    #expect(gets.allSatisfy { $0.header("If-Match") != nil })
    server.interfere { request in
      if request.key == "in/15.ndjson" { usleep(300_000) }
      return ["in/15.ndjson", "in/17.ndjson"].contains(request.key) ? .status(403, code: "AccessDenied") : nil
    }
    let denied = try run("s3://exports/in")
    #expect(denied.code == 77)
    #expect(denied.messages.contains("s3://exports/in/15.ndjson: error: reading is denied"), "\(denied.messages)")
    #expect(!denied.messages.contains("17.ndjson"))
  }

  @Test("Gzip, maps of tables and single https files are read like files")
  func forms() throws {
    let server = try BucketServer([:])
    let workspace = try Workspace(["samples"])
    let zip = try workspace.shell(
      "gzip -nc samples/events/2026-01-15-ios.ndjson > in.ndjson.gz && cp samples/maps/events.csv in.csv")
    #expect(zip.code == 0, "\(zip.messages)")
    for name in ["in.ndjson.gz", "in.csv"] {
      server.put(
        "in/\(name)", .init([UInt8](try Data(contentsOf: URL(filePath: "\(workspace.path)/\(name)"))), tag: name))
    }
    func events(_ path: String, _ map: String) throws -> String {
      try workspace.write(
        "job.json",
        #"{"name": "j", "settings": {"Storage": {"endpoint": "\#(server.endpoint)"}}, "inputs": {"events": [{"path": "\#(path)"\#(map)}]}, "asOf": "2026-02-01T00:00:00Z"}"#
      )
      let found = try workspace.run(
        "run", "job.json", "--dry-run", "--no-upload", "--events-out", "-", environment: Self.credentials)
      #expect(found.code == 0, "\(found.messages)")
      #expect(!found.output.isEmpty)
      return found.output
    }
    for (name, map) in [("in.ndjson.gz", ""), ("in.csv", #", "map": "samples/maps/table.json""#)] {
      let expected = try events(name, map)
      #expect(try events("s3://exports/in/*\(name.dropFirst(2))", map) == expected)
      #expect(try events("\(server.endpoint)/exports/in/\(name)", map) == expected)
    }
  }

  @Test("A missing day, a denied bucket and a binary file end the run by name")
  func refusals() throws {
    let server = try server()
    let workspace = try workspace(server)
    server.put("in/2026-01-14/a.ndjson", nil)
    let missing = try workspace.run("run", "bucket.json", "--no-upload", environment: Self.credentials)
    #expect(missing.code == 66)
    #expect(
      missing.messages.contains("input 's3://exports/in/{yyyy}-{MM}-{dd}/*.ndjson*' matches nothing for 2026-01-14"))
    server.put("in/2026-01-14/a.ndjson", .init("PAR1....PAR1", tag: "p"))
    let binary = try workspace.run("run", "bucket.json", "--no-upload", environment: Self.credentials)
    #expect(binary.code == 66)
    #expect(binary.messages.contains("s3://exports/in/2026-01-14/a.ndjson: error: a Parquet file"))
    server.put("in/2026-01-14/a.ndjson", .init(Self.record(14, 10), tag: "one"))
    let short = try workspace.run("run", "bucket.json", "--no-upload", environment: Self.credentials)
    #expect(short.code == 66)
    #expect(short.messages.contains("has 31 usable records, but needs 50 (minRecords)"), "\(short.messages)")
    let report = try workspace.run("report", "bucket.json").output
    #expect(report.contains("Nothing was processed. Once the export is complete: "), "\(report)")
    try workspace.write(
      "database.json",
      workspace.read("bucket.json").replacing(
        "\"s3://exports/in/more\"", with: #"{"path": "s3://exports/gone.db", "map": "sdk-store"}"#))
    let database = try workspace.run("run", "database.json", "--no-upload", environment: Self.credentials)
    #expect(database.code == 66)
    #expect(
      database.messages.contains("s3://exports/gone.db: error: only files on disk can be read here"),
      "\(database.messages)")
    server.interfere { _ in .status(503, code: "SlowDown") }
    let slow = try workspace.run("run", "bucket.json", "--no-upload", environment: Self.credentials)
    #expect(slow.code == 69)
    let words = "s3://exports/in/2026-01-14/*.ndjson*: warning: the service answered 503 SlowDown; trying again\n"
    #expect(slow.messages.components(separatedBy: words).count == 2, "\(slow.messages)")
    server.interfere { _ in .status(403, code: "AccessDenied") }
    let denied = try workspace.run("run", "bucket.json", "--no-upload", environment: Self.credentials)
    #expect(denied.code == 77)
    #expect(denied.messages.contains("listing is denied (403 AccessDenied)"))
    #expect(!denied.messages.contains("secret words"))
    let none = try workspace.run("run", "bucket.json", "--no-upload", environment: ["HOME": workspace.path])
    #expect(none.code == 77)
    #expect(none.messages.contains("no usable credentials"))
  }
}
