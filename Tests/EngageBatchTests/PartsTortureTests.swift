import BatchFoundation
import FoundationEssentials
import LoopbackServer
import TestSupport
import Testing

/// Steps of a run in parts that are killed at any moment, and what a service sees of a run whose parts were decided apart.
@Suite("Kills of parts") struct PartsTortureTests {
  private static let variables = ProcessInfo.processInfo.environment
  private static let seeds: [UInt64] =
    variables["ENGAGE_TORTURE_SEED"].flatMap { UInt64($0) }.map { [$0] }
    ?? (variables["ENGAGE_TORTURE"] == "full" ? Array(1...40) : [1])
  private static let parts = 3

  /// A device of each export, which is forgotten.
  private static let devices: [PartsTests.Export: String] = [.engage: "D-5", .game: "d-5", .unity: "d-5"]

  /// The commands of a run in parts, one after the other.
  private static func steps(_ export: PartsTests.Export) -> [String] {
    ["partition job.json --parts \(parts) --out parts"]
      + (0..<parts).map { "decide job.json --partition parts --part \($0) --out r/\($0)" }
      + [
        "forget job.json --device \(devices[export] ?? "") --store all.sqlite --result r/0 --result r/1 --result r/2",
        "collect job.json r/0 r/1 r/2 --store all.sqlite",
      ]
  }

  private func outcome(_ workspace: Workspace) throws -> [String] {
    let left = try workspace.shell("ls -A . r parts").output
    return try PartsKilledCallsTests.content(of: "all.sqlite", in: workspace) + [
      left.split(separator: "\n").filter { !$0.hasPrefix(".engage-batch-") && !$0.hasPrefix("all.sqlite") }
        .joined(separator: " ")
    ]
  }

  @Test(
    "A step that was killed at any moment is repeated, and comes to the same",
    arguments: [PartsTests.Export.engage, .game, .unity], seeds)
  func killed(export: PartsTests.Export, seed: UInt64) throws {
    let undisturbed = try PartsTests.workspace(export)
    for step in Self.steps(export) {
      let run = try undisturbed.shell("engage-batch \(step)")
      #expect(run.code == 0, "\(step): \(run.messages)")
    }
    let expected = try outcome(undisturbed)
    #expect(!expected[0].contains("\"\(Self.devices[export] ?? "")\""))

    let workspace = try PartsTests.workspace(export)
    var random = SplitMix64(seed: seed)
    var kills = 0
    for step in Self.steps(export) {
      // Some end before their kill; the last attempt is left alone.
      for _ in 0..<3 {
        let milliseconds = 5 + random.below(200)
        let run = try workspace.shell(
          "timeout -s KILL 0.\(String(1000 + milliseconds).dropFirst()) engage-batch \(step)")
        if run.code == 0 { continue }
        #expect(run.code == 137, "ENGAGE_TORTURE_SEED=\(seed) \(step): \(run.messages)")
        kills += 1
      }
      let run = try workspace.shell("engage-batch \(step)")
      #expect(run.code == 0, "ENGAGE_TORTURE_SEED=\(seed) \(step): \(run.messages)")
    }
    #expect(kills > 0)
    #expect(try outcome(workspace) == expected, "ENGAGE_TORTURE_SEED=\(seed)")
  }

  /// A service that was written for this test, and counts.
  private final class CountingServer: Sendable {
    struct Count {
      var tokens = 0
      var submissions = 0
      var events = 0
      var now = 0
      var most = 0
    }

    private let count: Guarded<Count>
    private let server: LoopbackServer

    init() throws {
      let count = Guarded(Count())
      self.count = count
      server = try LoopbackServer { connection in
        while let (head, body) = connection.readRequest() {
          count.withLock { count in
            count.now += 1
            count.most = max(count.most, count.now)
            if head.contains(" /oauth/token ") { count.tokens += 1 }
            if head.contains("/rest/events/submission ") {
              count.submissions += 1
              count.events += String(decoding: body, as: UTF8.self).components(separatedBy: "eventTypeCode").count - 1
            }
          }
          connection.sleep(0.02)
          count.withLock { $0.now -= 1 }
          if head.contains(" /oauth/token ") {
            connection.answer(
              200, ["Content-Type: application/json"],
              #"{"access_token":"t","token_type":"bearer","refresh_token":"r","expires_in":14399}"#)
          } else if head.hasPrefix("GET") {
            connection.answer(200, ["Content-Type: application/json"], "[]")
          } else {
            connection.answer(201)
          }
        }
      }
    }

    var address: String { "http://127.0.0.1:\(server.port)" }
    var seen: Count { count.withLock { $0 } }
  }

  @Test("The service sees one token call and never more than ten requests at once, however many parts there were")
  func onePost() throws {
    let workspace = try PartsTests.workspace(.engage)
    try workspace.write(
      "job.json",
      IdenticalOutputTests.job.replacing(
        #""store":"#, with: #""settings": {"Upload": {"concurrency": 8, "maxEventsPerRequest": 5}}, "store":"#))
    for step in Self.steps(.engage) where !step.hasPrefix("forget") {
      let run = try workspace.shell("engage-batch \(step)")
      #expect(run.code == 0, "\(step): \(run.messages)")
    }
    let server = try CountingServer()
    let post = try workspace.run(
      ["post", "job.json", "--store", "all.sqlite", "--summary", "post.json"],
      environment: [
        "ENGAGE_BASE_URL": server.address, "ENGAGE_CLIENT_ID": "c", "ENGAGE_SECRET": "s", "ENGAGE_REFRESH_TOKEN": "r",
      ])
    #expect(post.code == 0, "\(post.messages)")
    let seen = server.seen
    #expect(seen.tokens == 1)
    #expect(seen.most > 1 && seen.most <= 10, "\(seen.most) at once")
    #expect(seen.submissions > 100)
    #expect(seen.events == (try Summary(workspace.read("post.json"))["upload.eventsPosted"]))
  }
}
