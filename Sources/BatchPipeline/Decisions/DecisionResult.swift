import BatchFoundation
import BatchIngest
import BatchStore

/// The figures from the local part of a run.
struct DecisionResult {
  var ingest: IngestResult
  var tally = DecisionTally()
  var late = LateRecords()
  var rewoundDevices = 0
  /// For rewound devices, the number of records processed again, including late ones.
  var rewoundRecords = 0
  /// The number of events that rewinds added.
  var addedEvents = 0
  /// The names of processed devices that nearly match the device to explain.
  var nearDevices: Set<String> = []

  /// False if lines were read but none is usable. Records quarantined as late are not usable (reference
  /// decisions 48).
  var isUsable = true

  /// The number of quarantined lines and events.
  var quarantined: Int { ingest.counts.quarantined + tally.quarantinedEvents }

  /// Quarantines late records that the reader had accepted, as `Ingest.lateRecords` requires.
  ///
  /// Records do not keep their lines, so the lines are read again.
  mutating func quarantineLate(
    _ records: [RecordPosition], _ files: InputFiles, _ options: IngestOptions, _ sink: StoreSink
  ) throws {
    // Otherwise, a whole part would be read again unnecessarily.
    guard !records.isEmpty else { return }
    // Any file may contain duplicates of the lines that are now quarantined, so no file counts as known.
    ingest.knownFiles = [:]
    var left = Set(records)
    var batch: [QuarantinedLine] = []
    func add(_ file: UInt32, _ line: InputLine) throws {
      left.remove(RecordPosition(file: file, line: line.number))
      let origin = files.files[Int(file)]
      batch.append(
        QuarantinedLine(
          file: origin.path.description, line: line.number, offset: line.offset, reason: .lateRecord,
          detail: "in a period already processed for its device", raw: line.bytes, kind: origin.kind))
      guard batch.count == 256 else { return }
      try sink.quarantine(batch)
      batch = []
    }
    // If a file was removed or truncated in the meantime, its lines are quarantined with only their places.
    for file in files.part == nil ? Array(Set(records.map(\.file))).sorted() : [0] {
      let wanted = files.part == nil ? left.filter { $0.file == file } : left
      do {
        try files.forEachLine(at: wanted, options, add)
      } catch is any InputFailure {
        // The remaining lines are added below.
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
