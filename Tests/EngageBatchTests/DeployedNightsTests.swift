import BatchFoundation
import FoundationEssentials
import TestSupport
import Testing

/// The nights of `deploy/kubernetes`, played with folders for its volumes: steps are repeated, killed, late and missing, and the service has
/// every event once. With `ENGAGE_TORTURE=full` for two weeks.
@Suite("Nights of Kubernetes") struct DeployedNightsTests {
  private static let isFull = ProcessInfo.processInfo.environment["ENGAGE_TORTURE"] == "full"
  private static let nights = isFull ? 14 : 3
  private static let parts = 2

  private let workspace: Workspace
  private let service: Service

  init() throws {
    workspace = try Workspace([])
    service = try Service()
    try workspace.write("exports/none.ndjson", "")
  }

  /// Exports of all nights so far are there, and the known time ends with the night.
  private func begin(_ night: Int) throws {
    let day = "2026-01-\(String(100 + night).dropFirst())"
    let lines = (0..<8).map { device in
      #"{"deviceId":"D-\#(device)","timestamp":"\#(day)T08:1\#(device):00Z","type":"namedEvent","name":"on \#(night)"}"#
        + "\n"
    }
    try workspace.write("exports/\(day).ndjson", lines.joined())
    try workspace.write(
      "job.json",
      #"{"name": "nightly", "inputs": {"events": ["exports"]}, "asOf": "\#(day)T23:00:00Z", "settings": {"General": {"databaseListId": "100001"}}}"#
    )
  }

  /// One pod.
  ///
  /// - Parameters:
  ///   - kill: after so many milliseconds.
  @discardableResult
  private func step(_ step: String, night: Int = 0, index: Int = 0, kill: Int? = nil) throws -> Finished {
    let limit = kill.map { "timeout -s KILL 0.\(String(1000 + $0).dropFirst()) " } ?? ""
    return try workspace.shell(
      "\(limit)sh '\(Checkout.url("deploy/kubernetes/step").path)' \(step)",
      environment: service.environment.merging([
        "JOB": "job.json", "NIGHTS": "nights", "PARTS": "\(Self.parts)",
        "NAME": "engage-batch-night-2938\(4400 + night)",
        "JOB_COMPLETION_INDEX": "\(index)", "STORE": "state/nightly.sqlite", "PATIENCE": "0",
      ]) { $1 })
  }

  private func succeed(_ name: String, night: Int = 0, index: Int = 0) throws {
    let finished = try step(name, night: night, index: index)
    #expect(finished.code == 0, "\(name) \(night) \(index): \(finished.messages)")
  }

  @Test("Repeated, killed, late and missing steps: the service has every event once")
  func nights() throws {
    var random = SplitMix64(seed: 14)
    for night in 1...Self.nights {
      try begin(night)
      let whole = try workspace.run("run", "job.json", "--no-upload", "--store", "whole.sqlite")
      #expect(whole.code == 0, "\(whole.messages)")
      // The second pod is there before the partition is.
      let early = try step("decide", night: night, index: 1)
      #expect(early.code == 75 && early.messages.contains("no partition within 0 seconds"), "\(early.messages)")
      if Self.isFull {
        for index in 0..<Self.parts {
          _ = try step("decide", night: night, index: index, kill: 50 + random.below(400))
        }
      }
      try succeed("decide", night: night)
      // Nothing is collected of a night that is not whole.
      try succeed("post")
      if night == 2 {
        // The other pod of this night never comes; the next night's does its work.
        #expect(!workspace.exists("nights/000029384402/results/1"))
        continue
      }
      try succeed("decide", night: night, index: 1)
      if night % 2 == 1 { try succeed("decide", night: night, index: random.below(Self.parts)) }
      if Self.isFull { _ = try step("post", kill: 50 + random.below(900)) }
      try succeed("post")
    }
    // A Job of a night that never began, once later ones are there, and all again.
    let late = try step("decide", night: 0)
    #expect(late.code == 0 && late.messages.contains("never began, and nights/"), "\(late.messages)")
    try succeed("decide", night: Self.nights)
    try succeed("post")
    let posted = try workspace.run("store", "status", "--store", "state/nightly.sqlite")
    #expect(posted.output.contains("SUCCESSFULLY_POSTED") && !posted.output.contains("NOT_POSTED"), "\(posted.output)")

    let other = try Service()
    let all = try workspace.run(["post", "job.json", "--store", "whole.sqlite"], environment: other.environment)
    #expect(all.code == 0, "\(all.messages)")
    #expect(service.events.count == Self.nights * 24)
    #expect(service.events == other.events)
    // The last night is all that the next one needs.
    #expect(try workspace.shell("ls nights").output == "0000\(29384400 + Self.nights)\n")
  }

  @Test("A night after results that are gone is refused with counts, and nothing of it is sent")
  func lost() throws {
    for night in 1...2 {
      try begin(night)
      for index in 0..<Self.parts { try succeed("decide", night: night, index: index) }
      if night == 1 {
        try succeed("post")
        try workspace.remove("nights")
      }
    }
    let post = try step("post")
    #expect(post.code == 78, "\(post.messages)")
    #expect(post.messages.contains("8 lines of these parts are known here, and 8 are new"), "\(post.messages)")
    #expect(service.events.count == 24)
  }
}
