import BatchFoundation
import BatchIngest
import BatchReport
import Testing

@testable import BatchPipeline

/// An input that goes backwards is about devices: nearly all that the store knows of it have nothing newer than what was decided.
@Suite("Inputs that go backwards") struct BackwardShareTests {
  private static let job = """
    {"name": "j", "inputs": {"events": ["in/*"]}, "asOf": "2026-03-01T00:00:00Z", "store": "j.sqlite"}
    """

  private static func lines(_ devices: Range<Int>, _ time: String, _ name: String = "n") -> String {
    devices.map {
      #"{"deviceId":"d\#($0)","timestamp":"\#(time)","type":"namedEvent","name":"\#(name)"}"# + "\n"
    }.joined()
  }

  /// A store that has decided February of some devices.
  private static func folder(_ devices: Int = 200) throws -> JobFolder {
    let folder = try JobFolder([
      "job.json": job, "in/february": lines(0..<devices, "2026-02-10T08:00:00Z"),
    ])
    #expect(try folder.run(folder.request()).exit == .done)
    return folder
  }

  private static let refusal =
    "the records go back in time: of 200 known devices examined, 200 have no records after the time already processed for them; their "
    + "records end at 2026-01-10T08:00:00.000Z, but the store has processed records up to 2026-02-10T08:00:00.000Z. Devices cannot "
    + "be rewound that far: events of known devices would be created, each with a warning, but without sessions or campaigns. No record was imported. "

  @Test("January after February is asked for, taken in by the setting, and is a repetition from then on")
  func asks() throws {
    let folder = try Self.folder()
    try folder.write("in/january", Self.lines(0..<200, "2026-01-10T08:00:00Z") + "not a record\n")
    let refused = try folder.run(folder.request())
    #expect(refused.exit == .configuration)
    let failure = try #require(refused.report.failure)
    #expect(failure.contains(Self.refusal), "\(failure)")
    #expect(failure.contains("/job.json --no-upload --set Ingest.lateRecords=accept"), "\(failure)")
    #expect(refused.report.summary.records.read == 0)

    var dry = try folder.request()
    dry.mode = .dryRun(sends: true)
    #expect(throws: BackwardRunError.self) { try folder.run(dry) }

    let allowed = try folder.run(folder.request("Ingest.lateRecords=accept"))
    #expect(allowed.exit == .done)
    #expect(allowed.report.summary.records.accepted == 200)
    #expect(allowed.report.summary.records.duplicates == 200)
    let again = try folder.run(folder.request())
    #expect(again.exit == .done)
    #expect(again.report.summary.records.duplicates == 400)
  }

  @Test("Records that are late for some devices are taken in with their warnings")
  func some() throws {
    let folder = try Self.folder()
    try folder.write("in/january", Self.lines(0..<99, "2026-01-10T08:00:00Z"))
    let late = try folder.run(folder.request())
    #expect(late.exit == .done)
    #expect(late.report.summary.records.accepted == 99)
    #expect(
      late.report.notes.contains { $0.hasPrefix("99 records fall in periods already processed for their devices") })
  }

  @Test("A device with a record that is not late is not behind, and more than a tenth of them makes it an ordinary run")
  func share() throws {
    let folder = try Self.folder()
    try folder.write(
      "in/both",
      Self.lines(0..<200, "2026-01-10T08:00:00Z") + Self.lines(0..<21, "2026-02-10T08:00:00Z", "same instant"))
    #expect(try folder.run(folder.request()).exit == .done)
    try folder.write(
      "in/both", Self.lines(0..<200, "2026-01-11T08:00:00Z") + Self.lines(0..<20, "2026-02-11T08:00:00Z"))
    #expect(try folder.run(folder.request()).exit == .configuration)
  }

  @Test("Devices that the store does not know, and lines that it has, say nothing")
  func others() throws {
    let folder = try Self.folder()
    try folder.write(
      "in/january", Self.lines(0..<150, "2026-01-10T08:00:00Z") + Self.lines(200..<900, "2026-01-10T08:00:00Z"))
    let refused = try folder.run(folder.request())
    #expect(refused.report.failure?.contains("of 150 known devices examined, 150 have no records after") == true)
  }

  @Test("A late part of a store's devices is no backward run, however many they are")
  func partOfTheStore() throws {
    let folder = try Self.folder(1500)
    try folder.write("in/january", Self.lines(0..<149, "2026-01-10T08:00:00Z"))
    #expect(try folder.run(folder.request()).exit == .done)
    try folder.write("in/january", Self.lines(0..<160, "2026-01-11T08:00:00Z"))
    #expect(try folder.run(folder.request()).exit == .configuration)
  }

  @Test("Of a large store some buckets say whether a part of its devices is late, or a tenth")
  func partOfALargeStore() throws {
    let folder = try Self.folder(6000)
    try folder.write("in/january", Self.lines(0..<280, "2026-01-10T08:00:00Z"))
    #expect(try folder.run(folder.request()).exit == .done)
    try folder.write("in/january", Self.lines(0..<720, "2026-01-11T08:00:00Z"))
    #expect(try folder.run(folder.request()).exit == .configuration)
  }

  @Test("Lines that come back from quarantine are asked for in the same way, and wait until then")
  func replay() throws {
    let folder = try JobFolder([
      "job.json": Self.job,
      "in/a": Self.lines(0..<200, "2026-01-10T08:00:00Z", String(repeating: "x", count: 300))
        + Self.lines(0..<200, "2026-02-10T08:00:00Z"),
    ])
    #expect(try folder.run(folder.request("Ingest.maxLineBytes=200")).exit == .done)
    var request = try folder.request()
    request.mode = .replay
    let refused = try folder.run(request)
    #expect(refused.exit == .configuration)
    let words = try #require(refused.report.failure)
    #expect(words.contains(Self.refusal), "\(words)")
    #expect(
      words.contains(
        "engage-batch quarantine replay --store \(folder.path)/j.sqlite --job \(folder.path)/job.json "
          + "--set Ingest.lateRecords=accept"), "\(words)")
    #expect(try folder.quarantine().count { $0.hasSuffix(" replayed") } == 0)
    let allowed = try folder.replay(folder.request("Ingest.lateRecords=accept"))
    #expect(allowed.counts.accepted == 200)
    #expect(allowed.late == 200)
  }

  @Test("Input that does not fit into memory is looked at as well")
  func spilled() throws {
    let folder = try Self.folder()
    try folder.write("in/january", Self.lines(0..<200, "2026-01-10T08:00:00Z", String(repeating: "x", count: 40_000)))
    #expect(try folder.run(folder.request("Ingest.memoryLimit=1048576")).exit == .configuration)
  }
}
