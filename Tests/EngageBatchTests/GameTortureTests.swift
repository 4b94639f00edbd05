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

  private static func job(_ service: String) -> String {
    """
    {"name": "torture", "destination": "deltadna", "inputs": {"events": ["in/*"]}, "asOf": "2026-01-18T00:00:00Z",
     "store": "store.sqlite", "settings": {"DeltaDNA": {"collectURL": "\(service)", "environmentKey": "KEY",
       "maxEventsPerRequest": 10, "httpRequestRetryDelaySeconds": 0}}}
    """
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

  @Test("Every event arrives, and none with other bytes or another eventUUID than an undisturbed run gives it")
  func everythingArrives() throws {
    print("Torture of a game: ENGAGE_TORTURE_SEED=\(Self.seed)")
    var random = SplitMix64(seed: Self.seed)
    let workspace = try Workspace([])
    let service = try CollectServer(seed: Self.seed, trouble: 15)
    try workspace.write("job.json", Self.job(service.address))
    var points = CrashPoint.allCases.flatMap { point in
      (Self.isFull ? [1, 2, 4] : [1]).map { "\(point.rawValue):\($0)" }
    }
    points += Array(repeating: "", count: Self.isFull ? 30 : 4)
    for index in points.indices.reversed() { points.swapAt(index, random.below(index + 1)) }
    var kills = 0
    for (number, point) in points.enumerated() {
      try workspace.write("in/\(number).ndjson", Self.part(number, 60, &random))
      let finished: Finished
      if point.isEmpty {
        let running = try workspace.start(["run", "job.json"])
        usleep(UInt32(random.below(150_000)))
        running.signal(SIGKILL)
        finished = running.finish()
      } else {
        finished = try workspace.run("run", "job.json", environment: ["ENGAGE_CRASH_AT": point])
      }
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
}
