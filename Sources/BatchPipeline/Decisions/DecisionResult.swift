import BatchFoundation
import BatchIngest
import BatchPlatform
import BatchStore

/// The local part of a run in figures.
struct DecisionResult {
  var ingest: IngestResult
  var tally = DecisionTally()
  /// Devices with records whose names are almost the one to be explained.
  var nearDevices: Set<String> = []

  init(ingest: IngestResult) { self.ingest = ingest }

  /// Lines and events that went to quarantine, where those of people who were forgotten do not stay.
  var quarantined: Int {
    ingest.counts.quarantined - ingest.counts.reasons[.forgotten, default: 0] + tally.quarantinedEvents
  }

  /// Late records that `Ingest.lateRecords` quarantines were accepted by the reader; here they move to the quarantine.
  ///
  /// A record does not carry its line along, so the lines are read once more.
  mutating func quarantineLate(
    _ records: [RecordPosition], _ files: InputFiles, longest: Int, _ sink: any DecisionSink
  ) throws {
    let late = Dictionary(grouping: records, by: \.file)
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
      } catch is InputChanged {
        // As below.
      } catch is IngestFailure {
        // The file went away since it was read: what follows keeps the places.
      }
      for line in left.sorted() { try add(InputLine(number: line, offset: 0, bytes: [])) }
      if !batch.isEmpty { try sink.quarantine(batch) }
    }
    let count = records.count
    guard count > 0 else { return }
    ingest.counts.accepted -= count
    ingest.counts.quarantined += count
    ingest.counts.reasons[.lateRecord, default: 0] += count
  }
}
