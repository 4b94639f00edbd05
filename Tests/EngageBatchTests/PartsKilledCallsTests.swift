import BatchFoundation
import FoundationEssentials
import TestSupport
import Testing

/// Steps of a run in parts that are killed at each call that changes something on the disk; with `ENGAGE_TORTURE=full` at all of them.
@Suite("Kills of parts at calls", .serialized) struct PartsKilledCallsTests {
  private static let isFull = ProcessInfo.processInfo.environment["ENGAGE_TORTURE"] == "full"
  private static let calls = "mkdir,rename,renameat2,link,unlink,fsync,fdatasync,ftruncate,pwrite64"

  struct Step: Sendable, CustomTestStringConvertible {
    var export: PartsTests.Export
    var line: String
    /// The store that it makes.
    var store: String
    /// What is removed before it is tried from the start.
    var made: String

    var testDescription: String { "\(line.prefix { $0 != " " }) of \(export)" }
  }

  private static let steps = [PartsTests.Export.engage, .game].flatMap { export in
    [
      Step(
        export: export, line: "decide job.json --partition parts --part 1 --out r/1", store: "r/1/store.sqlite",
        made: "r/1"),
      Step(
        export: export, line: "collect job.json r/0 r/1 --store all.sqlite", store: "all.sqlite", made: "all.sqlite*"),
    ]
  }

  /// What a store says of events, quarantine and questions, without numbers of rows and names that are its own.
  static func content(of store: String, in workspace: Workspace) throws -> [String] {
    try [
      "store events --limit 100000 --format json --show-personal-data", "quarantine list --show-raw --format json",
      "store status --format json",
    ].map { line in
      let listed = try workspace.run(line.split(separator: " ").map(String.init) + ["--store", store])
      #expect(listed.code == 0, "\(line): \(listed.messages)")
      let text = listed.output.replacing(workspace.path, with: "")
        .replacing(/"(id|event|chunk|run|runs)": ?("[^"]*"|\d+)/, with: "")
      return line.hasPrefix("quarantine") ? text.split(separator: "}").map(String.init).sortedByBytes.joined() : text
    }
  }

  private func traced(_ workspace: Workspace, _ step: Step, _ options: [String]) throws -> Finished {
    try workspace.start(
      program: "/usr/bin/strace",
      ["-f", "-qq", "--seccomp-bpf", "-o", "trace"] + options + [Checkout.binary]
        + step.line.split(separator: " ").map(String.init)
    ).finish()
  }

  /// Each call with its number, which strace counts by thread and by name: the last of each name first.
  private func places(_ trace: String) -> [(name: String, number: Int)] {
    var counts: [String: [Substring: Int]] = [:]
    for line in trace.split(separator: "\n") where !line.contains("resumed>") && !line.contains("+++") {
      let words = line.split(whereSeparator: { "( ".contains($0) })
      guard words.count > 1 else { continue }
      counts[String(words[1]), default: [:]][words[0], default: 0] += 1
    }
    let most = counts.mapValues { $0.values.max() ?? 0 }.sorted { $0.key < $1.key }
    return most.map { ($0.key, $0.value) } + most.flatMap { name, count in (1..<count).map { (name, $0) } }
  }

  @Test("What a killed step leaves is whole or absent, and its repetition comes to the same", arguments: steps)
  func killed(step: Step) throws {
    let workspace = try PartsTests.workspace(step.export)
    func run(_ line: String) throws {
      let finished = try workspace.shell("engage-batch \(line)")
      #expect(finished.code == 0, "\(line): \(finished.messages)")
    }
    try run("partition job.json --parts 2 --out parts")
    for part in 0..<2 { try run("decide job.json --partition parts --part \(part) --out r/\(part)") }
    if step.line.hasPrefix("decide") { try workspace.remove("r/1") }
    let whole = try traced(workspace, step, ["-e", "trace=\(Self.calls)"])
    #expect(whole.code == 0, "\(whole.messages)")
    let expected = try Self.content(of: step.store, in: workspace)
    #expect(expected[0].utf8.count > 10_000)
    let places = places(try workspace.read("trace"))
    #expect(Set(places.map(\.name)).isSuperset(of: ["fsync", "pwrite64"]))
    var random = SplitMix64(seed: 3)
    // The last ones give a folder its name.
    let last = places.prefix(Set(places.map(\.name)).count).filter { ["fsync", "rename"].contains($0.name) }
    let chosen = Self.isFull ? places : last + places.shuffled(using: &random).prefix(2)
    var kills = 0
    for (name, number) in chosen {
      let place = "\(name) \(number)"
      #expect(try workspace.shell("rm -rf \(step.made)").code == 0)
      let killed = try traced(workspace, step, ["-e", "inject=\(name):signal=KILL:when=\(number)"])
      if killed.code == 137 { kills += 1 } else { #expect(killed.code == 0, "\(place): \(killed.messages)") }
      if workspace.exists("r/1") { #expect(workspace.exists("r/1/result.json"), "\(place)") }
      try run(step.line)
      for (found, wanted) in zip(try Self.content(of: step.store, in: workspace), expected) {
        #expect(found.split(separator: "\n").difference(from: wanted.split(separator: "\n")).isEmpty, "\(place)")
      }
      #expect(try workspace.run("store", "check", "--store", step.store).code == 0, "\(place)")
    }
    print("\(step.testDescription): killed at \(kills) of \(places.count) calls")
    #expect(kills * 2 >= chosen.count)
  }
}
