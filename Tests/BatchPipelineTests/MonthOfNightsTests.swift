import BatchConfiguration
import BatchFoundation
import BatchIngest
import BatchReport
import BatchStore
import Engage
import FoundationEssentials
import Testing

@testable import BatchPipeline

/// A month of nights whose exports come late, not at all, twice, cut or in another shape, with people who are forgotten and files that are
/// put right: each window is read or reported as missed, figures add up, and no night that lost something is green.
@Suite("A month of nights") struct MonthOfNightsTests {
  private enum Export: CaseIterable { case whole, late, missing, doubled, cut, wrongShape, repaired }

  private static let devices = 12
  private static let days = 31

  private struct Month {
    var random: SplitMix64
    let folder: JobFolder
    var export: [Export] = []
    var accepted = 0
    /// Days whose window a run has read.
    var read: Set<Int> = []
    /// Days between those that were read, of which none was: what each run has to tell.
    var missed: Set<Int> = []
    /// The day behind the last that was read; 0 before the first.
    var end = 0
    /// Days that some run has told as missed.
    var told: Set<Int> = []
    /// Days whose own run said that it was refused or found nothing.
    var refused: Set<Int> = []

    /// What a run tells: a gap counts once a run behind it has read its window, and what ends four days before the known time is told no
    /// more.
    mutating func tell(_ day: Int, isRead: Bool) -> [Int] {
      var all = missed
      if end > 0, day > end { all.formUnion(end..<day) }
      guard isRead else { return all.sorted() }
      all.remove(day)
      end = max(end, day + 1)
      missed = all.filter { $0 + 1 > end - 4 }
      return all.sorted()
    }

    static func name(_ day: Int) -> String { "e-\(day < 10 ? "0" : "")\(day)" }
    static func instant(_ day: Int, _ time: String = "00:00") throws -> Instant {
      let first = try #require(Instant.parse(rfc3339: "2026-01-01T\(time):00Z"))
      return Instant(milliseconds: first.milliseconds + Int64(day - 1) * 86_400_000)
    }
    static func day(_ instant: Instant) -> Int { Int((instant.milliseconds - 1_767_225_600_000) / 86_400_000) + 1 }

    func line(_ device: Int, _ day: Int) throws -> String {
      let time = try Self.instant(day, "08:\(device + 10)").rfc3339
      return #"{"deviceId":"device-\#(device)","timestamp":"\#(time)","type":"namedEvent","name":"n"}"# + "\n"
    }

    func whole(_ day: Int) throws -> String { try (0..<devices).map { try line($0, day) }.joined() }

    /// What stands in the folder when the night of a day begins.
    func deliver(_ day: Int, _ export: Export) throws {
      switch export {
      case .whole: try folder.write(Self.name(day), whole(day))
      case .doubled: try folder.write(Self.name(day), whole(day) + whole(day) + (day > 1 ? whole(day - 1) : ""))
      case .cut, .repaired: try folder.write(Self.name(day), String(whole(day).dropLast(40)))
      case .wrongShape: try folder.write(Self.name(day), #"{"anonymousId":"a","event":"e"}"# + "\n")
      case .late, .missing: break
      }
    }

    func request(_ asOf: Instant) throws -> RunRequest {
      var changes = CommandLineChanges()
      changes.asOf = asOf
      return try folder.request(changes)
    }
  }

  /// What a run of a window does to the figures.
  private func run(_ month: inout Month, _ asOf: Instant, own: Bool) throws -> RunOutcome? {
    let request = try month.request(asOf)
    let day = Month.day(asOf) - 1
    do {
      let outcome = try month.folder.run(request)
      let records = outcome.report.summary.records
      #expect(records.isBalanced)
      month.accepted += records.accepted
      if outcome.report.nothingUsable == true {
        #expect(outcome.exit == .inputRefused && outcome.report.night == .refused)
        month.refused.insert(day)
      } else {
        #expect(outcome.exit == .done)
        month.read.insert(day)
      }
      let told = month.tell(day, isRead: outcome.report.nothingUsable != true)
      #expect(outcome.report.missed.map { Month.day($0.from) } == told, "\(day)")
      let lost = records.quarantined > 0 || !outcome.report.missed.isEmpty
      #expect((outcome.report.night == .done) == !lost || outcome.exit != .done, "\(day): \(outcome.report.night)")
      month.told.formUnion(outcome.report.missed.map { Month.day($0.from) })
      return outcome
    } catch is InputError {
      if own { month.refused.insert(day) }
      return nil
    }
  }

  @Test(
    "Each window is read or reported, each figure is what the exports make it, and nothing is lost in silence",
    arguments: zip([1, 2], [nil, "P3D"]))
  func month(seed: UInt64, catchUp: String?) throws {
    let window = catchUp.map { #", "catchUp": "\#($0)""# } ?? ""
    let job = #"""
      {"name": "j", "store": "j.sqlite", "inputs": {"events": [{"path": "e-{dd}", "required": true}]},
       "window": {"from": "yesterday", "to": "today"\#(window)}}
      """#
    var month = Month(random: SplitMix64(seed: seed), folder: try JobFolder(["job.json": job]))
    month.export =
      [.whole, .whole] + (3...Self.days).map { _ in Export.allCases.randomElement(using: &month.random) ?? .whole }
    month.export[Self.days - 1] = .whole
    var states: [NightState] = []
    for day in 1...Self.days {
      try month.deliver(day, month.export[day - 1])
      // What was late comes two days later.
      if day > 2, month.export[day - 3] == .late { try month.folder.write(Month.name(day - 2), month.whole(day - 2)) }
      let asOf = try Month.instant(day + 1, "02:15")
      for missed in try Pipeline(month.request(asOf)).windowsToCatchUp() {
        #expect(Month.day(missed.from) >= day - 3)
        _ = try run(&month, #require(missed.asOf), own: false)
      }
      let outcome = try run(&month, asOf, own: true)
      states.append(outcome?.report.night ?? .noInput)
      let expected: (read: Int, quarantined: Int)? =
        switch month.export[day - 1] {
        case .whole: (Self.devices, 0)
        case .doubled: (Self.devices * 3, 0)
        case .cut, .repaired: (Self.devices, 1)
        case .wrongShape: (1, 1)
        case .late, .missing: nil
        }
      let records = outcome?.report.summary.records
      #expect(records?.read == expected?.read && records?.quarantined == expected?.quarantined, "\(day)")
      #expect(records?.forgotten ?? 0 == 0 || day > 12, "\(day)")
      if month.export[day - 1] == .repaired {
        try month.folder.write(Month.name(day), month.whole(day))
        let repair = try run(&month, asOf, own: true)
        // The file was put right, and counts its last record.
        #expect(repair?.report.summary.records.quarantined == 0)
      }
      if day == 12 {
        let store = try EventStore.open("\(month.folder.path)/j.sqlite", format: EngagePlatform().storeFormat)
        _ = try store.erasures.erase(
          [PersonID(.device, "device-3")], at: .now, ErasureOptions(admitsFoundDevices: false, isRehearsal: false),
          isOf: { _ in { _ in false } })
        try store.close()
      }
    }
    // Each night but the last days' was read, or some run has told it.
    for day in 1..<Self.days where !month.read.contains(day) {
      #expect(month.told.contains(day), "\(seed) \(catchUp ?? ""): day \(day), \(month.export[day - 1])")
      #expect(month.refused.contains(day))
    }
    // What came was read in the end where it is caught up.
    if catchUp != nil {
      for day in 1..<Self.days - 3 where month.export[day - 1] == .late { #expect(month.read.contains(day), "\(day)") }
    }
    for (state, (day, export)) in zip(states, zip(1..., month.export)) {
      switch export {
      case .missing, .late: #expect(state == .noInput, "\(day)")
      case .wrongShape: #expect(state == .refused, "\(day)")
      case .cut, .repaired: #expect(state == .findings, "\(day)")
      case .whole, .doubled: #expect(state == .done || state == .findings, "\(day)")
      }
    }
    let store = try EventStore.openReading("\(month.folder.path)/j.sqlite", format: EngagePlatform().storeFormat)
    let rows = try store.runs.all()
    // Whatever ended a run, history has it.
    #expect(rows.allSatisfy { $0.exit != nil && $0.night != nil })
    let counted = rows.compactMap {
      $0.counters.flatMap { try? JSONNode.parse(Array($0.utf8)) }?["records"]?["accepted"]?.integer
    }
    #expect(counted.reduce(0, +) == Int64(month.accepted))
    try store.close()
    // A window that counts as read has nothing of its own left that no run has taken. Lines of the day before, which no run has read, were
    // out of the window then, as nothing was known up to it; now they are late, within the four days of a rewind.
    for day in month.read.sorted() {
      var request = try month.request(Month.instant(day + 1, "02:15"))
      request.mode = .dryRun(sends: false)
      let records = try month.folder.run(request).report.summary.records
      let hasMissed =
        month.export[day - 1] == .doubled && day > Self.days - 3 && !month.read.contains(day - 1)
      // All but those of who is forgotten.
      #expect(records.accepted == (hasMissed ? Self.devices - 1 : 0), "\(day)")
      #expect(records.isBalanced && records.duplicates > 0, "\(day)")
    }
  }
}
