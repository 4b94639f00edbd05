import BatchFoundation
import TestSupport
import Testing

/// The same inputs and the same `asOf` give the same bytes (reference formats 4), whatever machine and settings they meet.
@Suite("Identical output") struct IdenticalOutputTests {
  static let job = """
    {"name": "same", "inputs": {"events": ["in/events"], "notifications": ["in/notifications"],
     "deepLinks": ["in/deepLinks"]}, "deepLinkRoutes": "configs/MobileDeepLinkingConfig.json",
     "asOf": "2026-01-18T00:00:00Z", "store": "var/same.sqlite"}
    """

  static let variants: [(name: String, settings: [String], environment: [String: String])] = [
    ("time zone", [], ["TZ": "Asia/Kolkata"]),
    ("locale", [], ["LC_ALL": "tr_TR.UTF-8", "LANG": "tr_TR.UTF-8"]),
    ("one event a request", ["Upload.maxEventsPerRequest=1", "Upload.concurrency=1"], [:]),
    ("seven events a request", ["Upload.maxEventsPerRequest=7", "Upload.concurrency=8"], [:]),
    ("small requests", ["Upload.maxBytesPerRequest=2000"], [:]),
    ("little memory", ["Ingest.memoryLimit=1 MiB"], [:]),
    ("one thread", ["Ingest.workers=1"], [:]), ("seven threads", ["Ingest.workers=7"], [:]),
    (
      "little memory, many chunks", ["Ingest.memoryLimit=1 MiB", "Upload.maxEventsPerRequest=3"],
      ["TZ": "America/St_Johns"]
    ),
  ]

  private func write(_ recording: Recording, to workspace: Workspace, seed: UInt64) throws {
    for file in Recording.files(recording.lines, seed: seed, count: Int(seed % 5) + 1) {
      try workspace.write("in/\(file.name)", file.text)
    }
  }

  @Test(
    "Time zone, locale, chunks, memory, order of lines and files change no byte",
    arguments: Sweep.cases([UInt64(11), 12], short: 1))
  func changesNothing(seed: UInt64) throws {
    let recording = Recording(seed: seed, devices: 40, perDevice: 40)
    let workspace = try Workspace(["configs"])
    try workspace.write("job.json", Self.job)
    try write(recording, to: workspace, seed: seed)
    let expected = try workspace.run("run", "job.json", "--dry-run", "--events-out", "-")
    #expect(expected.code == 0, "\(expected.messages)")
    #expect(expected.lines.count > 1000)
    for (number, variant) in Self.variants.enumerated() {
      try workspace.remove("in")
      try write(recording, to: workspace, seed: seed + UInt64(number) * 7 + 1)
      let settings = variant.settings.flatMap { ["--set", $0] }
      let found = try workspace.run(
        ["run", "job.json", "--no-upload", "--events-out", "out.ndjson", "--summary", "-"] + settings,
        environment: variant.environment)
      #expect(found.code == 0, "\(variant.name): \(found.messages)")
      #expect(try workspace.read("out.ndjson") == expected.output, "\(variant.name)")
      let summary = try Summary(found.output)
      let kinds = ["accepted", "duplicates", "outOfWindow", "quarantined"]
      #expect(summary["records.read"] == kinds.reduce(0) { $0 + summary["records.\($1)"] })
      #expect(summary["records.read"] == recording.lines.count)
      try workspace.remove("var")
    }
  }

  @Test(
    "Runs over parts of an export, in order of time, give together what one run gives",
    arguments: Sweep.cases([UInt64(21), 22, 23], short: 1))
  func parts(seed: UInt64) throws {
    let recording = Recording(seed: seed, devices: 25, perDevice: 30)
    let workspace = try Workspace(["configs"])
    try workspace.write("job.json", Self.job)
    try write(recording, to: workspace, seed: seed)
    let expected = try workspace.run("run", "job.json", "--dry-run", "--events-out", "-")
    #expect(expected.code == 0, "\(expected.messages)")
    var random = SplitMix64(seed: seed)
    var cuts = (0..<4).map { _ in Recording.start + Int64(random.below(30 * 3_600_000)) }.sorted()
    cuts.append(.max)
    var from = Int64.min
    var found: [String] = []
    for cut in cuts {
      let part = recording.lines.filter { $0.milliseconds >= from && $0.milliseconds < cut }
      from = cut
      try workspace.remove("in")
      for kind in Recording.Line.Kind.allCases { try workspace.write("in/\(kind.rawValue)/none.ndjson", "") }
      for file in Recording.files(part, seed: seed, count: 3) { try workspace.write("in/\(file.name)", file.text) }
      // Until the last part the known time ends with the part.
      let asOf = cut == .max ? [] : ["--as-of", Self.rfc3339(cut)]
      let run = try workspace.run(["run", "job.json", "--no-upload", "--events-out", "-"] + asOf)
      #expect(run.code == 0, "\(run.messages)")
      found += run.lines
    }
    #expect(found.sortedByBytes == expected.lines.sortedByBytes)
  }

  private static func rfc3339(_ time: Int64) -> String {
    let seconds = (time - Recording.start) / 1000
    func two(_ value: Int64) -> String { String(value + 100).suffix(2).description }
    return "2026-01-\(two(15 + seconds / 86_400))T\(two(seconds / 3600 % 24)):\(two(seconds / 60 % 60)):"
      + "\(two(seconds % 60)).\(String(time % 1000 + 1000).dropFirst())Z"
  }
}
