import BatchFoundation
import BatchIngest
import BatchReport
import BatchStore

/// The local part of a run, which turns records into stored events that are ready for upload.
///
/// ``Ingest`` delivers partitions of devices on several threads. The platform's rules process them, and the results go
/// to the sink in batches of whole devices, so a killed run loses nothing that was stored, and the next run recognizes
/// duplicates.
struct ProcessingStage: Sendable {
  struct Options: Sendable {
    var vocabulary: RecordVocabulary
    var rules: any PlatformRules
    var asOf: Instant
    var ingest: IngestOptions
    var decider: DeciderOptions
    /// The instant before which records are too late for a rewind; nil if there is no rewind.
    var reach: Instant?
    /// The parameters for rewinding devices for late records; nil if the run rewinds no device.
    var rewind: Rewind?
    /// The device that is explained; nil if there is none.
    var explain: String?
    /// Returns whether later runs count the line of a record as already read. If nil, they do so for every line.
    var remembers: (@Sendable (_ device: Text, _ timestamp: Instant) -> Bool)?
    /// Returns whether the input is usable; nil accepts any input. Called before any record is processed,
    /// when false ends the stage, and again after late records are quarantined.
    var isUsable: (@Sendable (IngestCounts) throws -> Bool)?
    /// Called before any record is processed, if earlier runs processed some; throws to end the run.
    var admit: (@Sendable (BackwardShare) throws -> Void)?
    /// The number of quarantined lines above which the run stops reading and fails; nil if there is no limit.
    var mostQuarantined: Int?
  }

  var files: InputFiles
  var options: Options
  var sink: StoreSink

  /// - Throws: errors from reading, from the rules when they decode stored states, and from the sink.
  func run(progress: @escaping @Sendable (IngestProgress) throws -> Void) throws -> ProcessingResult {
    let shared = Guarded<[ProcessingWorker]>([])
    let quarantined = Guarded(0)
    let result = try Ingest(files, vocabulary: options.vocabulary, options: options.ingest).run(
      Ingest.Callbacks(
        partition: { partition in try shared.withLock { $0[partition.worker] }.decide(partition) },
        known: { bucket, spans in
          guard let timelines = sink.earlier?.timelines else { return [] }
          return try LineDigest.merged(
            spans.flatMap { try timelines.knownDigests(bucket: bucket, from: $0.lowerBound, to: $0.upperBound) })
        },
        quarantine: { lines in
          try sink.quarantine(lines)
          guard let most = options.mostQuarantined else { return }
          let count = quarantined.withLock { count in
            count += lines.kept.count
            return count
          }
          if count > most { throw TooManyQuarantined(most: most) }
        },
        progress: progress,
        preview: { preview in
          guard try options.isUsable?(preview.counts) ?? true else { return false }
          try files.refuseShort(preview.recordsByFile)
          if let admit = options.admit, let earlier = sink.earlier {
            try admit(BackwardShare(preview, earlier.timelines, options.rules, reach: options.reach))
          }
          // One worker processes a small input as one stretch, so that requests are full and in time order.
          let workers = preview.isSmall ? 1 : options.ingest.workers
          shared.withLock { $0 = (0..<workers).map { _ in ProcessingWorker(self, keepsAll: preview.isSmall) } }
          return true
        },
        replaces: { worker, bucket, device, key, instant in
          try shared.withLock { $0[worker] }.replaces(bucket, device, key, instant)
        }))
    let workers = shared.withLock { $0 }
    guard !workers.isEmpty else {
      try sink.finish()
      return ProcessingResult(ingest: result, isUsable: false)
    }
    let processed = workers.reduce(into: Set()) { $0.formUnion($1.buckets) }
    for bucket in 0..<DeviceHash.bucketCount where !processed.contains(bucket) { try workers[0].decideIdle(bucket) }
    for worker in workers { try worker.finish() }
    var total = ProcessingResult(ingest: result)
    total.tally.warnings = result.warnings
    let late = workers.flatMap(\.quarantinedLate)
    try total.quarantineLate(late, files, options.ingest, sink)
    if !late.isEmpty { total.isUsable = try options.isUsable?(total.ingest.counts) ?? true }
    let counted = Guarded(total)
    // Pending batches are written while counts are added up.
    try Threads.run(2) { thread in
      if thread > 0 { return try sink.finish() }
      counted.withLock { total in
        for worker in workers {
          total.tally += worker.takeTally()
          total.nearDevices.formUnion(worker.nearDevices)
          total.late += worker.late
          total.rewoundDevices += worker.rewoundDevices
          total.rewoundRecords += worker.rewoundRecords
          total.addedEvents += worker.addedEvents
        }
      }
    }
    return counted.withLock { $0 }
  }
}

/// The error for a run that stopped reading because too many lines were quarantined.
struct TooManyQuarantined: RunError, Equatable, CustomStringConvertible {
  var most: Int
  /// The store with the quarantined lines; nil if the run keeps nothing.
  var store: String?

  var exit: RunExit { .inputRefused }
  var description: String {
    "error: more than \(most.counted("line")) quarantined (--max-quarantine), so reading stopped early (--stop-early); nothing was processed or sent"
      + (store.map { ". To list those found: \(ShellCommand("quarantine", "list", "--store", $0).text)" } ?? "")
  }
}

/// The figures from the local part of a run.
struct ProcessingResult {
  var ingest: IngestResult
  var tally = ProcessingTally()
  var late = LateRecordTally()
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
