import BatchFoundation
import BatchIngest
import BatchStore

/// The local part of a run in figures.
struct DecisionResult {
  var ingest: IngestResult
  var tally = DecisionTally()
  var late = LateRecords()
  /// Devices that were taken back and decided anew.
  var rewoundDevices = 0
  /// Their records that were decided again, late ones included.
  var rewoundRecords = 0
  /// Events of theirs that are new.
  var addedEvents = 0
  /// Devices with records whose names are almost the one to be explained.
  var nearDevices: Set<String> = []

  /// False where lines were read and nothing could be used: no record was decided, or none in the end (reference decisions 48).
  var isUsable = true

  init(ingest: IngestResult, isUsable: Bool = true) {
    self.ingest = ingest
    self.isUsable = isUsable
  }

  /// Lines and events that went to quarantine.
  var quarantined: Int { ingest.counts.quarantined + tally.quarantinedEvents }

  /// Late records that `Ingest.lateRecords` quarantines were accepted by the reader; here they move to the quarantine.
  ///
  /// A record does not carry its line along, so the lines are read once more.
  mutating func quarantineLate(
    _ records: [RecordPosition], _ files: InputFiles, _ options: IngestOptions, _ sink: any DecisionSink
  ) throws {
    // To find none, all of a part would be read again.
    guard !records.isEmpty else { return }
    // Lines like these may stand in other files, where they counted as duplicates of what is not taken.
    ingest.knownFiles = [:]
    var left = Set(records)
    var batch: [QuarantinedLine] = []
    func add(_ file: UInt32, _ line: InputLine) throws {
      left.remove(RecordPosition(file: file, line: line.number))
      let origin = files.files[Int(file)]
      batch.append(
        QuarantinedLine(
          file: origin.path.description, line: line.number, offset: line.offset, reason: .lateRecord,
          detail: "before what was decided of its device", raw: line.bytes, kind: origin.kind))
      guard batch.count == 256 else { return }
      try sink.quarantine(batch)
      batch = []
    }
    // Lines of a file that went away or was cut since it was read keep their places; those of the others keep all.
    for file in files.part == nil ? Array(Set(records.map(\.file))).sorted() : [0] {
      let wanted = files.part == nil ? left.filter { $0.file == file } : left
      do {
        try files.forEachLine(at: wanted, options, add)
      } catch is InputChanged {
        // As above.
      } catch is IngestFailure {
        // As above.
      }
    }
    for position in left.sorted(by: { $0.precedes($1) }) {
      try add(position.file, InputLine(number: position.line, offset: 0, bytes: []))
    }
    if !batch.isEmpty { try sink.quarantine(batch) }
    let count = records.count
    ingest.counts.accepted -= count
    ingest.counts.quarantined += count
    ingest.counts.reasons[.lateRecord, default: 0] += count
  }
}
