import BatchFoundation
import BatchIngest
import BatchStore
import EngageRules

/// What one worker counted.
struct LocalTally {
  var eventsByCode: [ByteText: Int] = [:]
  var chunks = 0
  var checks = 0
  var counts = RuleCounts()
  var warnings: [WarningKind: WarningTally] = [:]
  var late: [RecordPosition] = []
  var explanation: [Explanation.Step] = []

  /// How often, and the first places by file and line.
  struct WarningTally {
    static let shown = 5
    var occurrences = 0
    /// In order of place.
    var examples: [Warning] = []

    mutating func add(_ warning: Warning) {
      occurrences += 1
      // There can be as many warnings as records, and most come behind the examples.
      if examples.count == Self.shown, let last = examples.last, !warning.position.precedes(last.position) { return }
      examples.append(warning)
      keepFirst()
    }

    mutating func add(_ other: WarningTally) {
      occurrences += other.occurrences
      examples += other.examples
      keepFirst()
    }

    private mutating func keepFirst() {
      examples.sort { $0.position.precedes($1.position) }
      examples.removeLast(max(0, examples.count - Self.shown))
    }
  }

  mutating func add(_ output: RuleOutput, _ files: InputFiles) {
    var codes: [(code: Text, count: Int)] = []
    for event in output.events {
      // A handful of codes: looking through them costs less than hashing each event's.
      if let index = codes.firstIndex(where: { $0.code == event.code }) {
        codes[index].count += 1
      } else {
        codes.append((event.code, 1))
      }
    }
    for (code, count) in codes { eventsByCode[ByteText(code.description), default: 0] += count }
    for warning in output.warnings { warnings[warning.kind, default: WarningTally()].add(warning) }
    late += output.late.map(\.position)
    checks += output.checks.count
    counts += output.counts
  }
}

extension RecordPosition {
  func precedes(_ other: RecordPosition) -> Bool {
    file != other.file ? file < other.file : line < other.line
  }
}

extension RuleCounts {
  static func += (total: inout RuleCounts, part: RuleCounts) {
    total.sessionsStarted += part.sessionsStarted
    total.sessionsEnded += part.sessionsEnded
    total.campaignsSet += part.campaignsSet
    total.campaignsExpired += part.campaignsExpired
    total.lateRecords += part.lateRecords
    total.waitingForUserId += part.waitingForUserId
    total.waitingForSamples += part.waitingForSamples
  }
}

/// The local part of a run in figures.
struct LocalResult {
  var ingest: IngestResult
  var tally = LocalTally()

  init(ingest: IngestResult) { self.ingest = ingest }

  mutating func add(_ part: LocalTally) {
    tally.eventsByCode.merge(part.eventsByCode, uniquingKeysWith: +)
    tally.chunks += part.chunks
    tally.checks += part.checks
    tally.counts += part.counts
    for (kind, warning) in part.warnings { tally.warnings[kind, default: LocalTally.WarningTally()].add(warning) }
    tally.late += part.late
    if !part.explanation.isEmpty { tally.explanation = part.explanation }
  }

  /// Late records that `Ingest.lateRecords` sets aside were accepted by the reader; here they move to the quarantine.
  ///
  /// A record does not carry its line along, so the lines are read once more.
  mutating func setAsideLate(_ files: InputFiles, longest: Int, _ sink: any LocalSink) throws {
    let late = Dictionary(grouping: tally.late, by: \.file)
    for (number, positions) in late.sorted(by: { $0.key < $1.key }) {
      let file = files.files[Int(number)]
      var left = Set(positions.map(\.line))
      var batch: [QuarantinedLine] = []
      func add(_ line: InputLine) throws {
        left.remove(line.number)
        batch.append(
          QuarantinedLine(
            file: file.path.description, line: line.number, offset: line.offset, reason: .lateRecord,
            detail: "older than what an earlier run processed of its device", raw: line.bytes, kind: file.kind))
        guard batch.count == 256 else { return }
        try sink.quarantine(batch)
        batch = []
      }
      do {
        try file.forEachLine(of: left.sorted(), longest: longest, add)
      } catch is IngestFailure {
        // The file went away since it was read: what follows keeps the places.
      }
      for line in left.sorted() { try add(InputLine(number: line, offset: 0, bytes: [])) }
      if !batch.isEmpty { try sink.quarantine(batch) }
    }
    let count = tally.late.count
    guard count > 0 else { return }
    ingest.counts.accepted -= count
    ingest.counts.quarantined += count
    ingest.counts.reasons[.lateRecord, default: 0] += count
  }
}
