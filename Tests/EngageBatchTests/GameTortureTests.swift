import BatchFoundation
import BatchStore
import FoundationEssentials
import Glibc
import TestSupport
import Testing

/// Runs of a game that are killed again and again against a faulty Collect; with `ENGAGE_TORTURE=full` more of them.
@Suite("Kills and faults of games", .serialized) struct GameTortureTests {
  private static let variables = ProcessInfo.processInfo.environment
  private static let isFull = variables["ENGAGE_TORTURE"] == "full"

  private static let seed: UInt64 =
    variables["ENGAGE_TORTURE_SEED"].flatMap { UInt64($0) } ?? (isFull ? UInt64.random(in: 1...999_999_999) : 9)

  private static func job(
    _ service: CollectServer, of destination: String = "deltadna", engage: String? = nil,
    store: String = "store.sqlite"
  ) -> String {
    """
    {"name": "torture", "destination": "\(destination)", "inputs": {"events": ["in/*"]}, "asOf": "2026-01-18T00:00:00Z",
     "store": "\(store)", "settings": {
      "Unity": {"collectUrl": "\(service.address)", "projectId": "P", "environment": "production"},
      "DeltaDNA": {"collectURL": "\(service.address)", "environmentKey": "KEY",
       \(engage.map { "\"engageURL\": \"\($0)\"," } ?? "")
       "maxEventsPerRequest": 10, "httpRequestRetryDelaySeconds": 0}}}
    """
  }

  /// Every point at which a run can be killed, and, as "", kills at any time; in an order of their own.
  private static func points(_ random: inout SplitMix64) -> [String] {
    var points = CrashPoint.allCases.flatMap { point in
      (isFull ? [1, 2, 4] : [1]).map { "\(point.rawValue):\($0)" }
    }
    points += Array(repeating: "", count: isFull ? 30 : 4)
    for index in points.indices.reversed() { points.swapAt(index, random.below(index + 1)) }
    return points
  }

  /// A run that is killed at the point, if it gets there.
  private static func killed(
    at point: String, _ arguments: [String], in workspace: Workspace, _ random: inout SplitMix64
  ) throws -> Finished {
    guard point.isEmpty else { return try workspace.run(arguments, environment: ["ENGAGE_CRASH_AT": point]) }
    let running = try workspace.start(arguments)
    usleep(UInt32(random.below(150_000)))
    running.signal(SIGKILL)
    return running.finish()
  }

  private static func part(_ number: Int, _ count: Int, _ random: inout SplitMix64) -> String {
    var text = ""
    for event in 0..<count {
      let time = 1_768_435_200_000 + Int64(event) * 20_000 + Int64(random.below(20_000))
      text += "{\"deviceId\":\"d-\(number)-\(random.below(5))\",\"timestamp\":\(time),\"type\":\"gameEvent\","
      text += "\"name\":\"e\",\"params\":{\"number\":\(event)}}\n"
    }
    return text
  }

  @Test(
    "Every event arrives, and none with other bytes or another eventUUID than an undisturbed run gives it",
    arguments: ["deltadna", "unity"])
  func everythingArrives(destination: String) throws {
    print("Torture of a game: ENGAGE_TORTURE_SEED=\(Self.seed)")
    var random = SplitMix64(seed: Self.seed)
    let workspace = try Workspace([])
    let service = try CollectServer(seed: Self.seed, trouble: 15)
    try workspace.write("job.json", Self.job(service, of: destination))
    let points = Self.points(&random)
    var kills = 0
    for (number, point) in points.enumerated() {
      try workspace.write("in/\(number).ndjson", Self.part(number, 60, &random))
      let finished = try Self.killed(at: point, ["run", "job.json"], in: workspace, &random)
      if finished.code == 128 + SIGKILL {
        kills += 1
      } else {
        #expect([0, 69].contains(finished.code), "\(finished.messages)")
      }
    }
    var last: Finished?
    for _ in 0..<40 {
      last = try workspace.run("run", "job.json")
      if last?.code == 0 { break }
    }
    #expect(last?.code == 0, "\(last?.messages ?? "")")
    #expect(kills > CrashPoint.allCases.count / 2)
    #expect(service.faults > 0)
    #expect(service.violations == [])
    let expected = try workspace.run("run", "job.json", "--dry-run", "--store", "none.sqlite", "--events-out", "-")
    #expect(expected.lines.count > points.count * 60)
    #expect(service.events.sortedByBytes == expected.lines.sortedByBytes)
    #expect(try workspace.run("post", "job.json").code == 0)
    #expect(service.events.count == expected.lines.count)
  }

  @Test(
    "Every question is settled and told, none is asked twice, and those that Engage sees are those of an undisturbed run"
  )
  func everyQuestionIsSettledOnce() throws {
    var random = SplitMix64(seed: Self.seed)
    let workspace = try Workspace([])
    let collect = try CollectServer(seed: Self.seed, trouble: 5)
    let engage = try DecisionServer(seed: Self.seed, trouble: 30)
    try workspace.write("job.json", Self.job(collect, engage: engage.address))
    var told: [String: Set<String>] = [:]
    var kills = 0
    func run(_ point: String?) throws -> Finished {
      let arguments = ["run", "job.json", "--decisions-out", "decisions.ndjson"]
      try workspace.write("decisions.ndjson", "")
      let finished =
        try point.map { try Self.killed(at: $0, arguments, in: workspace, &random) } ?? workspace.run(arguments)
      // A run that was killed late has told already, and the next one tells again.
      for line in try workspace.read("decisions.ndjson").split(separator: "\n") {
        let decision = try JSONNode.parse(Array(line.utf8))
        guard decision["error"]?.string != "notAsked" else { continue }
        told[Self.question(decision), default: []].insert(String(line))
      }
      return finished
    }
    for (number, point) in Self.points(&random).enumerated() {
      try workspace.write("in/\(number).ndjson", Self.questions(number, 12, &random))
      if try run(point).code == 128 + SIGKILL { kills += 1 }
    }
    var last = try run(nil)
    for _ in 0..<20 where last.code != 0 { last = try run(nil) }
    #expect(last.code == 0, "\(last.messages)")
    #expect(kills > CrashPoint.allCases.count / 2)
    #expect(engage.faults > 0)

    let calm = try DecisionServer()
    let calmCollect = try CollectServer()
    try workspace.write("calm.json", Self.job(calmCollect, engage: calm.address, store: "calm.sqlite"))
    let expected = try workspace.run("run", "calm.json", "--decisions-out", "-")
    #expect(expected.code == 0, "\(expected.messages)")
    let questions = try expected.lines.map { Self.question(try JSONNode.parse(Array($0.utf8))) }
    #expect(told.keys.sorted() == questions.sorted())
    #expect(told.values.allSatisfy { $0.count == 1 }, "a question was settled twice")
    #expect(Set(engage.questions).count == engage.questions.count, "a question was asked twice")
    #expect(Set(engage.questions).isSubset(of: calm.questions))
    // Only a run that was killed between its word and its request leaves a question that nobody saw.
    #expect(questions.count - engage.questions.count <= kills)
  }

  /// Engagements of some players, each at an instant of its own.
  private static func questions(_ number: Int, _ count: Int, _ random: inout SplitMix64) -> String {
    (0..<count).map { index in
      let time = 1_768_435_200_000 + Int64(number) * 1_000_000 + Int64(index) * 1000
      return "{\"deviceId\":\"d-\(random.below(5))\",\"timestamp\":\(time),\"type\":\"engagement\","
        + "\"decisionPoint\":\"shop\",\"params\":{\"number\":\(number * 100 + index)}}\n"
    }.joined()
  }

  /// What tells one question from others, whatever became of it.
  private static func question(_ decision: JSONNode) -> String {
    ["eventTimestamp", "userID", "sessionID", "decisionPoint"].map { decision[$0]?.string ?? "" }.joined(separator: " ")
  }
}
