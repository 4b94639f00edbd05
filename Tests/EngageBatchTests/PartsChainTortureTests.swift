import BatchFoundation
import FoundationEssentials
import TestSupport
import Testing

/// Nights in parts whose steps are repeated, left out, killed and put in another order: the service has every event that one process sends,
/// once, or the step was refused in words (reference decisions 35); with `ENGAGE_TORTURE=full` two weeks of them with many seeds.
@Suite("Kills of chains of parts") struct PartsChainTortureTests {
  private static let variables = ProcessInfo.processInfo.environment
  private static let isFull = variables["ENGAGE_TORTURE"] == "full"
  private static let seeds: [UInt64] =
    variables["ENGAGE_TORTURE_SEED"].flatMap { UInt64($0) }.map { [$0] } ?? (isFull ? Array(1...12) : [1])
  /// Each trouble comes once, or two weeks of them.
  private static let nights = isFull ? 14 : 1 + Trouble.allCases.count
  private static let parts = 2

  /// What goes wrong with a night.
  private enum Trouble: CaseIterable {
    case killed, forgottenAfter, cutAgain, both, repeated, earlierAgain, late, half, dropped
  }

  /// The steps of a chain.
  private final class Chain {
    let workspace: Workspace
    let seed: UInt64
    let service: Service
    var random: SplitMix64
    var kills = 0

    init(_ workspace: Workspace, seed: UInt64, service: Service) {
      self.workspace = workspace
      self.seed = seed
      self.service = service
      random = SplitMix64(seed: seed)
    }

    @discardableResult
    func run(_ line: String, code: Int32 = 0, words: String = "", kills isKilled: Bool = false) throws -> String {
      for _ in 0..<(isKilled ? 3 : 0) {
        let milliseconds = 1003 + random.below(60)
        // With the same environment: where it ends before it is killed, it is the step.
        let killed = try workspace.shell(
          "timeout -s KILL 0.\(String(milliseconds).dropFirst()) engage-batch \(line)",
          environment: service.environment)
        #expect([0, 137].contains(killed.code), "ENGAGE_TORTURE_SEED=\(seed) \(line): \(killed.messages)")
        if killed.code == 137 { kills += 1 }
      }
      let finished = try workspace.shell("engage-batch \(line)", environment: service.environment)
      #expect(finished.code == code, "ENGAGE_TORTURE_SEED=\(seed) \(line): \(finished.messages)")
      #expect(finished.messages.contains(words), "ENGAGE_TORTURE_SEED=\(seed) \(line): \(finished.messages)")
      return finished.messages
    }

    /// Partitions what is there and decides it.
    func decide(_ folder: String, after before: String?, asOf: String, parts: Int = parts, kills: Bool = false) throws {
      let after = before.map { "--after \($0)/p" } ?? ""
      try run("partition job.json --parts \(parts) \(after) --out \(folder)/p \(asOf)", kills: kills)
      for part in 0..<parts {
        let state = before.map { "--state-in \($0)/\(part)" } ?? ""
        try run(
          "decide job.json --partition \(folder)/p --part \(part) \(state) --out \(folder)/\(part)", kills: kills)
      }
    }

    func collect(
      _ folder: String, parts: Range<Int> = 0..<parts, code: Int32 = 0, words: String = "", kills: Bool = false
    ) throws {
      try run(
        "collect job.json \(parts.map { "\(folder)/\($0)" }.joined(separator: " ")) --store all.sqlite", code: code,
        words: words, kills: kills)
    }

    func post(code: Int32 = 0, words: String = "") throws {
      try run("post job.json --store all.sqlite", code: code, words: words)
    }
  }

  private static func time(_ lines: [Recording.Line]) -> String {
    let last = (lines.map(\.milliseconds).max() ?? Recording.start) + 3_600_000
    return "--as-of \(Instant(milliseconds: last).rfc3339)"
  }

  @Test("Every event comes once, or a step is refused in words", arguments: seeds)
  func chain(seed: UInt64) throws {
    let lines = Recording(seed: seed, devices: 12, perDevice: Self.nights * 6).lines
      .sorted { $0.milliseconds < $1.milliseconds }
    let nights = PartsNightsTests.deliveries(lines, nights: Self.nights, seed: seed)
    let workspace = try PartsTests.workspace(.engage)
    try workspace.write(
      "job.json",
      IdenticalOutputTests.job.replacing(
        #""store":"#, with: #""settings": {"Ingest": {"rewind": "0 seconds", "lateRecords": "accept"}}, "store":"#))
    let whole = Chain(workspace, seed: seed, service: try Service())
    let chain = Chain(workspace, seed: seed, service: try Service())
    // The first night has nothing that could be left out; every trouble comes once at least.
    let troubles = Trouble.allCases.shuffled(using: &chain.random)
    var isLate = false
    for (night, own) in nights.enumerated() {
      try PartsNightsTests.write(own, night: night, to: workspace)
      let asOf = Self.time(own)
      try whole.run("run job.json --store whole.sqlite \(asOf)")
      let (tonight, before) = ("n\(night)", night > 0 ? "n\(night - 1)" : nil)
      let trouble = night > 0 ? troubles[(night - 1) % troubles.count] : .killed
      if trouble == .forgottenAfter {
        try chain.decide("forgotten\(night)", after: nil, asOf: asOf)
        try chain.collect("forgotten\(night)", code: 78, words: "nothing was collected")
      }
      try chain.decide(tonight, after: before, asOf: asOf, kills: trouble == .killed)
      if isLate, let before {
        // The night before was forgotten until now.
        try chain.collect(tonight, code: 78, words: "which was not collected here: collect it first")
        try chain.collect(before)
        isLate = false
      }
      switch trouble {
      case .late where night < Self.nights - 1:
        isLate = true
        continue
      case .half:
        try chain.collect(tonight, parts: 1..<2, code: 66, words: "1 part of 2 is missing: 0")
        try chain.post(code: 66, words: "1 part of 2 is missing: 0")
        try chain.collect(tonight, parts: 0..<1)
      case .dropped:
        try chain.collect(tonight, parts: 0..<1, code: 66, words: "1 part of 2 is missing: 1")
        try chain.run("store drop-partition --store all.sqlite", words: "1 part of 2 was dropped")
        try chain.collect(tonight)
      default:
        try chain.collect(tonight, kills: trouble == .killed)
      }
      switch trouble {
      case .repeated:
        try chain.decide(tonight, after: before, asOf: asOf)
        try chain.collect(tonight, words: "2 parts were collected before")
        try chain.post()
        try chain.collect(tonight, words: "2 parts were collected before")
      case .earlierAgain:
        for earlier in 0..<night { try chain.collect("n\(earlier)", words: "2 parts were collected before") }
      case .cutAgain:
        try chain.decide("again\(night)", after: nil, asOf: asOf, parts: 3)
        try chain.collect("again\(night)", parts: 0..<3, words: "are already in the store")
      case .both:
        // Tonight's lines and some that nobody has seen.
        let new = Recording(seed: seed + 100, devices: 3, perDevice: 4).lines
        try PartsNightsTests.write(own + new, night: night, to: workspace)
        try chain.decide("both\(night)", after: nil, asOf: asOf)
        try chain.collect("both\(night)", code: 78, words: "so some events would be sent twice; nothing was collected")
      default: break
      }
      if night % 3 != 1 { try chain.post() }
    }
    try chain.post()
    #expect(chain.kills > 0)
    let expected = whole.service.events
    #expect(expected.count > 40 * Self.nights)
    let differences = chain.service.events.difference(from: expected)
    #expect(differences.isEmpty, "ENGAGE_TORTURE_SEED=\(seed): \(differences.prefix(5).map { "\($0)" })")
  }
}
