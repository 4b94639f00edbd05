import BatchFoundation
import BatchIngest
import BatchPlatform
import BatchStore

/// The local part of a run: records in, events kept and ready for upload.
///
/// Partitions of devices come from ``Ingest`` on several threads. They are decided by the platform's rules and handed to the sink in
/// batches of whole devices, so a kill loses nothing that was stored, and a repeated run finds what is there as duplicates.
struct DecisionStage: Sendable {
  struct Options: Sendable {
    var vocabulary: any RecordVocabulary
    var rules: any DecisionRules
    var asOf: Instant
    var ingest: IngestOptions
    var decider: DeciderOptions
    /// Inputs up to this many bytes are decided as one stretch, so that requests are full and in the order of time.
    var smallInput: UInt64 = 8 << 20
    /// Device whose rules are explained; nil for none.
    var explain: String?
    /// Asked when all lines are read and before any record is decided, where earlier runs decided some; throws to end the run.
    var admit: (@Sendable (BackwardShare) throws -> Void)?
  }

  var files: InputFiles
  var options: Options
  var sink: any DecisionSink

  /// - Throws: what reading, the rules' decoding of stored states or the sink throws.
  func run(progress: @escaping @Sendable (IngestProgress) throws -> Void) throws -> DecisionResult {
    var ingest = options.ingest
    let keepsAll = files.totalSize <= options.smallInput
    if keepsAll { ingest.workers = 1 }
    let workers = (0..<ingest.workers).map { _ in DecisionWorker(self, keepsAll: keepsAll) }
    let result = try Ingest(files, vocabulary: options.vocabulary, options: ingest).run(
      Ingest.Callbacks(
        partition: { try workers[$0.worker].decide($0) },
        known: { bucket, first, last in try sink.earlier.knownDigests(bucket: bucket, from: first, to: last) },
        quarantine: { lines in try sink.quarantine(lines) },
        progress: progress, preview: preview))
    let decided = workers.reduce(into: Set()) { $0.formUnion($1.buckets) }
    for bucket in 0..<DeviceHash.bucketCount where !decided.contains(bucket) { try workers[0].decideIdle(bucket) }
    for worker in workers { try worker.finish() }
    var total = DecisionResult(ingest: result)
    for worker in workers { total.tally += worker.takeTally() }
    total.nearDevices = workers.reduce(into: Set()) { $0.formUnion($1.nearDevices) }
    try total.quarantineLate(workers.flatMap(\.late), files, longest: options.ingest.maxLineBytes, sink)
    try sink.finish()
    return total
  }
}

extension DecisionStage {
  private var preview: (@Sendable (InputPreview) throws -> Void)? {
    guard let admit = options.admit, !sink.earlier.isEmpty else { return nil }
    return { try admit(BackwardShare($0, sink.earlier, options.rules)) }
  }
}

/// Where decided partitions go, and what earlier runs left: the store, or nothing but an event file in a dry run.
protocol DecisionSink: Sendable {
  var earlier: EarlierRuns { get }
  func quarantine(_ lines: [QuarantinedLine]) throws
  /// Keeps the batch as a whole or not at all, now or soon.
  func keep(_ batch: LocalBatch) throws
  /// Returns when everything that was handed over is kept.
  func finish() throws
}
