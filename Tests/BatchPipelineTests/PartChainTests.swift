import BatchFoundation
import BatchIngest
import BatchPlatform
import BatchStore
import BatchThreads
import EngagePlatform
import EngageStore
import FoundationEssentials
import TestSupport
import Testing

@testable import BatchPipeline
@testable import BatchReport

/// A part is known by the lines that were read, not by how or when it was cut (reference decisions 35).
@Suite("Chains of partitions") struct PartChainTests {
  /// Nights of a job in parts, each step as its command does it.
  struct Chain {
    let folder: JobFolder
    let notes = Notes()
    var isIdentified = false

    init(isIdentified: Bool = false) throws {
      self.isIdentified = isIdentified
      folder = try JobFolder([:])
    }

    /// - Parameter nights: whose lines are in the export; each has its own unless it is made of others.
    func export(_ nights: Int..., lines: (Int) -> [String] = Chain.lines) throws {
      try folder.write("in.ndjson", nights.flatMap(lines).map { $0 + "\n" }.joined())
      let last = nights.max() ?? 1
      try folder.write(
        "job.json",
        #"{"name": "j", "inputs": {"events": ["in.ndjson"]}, "store": "j.sqlite", "identity": \#(isIdentified), "asOf": "\#(Self.day(last + 1))T00:00:00Z"}"#
      )
    }

    static func day(_ night: Int) -> String { "2026-01-\(String(100 + night).dropFirst())" }

    static func lines(_ night: Int) -> [String] {
      (0..<12).map { device in
        #"{"deviceId":"D-\#(device)","timestamp":"\#(day(night))T08:\#(10 + device):00Z","type":"namedEvent","name":"on \#(night)"}"#
      }
    }

    func request(_ settings: [String]) throws -> RunRequest {
      try folder.request(settings)
    }

    func partition(_ name: String, _ parts: Int, after: String? = nil, _ settings: String...) throws {
      _ = try Partitioning(
        request(settings), parts: parts, of: .inputs, after: after.map { "\(folder.path)/\($0)" },
        to: "\(folder.path)/\(name)", monitor: notes, interruption: Interruption()
      ).run()
    }

    /// All parts, or one; results stand below `to`.
    @discardableResult
    func decide(
      _ name: String, to: String, from: String? = nil, only: Int? = nil, _ settings: String...
    ) throws -> [String] {
      let partition = try PartitionFolder("\(folder.path)/\(name)")
      return try partition.manifest.parts.indices.filter { only == nil || only == $0 }.map { part in
        let place = "\(folder.path)/\(to)/\(part)"
        _ = try PartDecision(
          request(settings), partition, part: part, from: from.map { "\(folder.path)/\($0)/\(part)" }, to: place,
          monitor: notes, interruption: Interruption()
        ).run()
        return place
      }
    }

    @discardableResult
    func collect(_ folders: [String], newChain: Bool = false, events: String? = nil) throws -> RunOutcome {
      var request = try request([])
      request.eventsOut = events.map { "\(folder.path)/\($0)" }
      return try PartCollection(
        request, folders, beginsChain: newChain, monitor: notes, interruption: Interruption()
      ).run()
    }

    /// A night from its export to the store.
    @discardableResult
    func night(_ night: Int, _ parts: Int, after: Int? = nil) throws -> [String] {
      try export(night)
      try partition("p\(night)", parts, after: after.map { "p\($0)" })
      let results = try decide("p\(night)", to: "r\(night)", from: after.map { "r\($0)" })
      #expect(try collect(results).exit == .done)
      return results
    }

    func store<Value>(_ body: (EventStore) throws -> Value) throws -> Value {
      let store = try EventStore.openReading("\(folder.path)/j.sqlite", format: EngagePlatform().storeFormat)
      defer { #expect(throws: Never.self) { try store.close() } }
      return try body(store)
    }

    var events: Int { get throws { try store { try $0.statusCounts().values.reduce(0, +) } } }

    func refusal(_ body: () throws -> Void) -> String {
      do {
        try body()
        return ""
      } catch let error as ChainError {
        #expect(error.exit == .configuration)
        return error.problem
      } catch {
        return "\(type(of: error)): \(error)"
      }
    }
  }

  final class Notes: RunMonitor {
    private let lines = Guarded<[String]>([])
    var all: [String] { lines.withLock { $0 } }
    func note(_ text: String) { lines.withLock { $0.append(text) } }
    func progress(_ progress: IngestProgress, of total: UInt64) {}
    func delivered(_ events: Int) {}
  }

  @Test("The same lines in other parts are known, whoever cut them and when: nothing is added")
  func cutAgain() throws {
    let chain = try Chain()
    try chain.night(1, 2)
    let events = try chain.events
    #expect(events == 36)
    for parts in [3, 1] {
      try chain.partition("again\(parts)", parts)
      let outcome = try chain.collect(chain.decide("again\(parts)", to: "a\(parts)"), events: "again.ndjson")
      #expect(outcome.exit == .done)
      #expect(outcome.report.summary.records == RunSummary.Records(read: 12, duplicates: 12))
      #expect(outcome.report.summary.eventsByType == [:])
      #expect(
        chain.notes.all.last
          == "Known: all 12 lines of these parts are known here, however they are cut; nothing was added")
      #expect(try chain.folder.text("again.ndjson") == "")
      #expect(try chain.events == events)
    }
    // The same partition once more is the same, however far the store is: files keep their numbers.
    try chain.partition("same", 2)
    #expect(
      try PartitionFolder("\(chain.folder.path)/same").identity == PartitionFolder("\(chain.folder.path)/p1").identity)
    let again = try chain.collect(chain.decide("same", to: "s"), events: "again.ndjson")
    #expect(again.report.summary.records == RunSummary.Records(read: 12, accepted: 12))
    #expect(try chain.folder.text("again.ndjson").split(separator: "\n").count == events)
    #expect(try chain.events == events)
    #expect(try chain.store { try $0.collectedPartitions().count } == 1)
  }

  @Test("A gap, another order, a forgotten --after and lines of which some are known are refused with counts")
  func order() throws {
    let chain = try Chain()
    var results: [[String]] = []
    for night in 1...3 {
      try chain.export(night)
      try chain.partition("p\(night)", 2, after: night > 1 ? "p\(night - 1)" : nil)
      results.append(try chain.decide("p\(night)", to: "r\(night)", from: night > 1 ? "r\(night - 1)" : nil))
    }
    let names = try (1...3).map { try PartitionFolder("\(chain.folder.path)/p\($0)").identity.prefix(12) }
    let gap = chain.refusal { try chain.collect(results[2]) }
    #expect(
      gap.hasPrefix(
        "none of 12 lines is known here; nothing was collected. These parts continue the partition \(names[1]), and none"
      ))
    #expect(try chain.collect(results[0]).exit == .done)
    let missing = chain.refusal { try chain.collect(results[2]) }
    #expect(
      missing.contains(
        "They continue the partition \(names[1]), which was not collected here: collect it first. The last one here is \(names[0])."
      ))
    #expect(try chain.collect(results[1]).exit == .done)
    // Night 3 of night 1 leaves night 2 out.
    try chain.partition("other", 2, after: "p1")
    let other = try chain.decide("other", to: "o", from: "r1")
    let order = chain.refusal { try chain.collect(other) }
    #expect(
      order.contains(
        "They continue the partition \(names[0]), after which 1 partition was collected here. The last one here is \(names[1])"
      ))
    #expect(order.contains("engage-batch partition JOB --parts 2 --after FOLDER --out NEW"))
    #expect(try chain.collect(results[2]).exit == .done)
    #expect(try chain.collect(results[0]).report.summary.records.accepted == 12)
    let events = try chain.events

    try chain.export(4)
    try chain.partition("p4", 2)
    #expect(chain.notes.all.last?.contains("3 partitions were collected in") == true)
    let forgotten = try chain.decide("p4", to: "f")
    let words = chain.refusal { try chain.collect(forgotten) }
    #expect(
      words.contains(
        "none of 12 lines is known here; nothing was collected. They were partitioned without --after, and 3 partitions were collected here."
      ))
    #expect(words.contains("--new-chain"))

    try chain.export(3, 4)
    try chain.partition("mixed", 1)
    let mixed = try chain.decide("mixed", to: "m")
    let twice = chain.refusal { try chain.collect(mixed, newChain: true) }
    #expect(
      twice.hasPrefix(
        "12 lines of these parts are known here, and 12 are new, so part of it would be sent twice; nothing was collected."
      ))
    #expect(try chain.events == events)

    #expect(try chain.collect(forgotten, newChain: true).exit == .done)
    #expect(try chain.events == events + 36)
    #expect(try chain.store { try $0.collectedPartitions().map(\.previous) }.last == .some(nil))
  }

  @Test("Other settings than the night before are told; mixed ones and states of others are refused")
  func settings() throws {
    let chain = try Chain()
    let setting = "Session.sessionLifecycleExpiration=9 minutes"
    let first = try chain.night(1, 2)
    try chain.export(2)
    try chain.partition("p2", 2, after: "p1")
    let mixed = try [
      chain.decide("p2", to: "r2", from: "r1", only: 0), chain.decide("p2", to: "b2", from: "r1", only: 1, setting),
    ].flatMap { $0 }
    #expect(throws: PartsError.self) { try chain.collect(mixed) }
    #expect(try chain.collect([mixed[0]]).exit == .noInput)
    let words = chain.refusal { try chain.collect([mixed[1]]) }
    #expect(
      words.contains("decided with other settings: Session.sessionLifecycleExpiration. Decide these with the same"))
    #expect(try chain.collect(chain.decide("p2", to: "r2", from: "r1", only: 1)).exit == .done)

    // Night 2 decided twice, and night 3 continues what was not collected.
    try chain.decide("p2", to: "b2", from: "r1", only: 0, setting)
    try chain.export(3)
    try chain.partition("p3", 2, after: "p2")
    let strangers = try chain.decide("p3", to: "b3", from: "b2", setting)
    let states = chain.refusal { try chain.collect(strangers) }
    #expect(states.contains("with other settings than what was collected of it"))
    let events = try chain.events
    let changed = try chain.decide("p3", to: "r3", from: "r2", setting)
    #expect(chain.notes.all.contains { $0.contains("r2/1 was decided with other settings than this part is") })
    let outcome = try chain.collect(changed)
    #expect(outcome.exit == .done)
    #expect(
      outcome.report.notes.contains(
        "Settings: this partition was decided with other settings than the one before: Session.sessionLifecycleExpiration"
      ))
    #expect(try chain.events > events)
    #expect(try chain.store { try Set($0.collectedPartitions().map(\.configuration)).count } == 2)
    #expect(throws: PartsError.self) { try chain.collect([first[0], first[0]]) }
  }

  @Test("What came of a half partition is taken back, and its lines come in others", arguments: [false, true])
  func half(isIdentified: Bool) throws {
    let chain = try Chain(isIdentified: isIdentified)
    func lines(_ night: Int) -> [String] {
      Chain.lines(night) + ["nonsense \(night)"]
        + (0..<12).flatMap { device in
          [
            #"{"deviceId":"D-\#(device)","timestamp":"\#(Chain.day(night))T09:00:00Z","type":"identify","ids":{"EMAIL":"e\#(night)"}}"#,
            #"{"deviceId":"D-\#(device)","timestamp":"\#(Chain.day(night))T09:01:00Z","type":"launch","recipientId":"\#(night)\#(device)"}"#,
          ]
        }
    }
    try chain.export(1, lines: lines)
    try chain.partition("p1", 2)
    #expect(try chain.collect(chain.decide("p1", to: "r1")).exit == .done)
    let before = try rows(chain)
    try chain.export(2, lines: lines)
    try chain.partition("p2", 2, after: "p1")
    let half = try chain.decide("p2", to: "r2", from: "r1", only: 1)
    let outcome = try chain.collect(half)
    #expect(outcome.exit == .noInput)
    let command = "engage-batch store drop-partition --store \(chain.folder.path)/j.sqlite"
    #expect(outcome.report.failure?.hasSuffix("If they are lost, take back what is here: \(command)") == true)
    #expect(try rows(chain) != before)
    // The same lines in another cut: part of them is here.
    try chain.partition("other", 2, after: "p1", "Ingest.maxLineBytes=5000")
    try chain.export(2, 3, lines: lines)
    try chain.partition("wide", 2, after: "p1")
    let wide = try chain.decide("wide", to: "w", from: "r1")
    #expect(
      chain.refusal { try chain.collect(wide) }.hasSuffix(
        "parts are missing: 0. Decide and collect those, or take back what is here: \(command)"))

    let store = try EventStore.open("\(chain.folder.path)/j.sqlite", format: EngagePlatform().storeFormat)
    let dropped = try #require(try store.dropHalfPartition())
    #expect(dropped.partition.here == [1] && dropped.partition.missing == [0])
    #expect(dropped.lines > 0 && dropped.lines % 3 == 0)
    #expect(dropped.events > dropped.lines / 3)
    #expect(try store.dropHalfPartition() == nil)
    try store.close()
    #expect(try rows(chain) == before)
    #expect(try chain.collect(wide).exit == .done)
    #expect(try chain.store { try $0.collectedPartitions().count } == 2)
    #expect(try chain.store { $0.dropCommand } == command)
  }

  /// How many rows each table has but those that say what runs there were, and what is known of the devices.
  private func rows(_ chain: Chain) throws -> [String] {
    try chain.store { store in
      let copy = "\(chain.folder.path)/\(UUID().uuidString)"
      let counts = try store.salvage(to: copy).rows
        .filter { !["run", "run_setting", "input_file", "service_mark", "destination"].contains($0.table) }
      let devices = try (0..<12).map { try store.device("D-\($0)").map { "\($0)" } ?? "none" }
      return try counts.map { "\($0.table) \($0.rows)" } + devices + ["\(store.pendingLocations())"]
    }
  }

  @Test("The store of a result is refused to whoever would change it, and stays as it was")
  func resultStore() throws {
    let chain = try Chain()
    let results = try chain.night(1, 1)
    let path = "\(results[0])/store.sqlite"
    let bytes = try Data(contentsOf: URL(filePath: path))
    #expect(throws: StoreError.result(path: path)) { try EventStore.open(path, format: EngagePlatform().storeFormat) }
    #expect(StoreError.result(path: path).exit == .configuration)
    #expect(try Data(contentsOf: URL(filePath: path)) == bytes)
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: results[0]).sorted() == ["result.json", "store.sqlite"])
    try chain.export(2)
    try chain.partition("p2", 1, after: "p1")
    #expect(try chain.collect(chain.decide("p2", to: "r2", from: "r1")).exit == .done)
  }

  @Test("Digests and states that a job keeps no longer go from the results, and lines before them are refused")
  func retention() throws {
    let chain = try Chain()
    let limits = ["Digests", "Devices"].map { "LocalEventStore.expire\($0)AfterNumDays=2" }
    var digests: [Int] = []
    for night in 1...6 {
      // One device comes once; the last night brings lines of the first again.
      var lines = Chain.lines(night)
      if night == 1 { lines[0] = lines[0].replacing("D-0", with: "D-once") }
      if night == 6 { lines += Chain.lines(1)[1...3] }
      try chain.export(night) { _ in lines }
      try chain.partition("p\(night)", 2, after: night > 1 ? "p\(night - 1)" : nil)
      let results = try chain.decide(
        "p\(night)", to: "r\(night)", from: night > 1 ? "r\(night - 1)" : nil, limits[0], limits[1])
      let outcome = try chain.collect(results)
      #expect(outcome.exit == .done)
      #expect(outcome.report.summary.records.outOfWindow == (night == 6 ? 3 : 0))
      var (count, devices) = (0, 0)
      for result in results {
        let store = try EventStore.openReading("\(result)/store.sqlite", format: EngagePlatform().storeFormat)
        try store.forEachDigestSegment(after: 0) { count += $0.digests.count / 16 }
        try store.forEachDevice { _ in devices += 1 }
        try store.close()
      }
      digests.append(count)
      #expect(devices == (night == 2 ? 13 : 12), "night \(night)")
    }
    #expect(digests == [12, 24, 24, 24, 24, 24])
    #expect(chain.notes.all.contains { $0.hasPrefix("Purged: digests of ") })
  }

  @Test("Fourteen nights with repeated, missing, other and reordered steps: every event once, or the step is refused")
  func fortnight() throws {
    var random = SplitMix64(seed: 35)
    let (chain, whole) = (try Chain(), try Chain())
    var results: [[String]] = []
    var refused = 0
    for night in 1...14 {
      // The night brings some lines of the one before again.
      let lines = { (night: Int) in Chain.lines(night) + (night > 1 ? Array(Chain.lines(night - 1).prefix(3)) : []) }
      for chain in [chain, whole] { try chain.export(night, lines: lines) }
      var request = try whole.request([])
      request.eventsOut = "\(whole.folder.path)/events\(night)"
      #expect(try whole.folder.run(request).exit == .done)
      if night > 1 {
        try chain.partition("forgotten", 1 + random.below(3))
        let forgotten = try chain.decide("forgotten", to: "forgotten.results")
        #expect(
          chain.refusal { try chain.collect(forgotten) }.contains(
            "3 lines of these parts are known here, and 12 are new"))
        refused += 1
        for name in ["forgotten", "forgotten.results"] {
          try FileManager.default.removeItem(atPath: "\(chain.folder.path)/\(name)")
        }
      }
      try chain.partition("p\(night)", 3, after: night > 1 ? "p\(night - 1)" : nil)
      results.append(try chain.decide("p\(night)", to: "r\(night)", from: night > 1 ? "r\(night - 1)" : nil))
      // An earlier night once more, then this one in pieces, of which one comes twice.
      let earlier = random.below(night)
      if earlier < night - 1 { #expect(try chain.collect(results[earlier]).exit == .done) }
      let order = results[night - 1].shuffled(using: &random)
      #expect(try chain.collect([order[0]]).exit == .noInput)
      #expect(try chain.collect([order[0], order[1]]).exit == .noInput)
      #expect(try chain.collect(results[night - 1], events: "events\(night)").exit == .done)
      #expect(try chain.folder.text("events\(night)") == whole.folder.text("events\(night)"), "night \(night)")
    }
    #expect(refused == 13)
    #expect(try chain.events == whole.events)
    #expect(try chain.store { try $0.collectedPartitions().count } == 14)
  }
}
